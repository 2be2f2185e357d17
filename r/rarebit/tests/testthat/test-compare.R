test_that("methods are compared on one scale", {
  labels <- c(rep(c("a", "b", "c"), c(20, 20, 19)), NA)
  found <- quiet(compare_methods(planted(), 3, labels = labels, methods = c("rfn", "pca", "nmf"),
                                 folds = 3, seeds = 2))
  expect_identical(found$method, c("rfn", "pca"))
  expect_true(all(found$auc > 0.7 & found$match > 0.3 & found$entry_error < 1))
  expect_match(attr(found, "summary"), "To mark the classes take")
  expect_match(attr(found, "summary"), "Left out: nmf: ")
  expect_null(quiet(compare_methods(planted(), 3, methods = "pca", folds = 2, seeds = 1))$auc)
  expect_error(compare_methods(planted(), methods = "rfm"), "no method")
  expect_error(compare_methods(planted(), labels = labels[1:3]), "60 samples")
})

test_that("a paper and this version are cited, and what is new is told", {
  cited <- citation("rarebit")
  expect_match(format(cited), "1502.06464", all = FALSE)
  expect_match(format(cited), as.character(packageVersion("rarebit")), fixed = TRUE, all = FALSE)
  expect_match(cited[[2]]$year, "^20[0-9]{2}$")
  expect_identical(news(package = "rarebit")$Version[1], as.character(packageVersion("rarebit")))
})

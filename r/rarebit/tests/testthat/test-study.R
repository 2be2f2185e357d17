test_that("what is planted is what is said", {
  made <- simulate_biclusters(60, 40, generator = "constant", seed = 3)
  expect_identical(dim(made$x), c(60L, 40L))
  expect_type(made$samples, "logical")
  for (k in seq_len(nrow(made$samples))) {
    inside <- made$x[made$samples[k, ], made$features[k, ]]
    expect_gt(abs(mean(inside)), 2 * abs(mean(made$x)))
  }
  expect_identical(simulate_biclusters(60, 40, generator = "constant", seed = 3), made)
  bars <- simulate_bars(30, size = 4, noise = 0, seed = 2)
  expect_equal(bars$x, bars$states %*% bars$fields)
  cells <- simulate_cells(30, 20, types = "0.5,0.5")
  expect_true(all(cells$x >= 0) && all(colSums(cells$samples) == 1))
  expect_identical(simulate_cells(30, 20, types = c(0.5, 0.5)), cells)
  expect_error(simulate_biclusters(dataset = "D12"), "D12")
  expect_error(simulate_bars(5, colour = 1), "colour")
})

test_that("data are checked, and a fit is suggested", {
  x <- planted()
  x[3, ] <- x[7, ]
  found <- quiet(check_data(x, k = 3))
  expect_identical(found$method, "rfn")
  expect_true("duplicate-samples" %in% found$findings$name)
  expect_identical(found$advice$value[found$advice$option == "units"], "3")
  expect_output(print(found), 'to begin with: rarebit(x, method = "rfn", k = 3', fixed = TRUE)
  none <- quiet(check_data(matrix(1, 20, 3)))
  expect_null(none$method)
  expect_identical(none$findings$severity[1], "problem")
  expect_output(print(none), "Solve the problems first")
})

test_that("units of two models are matched", {
  x <- simulate_biclusters(dataset = "D1", seed = 1)$x
  one <- fit(x, 8, seed = 1)
  found <- quiet(compare_models(one, fit(x, 8, seed = 2), permutations = 20))
  expect_identical(found$unit, as.double(1:8))
  expect_setequal(found$partner, 1:8)
  expect_true(all(found$partner_correlation > 0.9))
  expect_true(attr(found, "same_data") && !attr(found, "by_name"))
  expect_identical(attr(found, "found"), 8L)
  cohorts <- quiet(compare_cohorts(one, x[1:50, ], x[51:100, ], permutations = 20))
  expect_true(all(cohorts$active_a > 0.1 & cohorts$explained_b > 0))
  expect_gte(attr(cohorts, "found"), 7L)
  expect_error(compare_models(one, x), "not a model")
})

test_that("a fit comes out again", {
  one <- fit()
  found <- quiet(rerun(one))
  expect_true(all(found$same) && "loadings" %in% found$name)
  expect_setequal(found$of, c("arrays", "history"))
  expect_error(quiet(rerun(one, planted() + 1)), "data")
})

test_that("the number of units, and those that come back", {
  found <- quiet(select_units(planted(), c(2, 3, 4), restarts = 3, folds = 2,
                              centre = "none"))
  expect_identical(found$units, c(2, 3, 4))
  expect_identical(attr(found, "units"), 2L)
  expect_match(attr(found, "summary"), "2 units are stable")
  told <- 0
  model <- quiet(consensus(planted(), 4, restarts = 5, seed = 1, centre = "none",
                           callback = function(p) {
    told <<- told + 1
    TRUE
  }))
  expect_s3_class(model, "rarebit")
  expect_gt(told, 0)
  stability <- model_array(model, "stability")
  expect_true(length(stability) >= 2 && all(stability[1:2] > 0.9))
  expect_equal(ncol(quiet(predict(model, planted()))), length(stability))
})

test_that("parts of several machines are put together", {
  skip_if_not(has_files())
  ask <- function(...) quiet(select_units(planted(), c(2, 3), restarts = 2, folds = 2,
                                          iterations = 15, ...))
  files <- tempfile(c("one", "two", "all"))
  expect_null(ask(part = "1/2", checkpoint = files[1]))
  expect_null(ask(part = "2/2", checkpoint = files[2]))
  merged <- merge_results(files[1:2], files[3])
  expect_identical(merged[["found"]], merged[["count"]])
  expect_error(merge_results(character(), tempfile()), "names no files")
  expect_identical(ask(checkpoint = files[3]), ask())
})

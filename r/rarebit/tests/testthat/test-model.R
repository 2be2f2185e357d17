test_that("codes, fitted values and residuals belong together", {
  x <- planted()
  model <- fit(x)
  expect_identical(predict(model), predict(model, x))
  expect_identical(predict(model, x[7:9, ]), predict(model)[7:9, ])
  expect_equal(x - fitted(model), residuals(model), tolerance = 1e-12)
  expect_identical(predict(model, t(x), samples = "columns"), predict(model))
  expect_true(all(predict(model) >= 0))
  shuffled <- x[, 24:1]
  expect_equal(quiet(predict(model, shuffled)), predict(model), tolerance = 1e-5)
  expect_equal(residuals(model, shuffled), residuals(model), tolerance = 1e-4)
  expect_error(predict(model, unname(x[, 1:3])), "feature")
})

test_that("a selection of features is what fitted and residuals are about", {
  x <- planted()
  model <- fit(x, top_variance = 10)
  expect_identical(ncol(fitted(model)), 10L)
  expect_true(all(colnames(fitted(model)) %in% colnames(x)))
  expect_equal(residuals(model), x[, colnames(fitted(model))] - fitted(model))
  bare <- unname(x)
  again <- fit(bare, top_variance = 10)
  expect_equal(unname(residuals(model)), residuals(again))
})

test_that("saveRDS keeps a model, without its samples", {
  x <- planted()
  model <- fit(x)
  file <- tempfile()
  saveRDS(model, file)
  expect_lt(file.size(file), 20000)
  again <- readRDS(file)
  unlink(file)
  expect_identical(predict(again, x), predict(model))
  expect_identical(arrays(again), arrays(model))
  expect_identical(fit_history(again), fit_history(model))
  expect_error(predict(again), "give newdata")
  copy <- unserialize(serialize(model, NULL))
  expect_identical(coef(copy), coef(model))
})

test_that("damaged models are refused", {
  model <- fit()
  model$bytes[40:80] <- as.raw(255)
  broken <- unserialize(serialize(model, NULL))
  expect_error(coef(broken))
  broken$bytes <- raw()
  expect_error(coef(broken))
  expect_error(model_array(fit(), "nothing"), "it has loadings")
})

test_that("summary has the metrics of the library, print a line", {
  model <- fit()
  metrics <- quiet(evaluate(model))
  expect_identical(metrics[["samples"]], 60)
  expect_identical(quiet(summary(model))$metrics, metrics)
  expect_equal(metrics[["sparseness"]], mean(predict(model) == 0))
  expect_output(print(model), "^rfn: 3 units of 24 features; 0 dead; 200 iterations, objective")
  expect_output(print(quiet(summary(model))), "variance_explained")
})

test_that("modules have names, and count from 1", {
  model <- fit()
  found <- quiet(modules(model))
  table <- as.data.frame(found)
  expect_true(all(table$unit %in% 1:3))
  expect_true(all(found[[1]]$samples$name == paste0("s", found[[1]]$samples$index)))
  expect_true(all(found[[1]]$features$name == paste0("f", found[[1]]$features$index)))
  expect_output(print(found), "modules by rule")
  expect_lte(length(quiet(modules(model, best = 1))), 1)
  table <- as.data.frame(found)
  expect_true(all(table$role %in% c("module", "other side", "background")))
  called <- table$score[table$role != "background"]
  expect_identical(called, sort(called, decreasing = TRUE))
  expect_error(modules(model, rule = "wrong"), "rule")
  expect_identical(attr(modules(model, rule = "fabia"), "rule"), "fabia")
})

test_that("pictures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  model <- fit()
  expect_silent(plot(model))
  expect_silent(plot(model, "loadings"))
  expect_silent(plot(model, "codes"))
  expect_silent(plot(model, "history", col = 2, main = "mine", xlab = "x", ylab = "y", type = "p"))
  for (which in c("loadings", "codes"))
    expect_silent(plot(model, which, col = grey.colors(5), main = "mine", xlab = "x", ylab = "y",
                       zlim = c(-9, 9)))
})

test_that("arguments that nothing would use are refused", {
  model <- fit()
  for (method in list(predict, fitted, residuals, coef))
    expect_error(method(model, new_data = planted()), "unused argument new_data")
  expect_error(coef(model, 5), "unused argument without a name")
})

test_that("threads are one whole number", {
  model <- fit()
  for (threads in list(-1, 1.5, NA, "2", 1025, 1:2, NULL)) {
    expect_error(fit(threads = threads), "threads is one whole number from 0 to 1024")
    expect_error(predict(model, threads = threads), "threads is one whole number")
  }
  expect_error(modules(model, threads = -1), "threads is one whole number")
  expect_error(evaluate(model, threads = -1), "threads is one whole number")
})

test_that("samples are drawn from a model", {
  model <- fit()
  drawn <- simulate(model, 500, seed = 3)
  expect_equal(dim(drawn), c(500, ncol(planted())))
  expect_identical(drawn, simulate(model, 500, seed = 3))
  expect_lt(max(abs(colMeans(simulate(model, 20000)) - colMeans(planted()))), 0.5)
  expect_equal(unname(simulate(model, nrow(planted()), noise = 0, newdata = planted(), seed = NULL) * 0),
               unname(planted() * 0))
  expect_error(simulate(model, 0), "nsim must be a number of samples")
})

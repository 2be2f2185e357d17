test_that("codes, fitted values and residuals belong together", {
  x <- planted()
  model <- fit(x)
  expect_identical(predict(model), predict(model, x))
  expect_equal(predict(model, x[7:9, ]), predict(model)[7:9, ], tolerance = 1e-5)
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
  expect_output(print(model), "^rfn: 3 units of 24 features; 0 dead; [0-9]+ iterations, objective")
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
  expect_true(all(table$role %in% c("module", "other side", "spare", "background")))
  called <- table$score[table$role %in% c("module", "other side")]
  expect_identical(called, sort(called, decreasing = TRUE))
  expect_error(modules(model, rule = "wrong"), "rule")
  expect_identical(attr(modules(model, rule = "fabia"), "rule"), "fabia")
})

test_that("modules have the chances that noise makes them", {
  model <- fit()
  found <- quiet(modules(model, permutations = 19))
  chances <- found[[1]]$significance
  expect_named(chances, c("p", "p_family", "p_permuted", "fdr"))
  expect_true(all(unlist(chances) >= 1 / 20 & unlist(chances) <= 1))
  expect_match(attr(found, "tested"), "correlated normal ones")
  expect_identical(as.data.frame(found)$p_family[1], chances$p_family)
  expect_null(quiet(modules(model))[[1]]$significance)
  blocks <- rep(seq_len(30), each = 2)
  whole <- quiet(modules(model, permutations = 19, blocks = blocks))
  expect_match(attr(whole, "tested"), "blocks of samples permuted")
  expect_error(modules(model, blocks = blocks), "without permutations")
  expect_error(quiet(modules(model, permutations = 19, significant = 0.01)), "permutations = 99 or more")
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
  model <- fit(centre = "mean")
  drawn <- simulate(model, 500, seed = 3)
  expect_equal(dim(drawn), c(500, ncol(planted())))
  expect_identical(drawn, simulate(model, 500, seed = 3))
  expect_lt(max(abs(colMeans(simulate(model, 20000)) - colMeans(planted()))), 0.5)
  expect_equal(unname(simulate(model, nrow(planted()), noise = 0, newdata = planted(), seed = NULL) * 0),
               unname(planted() * 0))
  for (nsim in list(0, 2.5, Inf, NA, "a", 3e9)) expect_error(simulate(model, nsim), "nsim must be a number of samples")
  expect_error(simulate(model, 3, seed = "a"), "seed is one whole number")
  expect_error(model_array(model, 1:2), "name is one text")
})

test_that("a call is kept, and update makes it again", {
  x <- planted()
  model <- quiet(rfn(x, 3, seed = 2))
  expect_identical(model$call, quote(rfn(x = x, k = 3, seed = 2)))
  expect_identical(arrays(quiet(update(model, k = 2))), arrays(quiet(rfn(x, 2, seed = 2))))
  expect_identical(quiet(update(rarebit(x, 2, "pca"), k = 3))$method, "pca")
  expect_identical(ncol(coef(quiet(update(et(x, 2, iterations = 5), k = 4)))), 4L)
  # data are not kept by being in the call
  inline <- quiet(do.call(rfn, list(x, 3, seed = 2)))
  expect_lt(length(serialize(inline$call, NULL)), 5000)
})

test_that("a formula is refused in a sentence", {
  expect_error(rfn(~ ., data = as.data.frame(planted())), "a formula is not taken.*give the columns")
})

test_that("log likelihood and number of samples", {
  x <- planted()
  model <- fit(x, precision = "float64")
  expect_identical(nobs(model), 60L)
  loglik <- logLik(model)
  expect_equal(as.numeric(loglik), 60 * evaluate(model)[["log_likelihood"]])
  expect_identical(attr(loglik, "nobs"), 60L)
  expect_identical(attr(logLik(model, x[1:5, ]), "nobs"), 5L)
  file <- tempfile(fileext = ".rds")
  saveRDS(model, file)
  expect_identical(nobs(readRDS(file)), 60L)
  expect_error(logLik(quiet(rarebit(x, 3, "kmeans"))), "a model of kmeans has no likelihood")
})

test_that("messages count from 1", {
  x <- planted()
  x[3, 4] <- NA
  expect_error(fit(x), "sample 3 (s3), feature 4 (f4) is missing", fixed = TRUE)
  expect_error(fit(unname(x)), "sample 3, feature 4 (counted from 1) is missing", fixed = TRUE)
  y <- planted()
  expect_error(fit(y, regress = "batch", covariates = list(batch = c(NA, rep(c("a", "b"), 30))[1:60])),
               "sample 1 (s1)", fixed = TRUE)
})

test_that("a model is not applied to data that have few of its features", {
  x <- planted()
  model <- fit(x)
  few <- x
  colnames(few)[-(1:2)] <- paste0("other", 3:24)
  for (f in list(predict, fitted, evaluate, modules))
    expect_error(f(model, few), "only 2 of the model's 24 features are in the data by name")
  expect_warning(codes <- predict(model, few, min_shared = 0.05), "22 of the model's 24 features")
  expect_identical(dim(codes), c(60L, 3L))
  expect_error(predict(model, few), "only 2 of")
  expect_error(predict(model, few, min_shared = 2), "but must be 0 to 1")
})

test_that("the most probable states are given", {
  x <- simulate_bars(200, size = 4, noise = 0.2, seed = 1)$x
  model <- quiet(et(x, 8, seed = 1))
  states <- predict(model, type = "states")
  expect_identical(dim(states), c(200L, 8L))
  expect_true(all(states %in% 0:1))
  expect_gt(cor(as.vector(states), as.vector(predict(model))), 0.9)
  expect_true(all(is.finite(attr(states, "log_evidence"))))
  expect_error(predict(fit(), type = "states"), "state")
})

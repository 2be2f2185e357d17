test_that("samples are the rows of a matrix, or its columns", {
  x <- planted()
  a <- fit(x)
  b <- fit(t(x), samples = "columns")
  expect_identical(arrays(a), arrays(b))
  expect_identical(dim(coef(a)), c(24L, 3L))
  expect_identical(dimnames(coef(a)), list(colnames(x), c("RFN1", "RFN2", "RFN3")))
  expect_identical(predict(a), predict(b))
})

test_that("groups that were planted are found", {
  codes <- predict(fit())
  strongest <- max.col(codes)
  groups <- rep(1:3, each = 20)
  expect_equal(sum(apply(table(strongest, groups), 2, max)), 60)
})

test_that("sparse matrices give the bits of each other, by rows and by columns", {
  skip_if_not_installed("Matrix")
  x <- counts()
  s <- methods::as(x, "dgCMatrix")
  rows <- methods::as(s, "RsparseMatrix")
  a <- fit(s)
  expect_identical(arrays(a), arrays(fit(Matrix::t(s), samples = "columns")))
  expect_identical(arrays(a), arrays(fit(rows)))
  expect_identical(arrays(a), arrays(fit(Matrix::t(rows), samples = "columns")))
  expect_equal(coef(a), coef(fit(x)), tolerance = 1e-3)
  expect_identical(rownames(predict(a)), rownames(x))
})

test_that("totals are a number, or the median of those of the samples", {
  x <- counts()
  a <- fit(x, totals = "median", log1p = TRUE)
  expect_identical(arrays(a), arrays(fit(x, totals = median(rowSums(x)), log1p = TRUE)))
})

test_that("other kinds of the package Matrix stay sparse, or dense", {
  skip_if_not_installed("Matrix")
  x <- counts()
  s <- methods::as(x, "dgCMatrix")
  square <- methods::as(crossprod(x), "dgCMatrix")
  same <- function(other, as) {
    expect_identical(arrays(fit(other, 2, iterations = 5)), arrays(fit(as, 2, iterations = 5)))
    expect_identical(arrays(fit(Matrix::t(other), 2, iterations = 5, samples = "columns")),
                     arrays(fit(as, 2, iterations = 5)))
  }
  same(methods::as(s, "TsparseMatrix"), s)
  large <- Matrix::drop0(s > 2)
  same(large, methods::as((x > 2) + 0, "dgCMatrix"))
  same(methods::as(large, "nMatrix"), methods::as((x > 2) + 0, "dgCMatrix"))
  same(Matrix::forceSymmetric(square), square)
  same(Matrix::Diagonal(30), methods::as(diag(30), "dgCMatrix"))
  same(methods::as(x, "denseMatrix"), x)
})

test_that("a fit can leave out samples, of which there are codes nonetheless", {
  x <- counts()
  twice <- rbind(x, x[1:3, ], 1)
  a <- fit(twice, drop_samples = "duplicates,constant")
  expect_identical(coef(a), coef(fit(x)))
  expect_identical(nrow(predict(a)), nrow(twice))
})

test_that("integers, logicals and data frames are matrices", {
  x <- counts()
  i <- x
  storage.mode(i) <- "integer"
  expect_identical(arrays(fit(x)), arrays(fit(i)))
  expect_identical(arrays(fit(x)), arrays(fit(as.data.frame(x))))
  expect_s3_class(fit(x > 2), "rarebit")
  expect_error(fit(matrix("a", 3, 3)), "not a matrix of numbers")
  expect_error(fit(list(1)), "is a list; a matrix")
})

test_that("every method that the library knows can be fitted and used", {
  x <- counts()
  for (method in names(rarebit_methods())) {
    model <- quiet(rarebit(x, 3, method = method, iterations = if (method == "pca") NULL else 20))
    expect_identical(model$method, method)
    expect_identical(dim(predict(model)), c(60L, 3L))
    expect_identical(dim(quiet(fitted(model))), c(60L, 24L))
    expect_true(all(is.finite(predict(model))))
  }
})

test_that("et takes its models by name", {
  expect_identical(quiet(et(counts(), 3, iterations = 5))$method, "nmf-et")
  expect_identical(quiet(et(counts(), 3, model = "nmf_et", iterations = 5))$method, "nmf-et")
  expect_identical(quiet(et(counts(), 3, model = "mca", iterations = 5))$method, "mca")
  expect_identical(quiet(et(counts(), 3, model = "ssc", iterations = 5))$method, "ssc")
  expect_error(et(counts(), 3, model = "rfn"))
})

test_that("options are those of the table, with underscores or dots", {
  x <- planted()
  expect_identical(arrays(fit(x, prior_mean = -1)), arrays(fit(x, prior.mean = -1)))
  expect_false(identical(arrays(fit(x, eta = 0.1)), arrays(fit(x))))
  expect_identical(arrays(fit(x, prior_mean = rep(-1, 3))), arrays(fit(x, prior_mean = -1)))
  expect_identical(arrays(fit(x, estep = "newton", trace = TRUE))$loadings,
                   arrays(fit(x, estep = "newton"))$loadings)
  expect_error(fit(x, etaa = 1), "there is no option 'etaa'")
  expect_error(fit(x, n_components = 3), "there is no option 'n_components'; see ?rarebit_options", fixed = TRUE)
  expect_error(fit(x, eta = 7), "eta is '7', but must be a number above 0 and at most 1")
  expect_error(fit(x, eta_factor = 0.3), "eta_factor does nothing without eta_schedule = \"step\";")
  expect_error(fit(x, eta = c("a", "b")), "eta is 'a,b'")
  expect_error(do.call(rfn, stats::setNames(list(x, 3, 1), c("x", "k", strrep("a_b", 30)))), strrep("a_b", 30))
  expect_error(rfn(x, 3, eta = 0.1, eta = 0.2))
  expect_error(fit(x, prior_mean = -1, prior.mean = 0), "option prior_mean is given twice")
  expect_error(rarebit(x, 3, "rfn", 5), "given by name")
  expect_error(fit(x, 3, units = 4), "k and units")
  for (k in list(0, 1.5, "3", NA, 2:3))
    expect_error(fit(x, k), "k is one whole number above 0")
  expect_error(et(counts(), 3, method = "mca"), "use rarebit\\(x, method = \\)")
  expect_error(fit(x, 3, method = "mca"), "use rarebit\\(x, method = \\)")
  expect_error(rarebit(x, 3, method = "nothing"), "nothing")
  table <- rarebit_options("rfn")
  expect_true(all(c("units", "eta", "prior_mean", "max_time") %in% table$name))
  expect_false(anyNA(table$help))
})

test_that("bits do not depend on threads, and a seed gives the same ones", {
  x <- planted()
  expect_identical(arrays(fit(x, threads = 2)), arrays(fit(x)))
  expect_identical(arrays(fit(x, seed = 5)), arrays(fit(x, seed = 5)))
  expect_false(identical(arrays(fit(x, seed = 5)), arrays(fit(x))))
})

test_that("missing values are refused, or left to the model", {
  x <- planted()
  x[5, 7] <- NA
  expect_error(rfn(x, 3), "missing")
  model <- fit(x, missing = "model")
  expect_false(anyNA(fitted(model)))
})

test_that("a fit goes on from a model", {
  first <- fit(iterations = 60)
  second <- fit(start = first, iterations = 5)
  expect_identical(nrow(fit_history(second)), 5L)
  expect_gt(fit_history(second)$objective[1], fit_history(first)$objective[1])
})

test_that("a model learns from batches of samples, one after the other", {
  x <- planted()
  as_python <- function(x, ...) fit(x, prior_mean = 0, sparse_loadings = 0, ...)
  error <- function(model) evaluate(model, x)[["reconstruction_error"]]
  model <- first <- as_python(x[1:30 * 2, ], centre = "mean", iterations = 1)
  for (i in 1:60) for (half in 1:0)
    model <- as_python(x[1:30 * 2 - half, ], k = NULL, start = model, iterations = 1)
  expect_lt(error(model), 1.05 * error(as_python(x, centre = "mean")))
  expect_lt(error(model), 0.9 * error(first))
  expect_error(as_python(x[, 1:2], k = NULL, start = model), "features")
})

test_that("covariates are taken out", {
  x <- planted()
  batch <- rep(c("a", "b"), 30)
  x[batch == "b", ] <- x[batch == "b", ] + 5
  expect_error(fit(x, regress = "batch"), "batch")
  model <- fit(x, regress = "batch", covariates = list(batch = batch))
  expect_equal(dim(predict(model, x, covariates = data.frame(batch = batch))), c(60, 3))
})

test_that("what the library says becomes warnings and messages", {
  x <- planted()
  expect_message(suppressWarnings(rfn(x, 3, iterations = 60)), "iterations 51 to 100")
  expect_warning(predict(fit(x), x[, 1:3]), "21 of the model's 24 features")
})

test_that("the fit tells how it goes, and ends when the callback says so", {
  seen <- NULL
  model <- fit(callback = function(p) {
    seen <<- c(seen, p$iteration)
    p$iteration < 7
  })
  expect_identical(seen, as.numeric(1:7))
  expect_identical(nrow(fit_history(model)), 7L)
  expect_match(quiet(summary(model))$status, "stopped")
  expect_error(fit(callback = function(p) stop("mine")), "mine")
  expect_match(child("m <- rfn(matrix(sin(1:400), 40), 2, iterations = 3, verbose = TRUE)"),
               "iteration 3 of 3, objective", all = FALSE)
})

test_that("what is not a function is not called", {
  expect_error(fit(callback = 3), "callback is a function")
})

test_that("conditions and restarts of a callback reach the code around the fit", {
  x <- planted()
  told <- NULL
  withCallingHandlers(rfn(x, 3, iterations = 3, verbose = TRUE), message = function(m) {
    told <<- c(told, conditionMessage(m))
    invokeRestart("muffleMessage")
  }, warning = function(w) invokeRestart("muffleWarning"))
  expect_match(told, "iteration 3 of 3, objective", all = FALSE)
  expect_identical(withRestarts(fit(callback = function(p) invokeRestart("away", p$iteration)),
                                away = function(i) i), 1)
  outer <- fit(iterations = 4, callback = function(p)
    expect_identical(tryCatch(fit(callback = function(q) stop("inner")), error = conditionMessage), "inner"))
  expect_identical(arrays(outer), arrays(fit(iterations = 4)))
})

test_that("a device computes the same model", {
  x <- planted()
  there <- tryCatch(fit(x, device = "cl"), error = function(e) skip(conditionMessage(e)))
  expect_match(rarebit:::attribute_of(there, "device"), "^cl:")
  expect_equal(coef(there), coef(fit(x)), tolerance = 1e-4)
  expect_equal(predict(there, x, device = "cl"), predict(there, x), tolerance = 1e-4)
  expect_null(rarebit:::attribute_of(fit(x), "device"))
  expect_error(fit(x, device = "gpu"), "must be cl")
  expect_error(fit(x, device = "cl", noise = "full"), "noise = \"diagonal\"", fixed = TRUE)
})

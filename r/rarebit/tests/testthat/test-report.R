test_that("classes, sets and covariates are told", {
  made <- simulate_cells(90, 60, types = "0.5,0.3,0.2", de_probability = 0.4, de_scale = 1, seed = 2)
  x <- log1p(made$x)
  dimnames(x) <- list(paste0("s", 1:90), paste0("g", 1:60))
  types <- letters[apply(made$samples, 2, which)]
  types[4] <- NA
  sets <- apply(made$features, 1, function(inside) colnames(x)[inside])
  names(sets) <- letters[seq_along(sets)]
  model <- fit(x, 4, seed = 1, iterations = 30)
  told <- quiet(report(model, labels = types, sets = sets,
                       covariates = data.frame(order = 1:90, batch = rep(c("x", "y"), 45))))
  expect_setequal(told$best_units$class, c("a", "b", "c"))
  expect_true(all(told$best_units$auc > 0.9))
  expect_true(all(told$modules$unit %in% 1:4) && nrow(told$classes) == nrow(told$modules))
  expect_true(all(told$sets$set %in% names(sets)) && all(told$sets$module >= 1))
  expect_setequal(told$covariates$covariate, c("order", "batch"))
  expect_identical(told$metrics[["variance_explained"]], evaluate(model)[["variance_explained"]])
  expect_null(quiet(report(model))$classes)
  expect_error(report(model, labels = types[1:5]), "samples")
  expect_error(report(model, covariates = list(a = 1:90, b = 1:5)), "value a sample")
})

test_that("covariates and sets without names are refused", {
  x <- planted()
  model <- fit(x)
  batch <- rep(c("a", "b"), 30)
  unnamed <- "covariates need names: give a data frame or a named list"
  for (covariates in list("age", 1:60, list(batch), as.matrix(1:60), list(a = batch, batch),
                          stats::setNames(list(batch), NA))) {
    expect_error(quiet(report(model, covariates = covariates)), unnamed)
    expect_error(quiet(rfn(x, 3, regress = "batch", covariates = covariates)), unnamed)
    expect_error(predict(model, x, covariates = covariates), unnamed)
  }
  expect_null(quiet(report(model, covariates = list()))$covariates)
  for (sets in list(list(c("f1", "f2")), list(a = "f1", "f2")))
    expect_error(quiet(report(model, sets = sets)), "sets need names: give a named list")
  expect_error(quiet(report(model, title = 1:2)), "title is one text")
})

test_that("columns of colData that are not there are named", {
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(t(planted())), colData = S4Vectors::DataFrame(type = 1:60))
  model <- fit(se)
  expect_error(report(model, se, labels = "typ"), "colData has no column 'typ'")
  expect_error(report(model, se, covariates = c("type", "plate")), "colData has no column 'plate'")
})

test_that("a page is written", {
  model <- fit()
  path <- tempfile(fileext = ".html")
  if (has_files()) {
    quiet(report(model, page = path, title = "Planted"))
    page <- paste(readLines(path, warn = FALSE), collapse = "\n")
    expect_match(page, "\"title\":\"Planted\"", fixed = TRUE)
    expect_match(page, "\"name\":\"rfn\"|\"method\":\"rfn\"")
    sets <- tempfile(fileext = ".gmt")
    writeLines(paste(c("first", "-", paste0("f", 1:8)), collapse = "\t"), sets)
    expect_identical(unique(quiet(report(model, sets = sets))$sets$set), "first")
  } else {
    expect_error(report(model, page = path), "librarebit-io")
  }
})

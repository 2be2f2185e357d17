test_that("a SummarizedExperiment has samples in its columns", {
  skip_if_not_installed("SummarizedExperiment")
  x <- planted()
  se <- SummarizedExperiment::SummarizedExperiment(list(first = t(x), second = t(x) * 2))
  expect_identical(arrays(fit(se)), arrays(fit(x)))
  expect_identical(arrays(fit(se, assay = "second")), arrays(fit(2 * x)))
  expect_identical(predict(fit(se), se), predict(fit(x)))
})

test_that("a SingleCellExperiment gets a reduced dimension, and keeps the model there", {
  skip_if_not_installed("SingleCellExperiment")
  x <- planted()
  sce <- SingleCellExperiment::SingleCellExperiment(
    list(counts = t(counts()), logcounts = t(x)),
    colData = S4Vectors::DataFrame(batch = rep(c("a", "b"), 30)))
  made <- fit(sce)
  model <- fit(x)
  embedded <- SingleCellExperiment::reducedDim(made, "RFN")
  expect_s4_class(embedded, "LinearEmbeddingMatrix")
  expect_identical(as.matrix(SingleCellExperiment::sampleFactors(embedded)), predict(model))
  expect_identical(as.matrix(SingleCellExperiment::featureLoadings(embedded)), coef(model))
  expect_identical(arrays(embedded_model(made)), arrays(model))
  expect_identical(as.data.frame(quiet(modules(made))), as.data.frame(quiet(modules(model))))
  again <- unserialize(serialize(made, NULL))
  expect_identical(predict(embedded_model(again), again), predict(model))

  both <- quiet(rarebit(made, 3, method = "nmf", assay = "counts", name = "other", iterations = 5,
                        seed = 3))
  expect_identical(SingleCellExperiment::reducedDimNames(both), c("RFN", "other"))
  expect_identical(embedded_model(both)$method, "nmf")
  expect_identical(embedded_model(both, "RFN")$method, "rfn")
  expect_error(embedded_model(both, "nothing"))
  expect_error(embedded_model(sce), "rarebit made no reducedDim of x")
  expect_s3_class(quiet(modules(rarebit(sce, 3, method = "pca"))), "rarebit_modules")
  expect_s4_class(fit(sce, regress = "batch"), "SingleCellExperiment")
})

test_that("sparse assays are views", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  s <- methods::as(t(counts()), "dgCMatrix")
  sce <- SingleCellExperiment::SingleCellExperiment(list(counts = s))
  expect_identical(arrays(embedded_model(fit(sce))), arrays(fit(s, samples = "columns")))
})

test_that("a reduced dimension can be a plain matrix, as others make them", {
  skip_if_not_installed("SingleCellExperiment")
  x <- planted()
  sce <- fit(SingleCellExperiment::SingleCellExperiment(list(logcounts = t(x))), reduced = "matrix")
  codes <- SingleCellExperiment::reducedDim(sce, "RFN")
  expect_true(is.matrix(codes))
  expect_identical(codes[, ], predict(fit(x)))
  expect_identical(attr(codes, "rotation"), coef(fit(x)))
  expect_identical(predict(embedded_model(sce), sce), predict(fit(x)))
})

test_that("a fit takes some of the features", {
  x <- planted()
  some <- c(3, 9:12, 20)
  expect_identical(arrays(fit(x, 2, subset_row = some)), arrays(fit(x[, some], 2)))
  expect_identical(arrays(fit(t(x), 2, samples = "columns", subset_row = some)), arrays(fit(x[, some], 2)))
  expect_error(rfn("x.tsv", 2, subset_row = some), "data in memory")
  for (gone in list("nosuch", 25)) expect_error(fit(x, subset_row = gone), "subset_row has features that x does not have")
  for (ask in list(function(...) select_units(..., units = 2:3, restarts = 2, folds = 2, iterations = 5),
                   function(...) compare_methods(..., k = 2, methods = c("pca", "kmeans"), folds = 2)[1:2],
                   function(...) check_data(..., k = 2),
                   function(...) predict(consensus(..., k = 2, restarts = 2, iterations = 5))))
    expect_identical(quiet(ask(x, subset_row = some)), quiet(ask(x[, some])))
  skip_if_not_installed("SingleCellExperiment")
  sce <- SingleCellExperiment::SingleCellExperiment(list(logcounts = t(x)))
  made <- fit(sce, 2, subset_row = colnames(x)[some])
  expect_identical(arrays(embedded_model(made)), arrays(fit(x[, some], 2)))
  expect_identical(nrow(made), 24L)
  expect_identical(predict(embedded_model(made), made), predict(fit(x[, some], 2)))
})

test_that("a DelayedArray is read in blocks", {
  skip_if_not_installed("DelayedArray")
  x <- planted()
  late <- DelayedArray::DelayedArray(x) * 2
  said <- capture_messages(suppressWarnings(model <- rfn(late, 3, seed = 2, threads = 2)))
  expect_false(any(grepl("into memory", said)))
  expect_identical(arrays(model), arrays(fit(2 * x)))
  expect_identical(predict(model), predict(fit(2 * x)))
  expect_identical(arrays(fit(t(late), samples = "columns")), arrays(model))
  expect_identical(residuals(model), residuals(fit(2 * x)))
  ask <- function(x) quiet(select_units(x, c(2, 3), restarts = 2, folds = 2, iterations = 10, threads = 2))
  expect_identical(ask(late), ask(2 * x))
  here <- environment()
  setClass("Gone", representation(dim = "integer"), where = here)
  setMethod(DelayedArray::extract_array, "Gone", function(x, index) stop("the disk is gone"), where = here)
  gone <- DelayedArray::DelayedArray(new("Gone", dim = c(60L, 24L)))
  expect_error(quiet(rfn(gone, 3)), "x cannot be read: the disk is gone")
})

test_that("a BiocParallelParam says how many threads", {
  skip_if_not_installed("BiocParallel")
  model <- fit(threads = BiocParallel::MulticoreParam(2))
  expect_identical(arrays(model), arrays(fit()))
  expect_error(fit(BPPARAM = BiocParallel::MulticoreParam(2)), "threads = MulticoreParam(2)", fixed = TRUE)
  expect_identical(rarebit:::thread_count(BiocParallel::MulticoreParam(3)), 3L)
  expect_identical(rarebit:::thread_count(BiocParallel::SerialParam()), 1L)
})

test_that("assays of other kinds stay sparse, or say that they do not", {
  skip_if_not_installed("SummarizedExperiment")
  skip_if_not_installed("Matrix")
  s <- methods::as(t(counts()), "dgCMatrix")
  of <- function(values) SummarizedExperiment::SummarizedExperiment(list(counts = values))
  sparse <- arrays(fit(s, samples = "columns"))
  expect_identical(arrays(fit(of(methods::as(s, "TsparseMatrix")))), sparse)
  suppressMessages(expect_message(suppressWarnings(rfn(of(S4Vectors::DataFrame(as.matrix(s))), 3, iterations = 5)),
                 "it is read into memory"))
})

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
  expect_error(embedded_model(both, "nothing"))
  expect_s4_class(fit(sce, regress = "batch"), "SingleCellExperiment")
})

test_that("sparse assays are views", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  s <- methods::as(t(counts()), "dgCMatrix")
  sce <- SingleCellExperiment::SingleCellExperiment(list(counts = s))
  expect_identical(arrays(embedded_model(fit(sce))), arrays(fit(s, samples = "columns")))
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

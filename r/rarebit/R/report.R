# What a model says of data, as data frames, and as a page.

report <- function(model, newdata = NULL, ..., labels = NULL, sets = NULL, covariates = NULL,
                   blocks = NULL, page = NULL, title = NULL, samples = "rows", assay = NULL,
                   reading = list(), threads = default_threads(),
                   min_shared = default_min_shared()) {
  table <- if (is(newdata, "SummarizedExperiment")) SummarizedExperiment::colData(newdata)
  if (!is.null(table) && is.character(covariates)) covariates <- columns_of(table, covariates)
  data <- given_samples(model, newdata, samples, assay, reading, covariates, min_shared)
  one <- function(values) {
    if (!is.null(values)) list(class = as.character(labels_of(newdata, values)))
  }
  asks <- list(one(labels), if (!is.null(covariates)) lapply(as.list(covariates), function(v) {
    if (is.numeric(v)) as.double(v) else as.character(v)
  }), if (is.list(sets)) lapply(sets, as.character) else if (!is.null(sets)) path.expand(sets),
  one(blocks), if (!is.null(page)) path_of(page), title)
  found <- said(.Call(C_report, pointer_of(model), data$handle, make_options("report", list(...)),
                      asks, thread_count(threads)))
  if (is.null(found)) return(invisible(NULL))
  told <- lapply(Filter(Negate(is.null), found$tables), count_from_one, c("unit", "module"))
  c(told, list(metrics = found$metrics))
}

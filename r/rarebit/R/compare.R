# Which method: every one that takes the data, on one scale.

compare_methods <- function(x, k = NULL, ..., labels = NULL, samples = "rows", assay = NULL,
                            reading = list(), threads = default_threads(), subset_row = NULL) {
  asked <- list(...)
  options <- make_options("methods", c(units_of(k, asked), asked))
  data <- read_samples(x, samples, assay, reading, NULL, NULL, subset_row)
  found <- said(.Call(C_compare, data$handle, if (!is.null(labels)) as.character(labels), options,
                      thread_count(threads)))
  structure(data.frame(found$table), summary = found$summary)
}

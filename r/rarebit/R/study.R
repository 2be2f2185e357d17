# Questions that take many fits: how many units, which come back.

select_units <- function(x, units = "10:20:5", method = "rfn", ..., samples = "rows", assay = NULL,
                         reading = list(), covariates = NULL, threads = default_threads(),
                         callback = NULL, verbose = FALSE, subset_row = NULL) {
  asked <- list(...)
  options <- make_options(paste("select", gsub("[._]", "-", method)), c(list(units = units), asked))
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress, subset_row)
  found <- said(.Call(C_select, options, data$handle, thread_count(threads),
                      watcher(callback, verbose)))
  if (is.null(found)) return(invisible(NULL))
  structure(data.frame(found$table), units = if (found$units > 0) found$units, low = found$low,
            high = found$high, summary = found$summary)
}

consensus <- function(x, k = NULL, method = "rfn", restarts = 20, ..., samples = "rows",
                      assay = NULL, reading = list(), covariates = NULL,
                      threads = default_threads(), callback = NULL, verbose = FALSE,
                      subset_row = NULL) {
  asked <- list(...)
  options <- make_options(paste("consensus", gsub("[._]", "-", method)),
                          c(units_of(k, asked), list(restarts = restarts), asked))
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress, subset_row)
  watched(data, callback, verbose, function(each) {
    .Call(C_consensus, options, data$handle, thread_count(threads), each)
  })
}

merge_results <- function(parts, file) {
  need("io")
  if (!length(parts)) stop("parts names no files", call. = FALSE)
  invisible(unlist(said(.Call(C_merge, path.expand(as.character(parts)), path_of(file)))))
}

# A look at data before a fit.

check_data <- function(x, k = NULL, ..., samples = "rows", assay = NULL, reading = list(),
                       threads = default_threads(), subset_row = NULL) {
  asked <- list(...)
  data <- read_samples(x, samples, assay, reading, NULL, NULL, subset_row)
  found <- said(.Call(C_check, data$handle, make_options("check", c(units_of(k, asked), asked)),
                      thread_count(threads)))
  advice <- data.frame(found$advice)
  advice$option <- gsub("-", "_", advice$option, fixed = TRUE)
  structure(list(kind = found$kind, across = found$across, findings = data.frame(found$findings),
                 method = if (!is.na(found$method)) found$method, reason = found$reason,
                 advice = advice), class = "rarebit_check")
}

print.rarebit_check <- function(x, ...) {
  cat(strwrap(paste0(x$findings$severity, ": ", x$findings$sentence), exdent = 2), sep = "\n")
  if (is.null(x$method)) {
    cat("Solve the problems first; no fit is suggested before.\n")
  } else {
    given <- ifelse(grepl("^(-?[0-9.]+|true|false)$", x$advice$value), x$advice$value,
                    dQuote(x$advice$value, FALSE))
    given <- sub("^true$", "TRUE", sub("^false$", "FALSE", given))
    given <- sub("^units", "k", paste(x$advice$option, "=", given))
    cat("to begin with: rarebit(", paste(c("x", sprintf("method = \"%s\"", x$method), given),
                                        collapse = ", "), ")\n", sep = "")
  }
  invisible(x)
}

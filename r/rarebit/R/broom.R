# The verbs of broom, as data frames; their generics are those of the package generics.

# A row for each feature and unit.
tidy.rarebit <- function(x, matrix = c("loadings", "codes"), newdata = NULL, ...) {
  no_more(...)
  matrix <- match.arg(matrix)
  values <- if (matrix == "loadings") coef(x) else predict(x, newdata)
  rows <- if (is.null(rownames(values))) seq_len(nrow(values)) else rownames(values)
  units <- rep(seq_len(ncol(values)), each = nrow(values))
  long <- data.frame(row = rep(rows, ncol(values)), unit = units, value = as.vector(values))
  names(long)[1] <- if (matrix == "loadings") "feature" else "sample"
  names(long)[3] <- if (matrix == "loadings") "loading" else "code"
  long
}

# One row: the method, its size, how the fit ended, and its metrics where samples are there.
glance.rarebit <- function(x, newdata = NULL, ...) {
  info <- info_of(x)
  known <- summary(x, newdata, ...)$metrics
  row <- data.frame(method = x$method, units = info$units, features = info$features,
                    nobs = nobs(x), iterations = info$iterations, status = info$status)
  if (length(known)) cbind(row, as.list(known[setdiff(names(known), names(row))])) else row
}

# A data frame of the samples, with their codes beside them.
augment.rarebit <- function(x, data = NULL, newdata = NULL, ...) {
  no_more(...)
  of <- if (is.null(newdata)) data else newdata
  codes <- data.frame(predict(x, of), check.names = FALSE)
  names(codes) <- paste0(".", names(codes))
  if (is(of, "SummarizedExperiment")) of <- SummarizedExperiment::colData(of)
  if (is.null(of)) codes else cbind(as.data.frame(of), codes)
}

# The package generics has a verb of this name, and hides this package's where it is attached later.
evaluate.rarebit <- function(x, ...) evaluate(x, ...)

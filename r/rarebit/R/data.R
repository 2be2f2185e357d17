# Samples, as the library reads them: views of matrices, and files.

# What a call reads: the library's handle, the names of samples and features, how many samples.
samples_of <- function(handle, sample_names, feature_names, n)
  list(handle = handle, sample_names = sample_names, feature_names = feature_names, n = n)

dense_samples <- function(x, columns) {
  if (!is.numeric(x) && !is.logical(x)) stop("x is not a matrix of numbers", call. = FALSE)
  if (!is.double(x)) storage.mode(x) <- "double"
  samples <- if (columns) colnames(x) else rownames(x)
  features <- if (columns) rownames(x) else colnames(x)
  handle <- .Call(C_data, x, columns, samples, features)
  samples_of(handle, samples, features, if (columns) ncol(x) else nrow(x))
}

# Compressed columns, as they are, whether these are samples or features.
sparse_samples <- function(columns, p, i, x, dim, dimnames) {
  names <- if (columns) rev(dimnames) else dimnames
  handle <- .Call(C_data, list(p = p, i = i, x = x, dim = dim), columns, names[[1]], names[[2]])
  samples_of(handle, names[[1]], names[[2]], if (columns) dim[2] else dim[1])
}

setGeneric("as_samples", function(x, samples = "rows", ...) standardGeneric("as_samples"))

are_columns <- function(samples) match.arg(samples, c("rows", "columns")) == "columns"

setMethod("as_samples", "ANY", function(x, samples = "rows", ...)
  stop("x is a ", class(x)[1], "; a matrix, a dgCMatrix, a SummarizedExperiment or the name of a ",
       "file is wanted", call. = FALSE))

setMethod("as_samples", "matrix", function(x, samples = "rows", ...)
  dense_samples(x, are_columns(samples)))

setMethod("as_samples", "data.frame", function(x, samples = "rows", ...)
  dense_samples(as.matrix(x), are_columns(samples)))

setMethod("as_samples", "character", function(x, samples = "rows", reading = list(), ...) {
  path <- path_of(x)
  need("io")
  if (are_columns(samples)) reading$transpose <- TRUE
  handle <- said(.Call(C_open, path, make_options("read", reading)))
  info <- .Call(C_data_info, handle)
  samples_of(handle, info$sample_names, info$feature_names, info$samples)
})

path_of <- function(file) {
  if (!is.character(file) || length(file) != 1 || is.na(file) || !nzchar(file))
    stop("the name of one file is wanted", call. = FALSE)
  path.expand(file)
}

# Classes of other packages: their methods wait by name until the package is there.
suppressMessages({
  setMethod("as_samples", "dgCMatrix", function(x, samples = "rows", ...)
    sparse_samples(are_columns(samples), x@p, x@i, x@x, x@Dim, x@Dimnames))

  setMethod("as_samples", "dgRMatrix", function(x, samples = "rows", ...)
    sparse_samples(!are_columns(samples), x@p, x@j, x@x, rev(x@Dim), rev(x@Dimnames)))

  # Other kinds stay what they are, sparse or dense.
  setMethod("as_samples", "Matrix", function(x, samples = "rows", ...)
    as_samples(if (is(x, "sparseMatrix")) general_sparse(x) else as.matrix(x), samples = samples))

  # Read block by block, whatever they stand on: a file, or steps that wait.
  setMethod("as_samples", "DelayedMatrix", function(x, samples = "rows", ...)
    delayed_samples(x, are_columns(samples)))

  # Columns are samples there.
  setMethod("as_samples", "SummarizedExperiment", function(x, samples = "columns", assay = NULL, ...) {
    values <- assay_of(x, assay)
    as_samples(values, samples = "columns")
  })
})

delayed_samples <- function(x, columns) {
  read <- function(first, count) tryCatch({
    chosen <- seq.int(first, length.out = count)
    block <- DelayedArray::extract_array(x, if (columns) list(NULL, chosen) else list(chosen, NULL))
    storage.mode(block) <- "double"
    if (columns) block else t(block)
  }, error = function(e) stop("x cannot be read: ", conditionMessage(e), call. = FALSE))
  names <- if (columns) rev(dimnames(x)) else dimnames(x)
  dim <- if (columns) rev(dim(x)) else dim(x)
  samples_of(.Call(C_blocks, read, dim, names[[1]], names[[2]]), names[[1]], names[[2]], dim[1])
}

general_sparse <- function(x) as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")

# The assay that a fit takes unless one is named: logcounts where there are some, else the first.
assay_of <- function(x, assay) {
  there <- SummarizedExperiment::assayNames(x)
  if (is.null(assay)) assay <- if ("logcounts" %in% there) "logcounts" else 1L
  values <- SummarizedExperiment::assay(x, assay, withDimnames = TRUE)
  if (is.matrix(values) || is(values, "Matrix") || is(values, "DelayedMatrix")) return(values)
  message("the assay is a ", class(values)[1], ": it is read into memory, as a matrix")
  as.matrix(values)
}

# What is known of each sample, for the option regress.
bind_covariates <- function(data, covariates) {
  if (is.null(covariates)) return(data)
  columns <- lapply(as.list(covariates), function(v) {
    if (is.numeric(v)) as.double(v) else as.character(v)
  })
  .Call(C_covariates, data$handle, columns)
  data
}

# The covariates that `regress` names, from the columns' own table where none is given.
covariates_for <- function(x, covariates, regress) {
  if (!is.null(covariates) || is.null(regress) || !is(x, "SummarizedExperiment")) return(covariates)
  names <- sub(":(groups|numbers)$", "", unlist(strsplit(regress, ",", fixed = TRUE)))
  table <- SummarizedExperiment::colData(x)
  as.list(table)[intersect(names, colnames(table))]
}

# Columns of colData by name.
columns_of <- function(table, names) {
  gone <- setdiff(names, colnames(table))
  if (length(gone)) stop("colData has no column '", gone[1], "'", call. = FALSE)
  as.list(table)[names]
}

# The labels of samples, which may be a column of colData.
labels_of <- function(x, labels) {
  if (is(x, "SummarizedExperiment") && is.character(labels) && length(labels) == 1)
    columns_of(SummarizedExperiment::colData(x), labels)[[1]]
  else labels
}

# Some of the features: those are the rows of a SummarizedExperiment.
take_features <- function(x, samples, subset_row) {
  if (is.null(subset_row)) return(x)
  if (is.character(x) && is.null(dim(x)))
    stop("subset_row is for data in memory; write a file of these features", call. = FALSE)
  tryCatch(if (is(x, "SummarizedExperiment") || are_columns(samples)) x[subset_row, , drop = FALSE]
           else x[, subset_row, drop = FALSE],
           error = function(e) stop("subset_row has features that x does not have", call. = FALSE))
}

read_samples <- function(x, samples, assay, reading, covariates, regress = NULL, subset_row = NULL) {
  taken <- take_features(x, samples, subset_row)
  data <- as_samples(taken, samples = samples, assay = assay, reading = reading)
  bind_covariates(data, covariates_for(x, covariates, regress))
}

convert_data <- function(x, file, samples = "rows", assay = NULL, reading = list()) {
  need("io")
  data <- read_samples(x, samples, assay, reading, NULL)
  said(.Call(C_write, data$handle, path_of(file)))
  invisible(file)
}

# Stacks of layers, and nets that are trained on what is known of samples.

fit_stack <- function(x, k = c(32, 16), method = "rfn", ..., samples = "rows", assay = NULL,
                      reading = list(), covariates = NULL, threads = default_threads(),
                      callback = NULL, verbose = FALSE, subset_row = NULL) {
  need("nets")
  asked <- lapply(list(units = k, ...), function(v) if (length(v) > 1) by_commas(v) else v)
  options <- make_options(paste("stack", gsub("[._]", "-", method)), asked)
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress, subset_row)
  watched(data, callback, verbose, function(each) {
    .Call(C_stack, options, data$handle, thread_count(threads), each)
  })
}

# Classes (factors, texts, truth values) or numbers, beside samples.
labelled <- function(data, y, outputs) {
  if (is.numeric(y) || is.data.frame(y)) {
    values <- as.matrix(y)
    storage.mode(values) <- "double"
    if (nrow(values) != data$n) of_each(y, data$n)
    return(list(data$handle, NULL, NULL, t(values)))
  }
  if (is.list(y)) stop("classes are a factor or texts, one for each sample", call. = FALSE)
  classes <- as.factor(y)
  if (!is.null(outputs)) classes <- factor(classes, unique(c(outputs, levels(classes))))
  of_each(classes, data$n)
  list(data$handle, as.integer(classes), levels(classes), NULL)
}

finetune <- function(x, y, start = NULL, valid = NULL, ..., samples = "rows", assay = NULL,
                     reading = list(), covariates = NULL, threads = default_threads(),
                     callback = NULL, verbose = FALSE, subset_row = NULL, grid = NULL) {
  need("nets")
  asked <- list(...)
  if (is.null(asked$outputs)) asked$outputs <- if (is.numeric(y) || is.data.frame(y)) "linear" else "softmax"
  options <- make_options("finetune", asked)
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress, subset_row)
  train <- labelled(data, labels_of(x, y), NULL)
  unseen <- if (!is.null(valid))
    labelled(read_samples(valid[[1]], samples, assay, reading, NULL, NULL, subset_row),
             labels_of(valid[[1]], valid[[2]]), train[[3]])
  if (!is.null(grid)) {
    if (!is.null(callback) || verbose)
      stop("nets of a grid are trained side by side: leave callback and verbose out", call. = FALSE)
    found <- said(.Call(C_grid, options, grid_of(grid), if (!is.null(start)) pointer_of(start), train,
                        unseen, thread_count(threads)))
    net <- new_model(found$net, data)
    attr(net, "grid") <- data.frame(found$points)
    return(net)
  }
  watched(data, callback, verbose, function(each) {
    .Call(C_finetune, options, if (!is.null(start)) pointer_of(start), train, unseen,
          thread_count(threads), each)
  })
}

# list(rate = c(0.1, 0.01)) as the library reads it.
grid_of <- function(grid) {
  if (is.character(grid)) return(grid)
  if (!is.list(grid) || !is_named(grid))
    stop("grid is a list of values by name: list(rate = c(0.1, 0.01))", call. = FALSE)
  values <- vapply(grid, function(v) {
    texts <- vapply(v, format, "", digits = 15)
    paste(if (is.logical(v)) tolower(texts) else texts, collapse = ",")
  }, "")
  paste(paste0(gsub("[._]", "-", names(grid)), "=", values), collapse = " ")
}

scores_of <- function(net, data, labels, threads) {
  outputs <- .Call(C_outputs, pointer_of(net))
  if (is.null(outputs)) stop("a model of ", net$method, " predicts no labels: leave them out", call. = FALSE)
  found <- said(.Call(C_score, pointer_of(net), labelled(data, labels, NULL), threads))
  structure(unlist(found[seq_len(7)]), confusion = if (!is.null(found$confusion))
    with_names(found$confusion, as.vector(outputs), as.vector(outputs)))
}

# The class of largest probability; of classes that do not exclude each other each answer.
most_probable <- function(net, chances) {
  outputs <- if (net$method == "net") .Call(C_outputs, pointer_of(net))
  if (is.null(outputs) || attr(outputs, "kind") == "linear")
    stop("classes are predicted by nets of classes alone: leave type out", call. = FALSE)
  if (attr(outputs, "kind") == "logistic") return(with_names(chances > 0.5, NULL, as.vector(outputs)))
  factor(outputs[max.col(chances, ties.method = "first")], as.vector(outputs))
}

export_model <- function(model, file, filter = NULL, kernels = NULL, whitening = NULL) {
  lapply(c("nets", "io"), need)
  if (is.null(kernels)) {
    if (!is.null(whitening)) stop("whitening is folded into kernels: give both", call. = FALSE)
    said(.Call(C_export, pointer_of(model), filter, path_of(file)))
  } else {
    need("media")
    said(.Call(C_kernels, pointer_of(model), filter, paste(kernels, collapse = "x"),
               if (!is.null(whitening)) path_of(whitening), path_of(file)))
  }
  invisible(file)
}

import_net <- function(file, like) {
  lapply(c("nets", "io"), need)
  new_model(said(.Call(C_import, path_of(file), pointer_of(like))), NULL)
}

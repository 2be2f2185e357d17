# Stacks of layers, and nets that are trained on what is known of samples.

fit_stack <- function(x, k = c(32, 16), method = "rfn", ..., samples = "rows", assay = NULL,
                      reading = list(), covariates = NULL, threads = default_threads(),
                      callback = NULL, verbose = FALSE) {
  need("nets")
  asked <- lapply(list(units = k, ...), function(v) {
    if (is.logical(v)) v <- tolower(v)
    if (length(v) > 1) paste(v, collapse = ",") else v
  })
  options <- make_options(paste("stack", gsub("[._]", "-", method)), asked)
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress)
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
  classes <- as.factor(y)
  if (!is.null(outputs)) classes <- factor(classes, unique(c(outputs, levels(classes))))
  of_each(classes, data$n)
  list(data$handle, as.integer(classes), levels(classes), NULL)
}

finetune <- function(x, y, start = NULL, valid = NULL, ..., samples = "rows", assay = NULL,
                     reading = list(), covariates = NULL, threads = default_threads(),
                     callback = NULL, verbose = FALSE) {
  need("nets")
  asked <- list(...)
  if (is.null(asked$outputs)) asked$outputs <- if (is.numeric(y) || is.data.frame(y)) "linear" else "softmax"
  options <- make_options("finetune", asked)
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress)
  train <- labelled(data, column_of(x, y), NULL)
  unseen <- if (!is.null(valid))
    labelled(read_samples(valid[[1]], samples, assay, reading, NULL), column_of(valid[[1]], valid[[2]]),
             train[[3]])
  watched(data, callback, verbose, function(each) {
    .Call(C_finetune, options, if (!is.null(start)) pointer_of(start), train, unseen,
          thread_count(threads), each)
  })
}

# The class of largest probability; of classes that do not exclude each other each answer.
most_probable <- function(net, chances) {
  outputs <- if (net$method == "net") .Call(C_outputs, pointer_of(net))
  if (is.null(outputs) || attr(outputs, "kind") == "linear")
    stop("classes are predicted by nets of classes alone: leave type out", call. = FALSE)
  if (attr(outputs, "kind") == "logistic") return(with_names(chances > 0.5, NULL, as.vector(outputs)))
  factor(outputs[max.col(chances, ties.method = "first")], as.vector(outputs))
}

export_model <- function(model, file, filter = NULL) {
  lapply(c("nets", "io"), need)
  said(.Call(C_export, pointer_of(model), filter, path_of(file)))
  invisible(file)
}

import_net <- function(file, like) {
  lapply(c("nets", "io"), need)
  new_model(said(.Call(C_import, path_of(file), pointer_of(like))), NULL)
}

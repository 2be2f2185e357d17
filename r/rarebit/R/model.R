# Models: the library's own, and its bytes, from which it is made again after readRDS.

new_model <- function(pointer, data, bytes = .Call(C_model_bytes, pointer)) {
  state <- new.env(parent = emptyenv())
  state$pointer <- pointer
  if (!is.null(data)) .Call(C_keep, pointer, data)
  structure(list(method = .Call(C_model_info, pointer)$method, bytes = bytes, state = state),
            class = "rarebit")
}

pointer_of <- function(model) {
  if (!inherits(model, "rarebit")) stop("this is not a model of rarebit", call. = FALSE)
  if (!.Call(C_is_there, model$state$pointer))
    model$state$pointer <- .Call(C_model_of_bytes, model$bytes)
  model$state$pointer
}

info_of <- function(model) .Call(C_model_info, pointer_of(model))

unit_names <- function(model, info = info_of(model)) {
  if (info$units == 0) return(character())
  if (info$method == "net") return(as.vector(.Call(C_outputs, pointer_of(model))))
  paste0(code_name(info$method), seq_len(info$units))
}

with_names <- function(matrix, rows, columns) {
  if (!is.null(rows) || !is.null(columns)) dimnames(matrix) <- list(rows, columns)
  matrix
}

# The samples that a function is to look at: new ones, or those of the fit.
given_samples <- function(model, newdata, samples, assay, reading, covariates, min_shared) {
  .Call(C_set_min_shared, as.double(min_shared))
  if (!is.null(newdata)) {
    regress <- attribute_of(model, "regress")
    return(read_samples(newdata, samples, assay, reading, covariates, regress))
  }
  data <- .Call(C_kept, pointer_of(model))
  if (is.null(data))
    stop("the model does not have its samples, as after readRDS or load_model: give newdata",
         call. = FALSE)
  data
}

no_more <- function(...) {
  if (!...length()) return(invisible())
  given <- names(list(...))
  stop("unused argument ", if (is.null(given) || given[1] == "") "without a name" else given[1],
       call. = FALSE)
}

attribute_of <- function(model, name) {
  all <- .Call(C_model_attributes, pointer_of(model))
  if (name %in% names(all) && nzchar(all[[name]])) all[[name]]
}

predict.rarebit <- function(object, newdata = NULL, samples = "rows", assay = NULL,
                            reading = list(), covariates = NULL, threads = default_threads(),
                            min_shared = default_min_shared(), type = c("codes", "class", "states"),
                            device = NULL, ...) {
  no_more(...)
  type <- match.arg(type)
  data <- given_samples(object, newdata, samples, assay, reading, covariates, min_shared)
  if (type == "states" && !is.null(device))
    stop("states are found by the processor; leave out `device`", call. = FALSE)
  if (type == "states")
    return(with_names(said(.Call(C_states, pointer_of(object), data$handle, TRUE,
                                 thread_count(threads))), data$sample_names, unit_names(object)))
  if (!is.null(device)) {
    on.exit(.Call(C_device, NULL))
    .Call(C_device, device)
  }
  codes <- said(.Call(C_encode, pointer_of(object), data$handle, thread_count(threads)))
  if (type == "class") return(most_probable(object, codes))
  with_names(codes, data$sample_names, unit_names(object))
}

fitted.rarebit <- function(object, newdata = NULL, samples = "rows", assay = NULL,
                           reading = list(), covariates = NULL, threads = default_threads(),
                           min_shared = default_min_shared(), ...) {
  no_more(...)
  data <- given_samples(object, newdata, samples, assay, reading, covariates, min_shared)
  rows <- said(.Call(C_reconstruct, pointer_of(object), data$handle, thread_count(threads)))
  with_names(rows, data$sample_names, info_of(object)$feature_names)
}

residuals.rarebit <- function(object, newdata = NULL, samples = "rows", assay = NULL,
                              reading = list(), covariates = NULL, threads = default_threads(),
                              min_shared = default_min_shared(), ...) {
  no_more(...)
  data <- given_samples(object, newdata, samples, assay, reading, covariates, min_shared)
  rows <- said(.Call(C_reconstruct, pointer_of(object), data$handle, thread_count(threads)))
  there <- .Call(C_read, data$handle)
  columns <- columns_in_use(object, data, ncol(there))
  with_names(there[, columns, drop = FALSE] - rows, data$sample_names,
             info_of(object)$feature_names)
}

simulate.rarebit <- function(object, nsim = 1, seed = 1, noise = 1, newdata = NULL,
                             samples = "rows", assay = NULL, reading = list(), covariates = NULL,
                             threads = default_threads(),
                             min_shared = default_min_shared(), ...) {
  no_more(...)
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  if (!is_whole(nsim) || nsim < 1 || nsim > .Machine$integer.max)
    stop("nsim must be a number of samples, at least 1", call. = FALSE)
  if (!is_whole(seed)) stop("seed is one whole number, or NULL", call. = FALSE)
  data <- if (!is.null(newdata))
    given_samples(object, newdata, samples, assay, reading, covariates, min_shared)
  rows <- said(.Call(C_sample, pointer_of(object), data$handle, nsim, noise, seed,
                     thread_count(threads)))
  with_names(rows, NULL, info_of(object)$feature_names)
}

# Where the features of the model are in the samples: by name where both have names.
columns_in_use <- function(model, data, n) {
  info <- info_of(model)
  if (!is.null(info$feature_names) && !is.null(data$feature_names))
    return(match(info$feature_names, data$feature_names))
  if (n == info$features) seq_len(n) else info$feature_index
}

coef.rarebit <- function(object, ...) {
  no_more(...)
  info <- info_of(object)
  loadings <- .Call(C_model_array, pointer_of(object), "loadings")
  with_names(loadings, info$feature_names, unit_names(object, info))
}

model_array <- function(model, name = NULL) {
  pointer <- pointer_of(model)
  if (is.null(name)) return(.Call(C_model_array_names, pointer))
  array <- .Call(C_model_array, pointer, name)
  if (is.null(array))
    stop("the model has no array ", name, "; it has ",
         paste(.Call(C_model_array_names, pointer), collapse = ", "), call. = FALSE)
  if (ncol(array) == 1) as.vector(array) else array
}

fit_history <- function(model) {
  history <- .Call(C_model_history, pointer_of(model))
  data.frame(iteration = seq_len(nrow(history)), objective = history[, 1],
             estep_objective = history[, 2], seconds = history[, 3])
}

evaluate <- function(model, newdata = NULL, samples = "rows", assay = NULL, reading = list(),
                     covariates = NULL, threads = default_threads(),
                     min_shared = default_min_shared(), labels = NULL) {
  data <- given_samples(model, newdata, samples, assay, reading, covariates, min_shared)
  if (!is.null(labels)) return(scores_of(model, data, labels_of(newdata, labels), thread_count(threads)))
  said(.Call(C_evaluate, pointer_of(model), data$handle, thread_count(threads)))
}

nobs.rarebit <- function(object, ...) as.integer(attribute_of(object, "data_samples"))

# Of the fit's samples, or of new ones. How many parameters are free is not known, where most codes are
# 0: there is no AIC.
logLik.rarebit <- function(object, newdata = NULL, ...) {
  metrics <- evaluate(object, newdata, ...)
  if (!"log_likelihood" %in% names(metrics) || is.na(metrics[["log_likelihood"]]))
    stop("a model of ", object$method, " has no likelihood", call. = FALSE)
  structure(metrics[["log_likelihood"]] * metrics[["samples"]], class = "logLik",
            df = NA_integer_, nobs = as.integer(metrics[["samples"]]))
}

print.rarebit <- function(x, ...) {
  info <- info_of(x)
  dead <- if ("dead" %in% model_array(x)) sum(model_array(x, "dead")) else 0
  objective <- fit_history(x)$objective
  cat(info$method, ": ", info$units, " units of ", info$features, " features; ", dead, " dead; ",
      info$iterations, " iterations", if (length(objective)) sprintf(", objective %.6g",
      objective[length(objective)]), "\n", sep = "")
  invisible(x)
}

summary.rarebit <- function(object, newdata = NULL, ...) {
  kept <- !is.null(.Call(C_kept, pointer_of(object)))
  there <- !is.null(newdata) || !is.null(list(...)$labels) || (kept && object$method != "net")
  structure(list(model = object, status = info_of(object)$status,
                 metrics = if (there) evaluate(object, newdata, ...),
                 attributes = .Call(C_model_attributes, pointer_of(object))),
            class = "summary.rarebit")
}

print.summary.rarebit <- function(x, ...) {
  print(x$model)
  cat("status: ", x$status, ", seed ", x$attributes["seed"], ", ",
      info_of(x$model)$precision, "\n", sep = "")
  known <- x$metrics[!is.na(x$metrics)]
  if (length(known))
    cat(paste0(format(names(known)), "  ", format(known, digits = 6, justify = "left"),
               collapse = "\n"), "\n", sep = "")
  invisible(x)
}

save_model <- function(model, file) {
  path <- path_of(file)
  need("io")
  said(.Call(C_save, pointer_of(model), path))
  invisible(file)
}

load_model <- function(file) {
  path <- path_of(file)
  need("io")
  new_model(said(.Call(C_load, path)), NULL)
}


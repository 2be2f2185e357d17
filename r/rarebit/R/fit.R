# Fits: any method that the library knows, with its options by name.

setGeneric("rarebit", function(x, ...) {
  made <- standardGeneric("rarebit")
  with_call(made, match.call(function(x, k, method, ...) NULL, sys.call()))
})

# The call, for update(); data that stand in it as such would be kept with the model.
with_call <- function(made, call) {
  if (!inherits(made, "rarebit")) return(made)
  if (!is.language(call$x) && length(call$x) > 1) call$x <- quote(x)
  made$call <- call
  made
}

setMethod("rarebit", "formula", function(x, ...)
  stop("a formula is not taken, since there is nothing to predict: give the columns, as in ",
       "rfn(data[, c(\"a\", \"b\")], k = 2)", call. = FALSE))

setMethod("rarebit", "ANY", function(x, k = NULL, method = "rfn", ..., samples = "rows",
                                     assay = NULL, reading = list(), covariates = NULL,
                                     start = NULL, threads = default_threads(),
                                     callback = NULL, verbose = FALSE, subset_row = NULL,
                                     device = NULL) {
  asked <- list(...)
  method <- gsub("[._]", "-", method)
  options <- make_options(method, c(units_of(k, asked), asked))
  data <- read_samples(x, samples, assay, reading, covariates, asked$regress, subset_row)
  if (!is.null(device)) {
    on.exit(.Call(C_device, NULL))
    .Call(C_device, device)
  }
  watched(data, callback, verbose, function(each) {
    pointer <- .Call(C_fit, options, data$handle, if (!is.null(start)) pointer_of(start),
                     thread_count(threads), each)
    if (is.character(x)) .Call(C_set_attribute, pointer, "data_path", x)
    pointer
  })
})

# k is the option units.
units_of <- function(k, asked) {
  if (is.null(k)) return(NULL)
  if ("units" %in% names(asked)) stop("k and units are the same: give one", call. = FALSE)
  if (!is_whole(k) || k < 1) stop("k is one whole number above 0", call. = FALSE)
  list(units = k)
}

# The cells are the samples; the codes become a reduced dimension, which keeps the model.
suppressMessages(
  setMethod("rarebit", "SingleCellExperiment", function(x, k = NULL, method = "rfn", ...,
                                                        name = NULL, threads = default_threads(),
                                                        reduced = c("embedding", "matrix")) {
    reduced <- match.arg(reduced)
    model <- callNextMethod(x, k = k, method = method, ..., threads = threads)
    if (is.null(name)) name <- code_name(model$method)
    codes <- predict(model, threads = threads)
    loadings <- coef(model)
    # the model of the object keeps no samples: they are in it
    model <- new_model(.Call(C_model_of_bytes, model$bytes), NULL, model$bytes)
    SingleCellExperiment::reducedDim(x, name) <-
      if (reduced == "matrix") structure(codes, rotation = loadings, model = model)
      else SingleCellExperiment::LinearEmbeddingMatrix(
        sampleFactors = codes, featureLoadings = loadings,
        factorData = S4Vectors::DataFrame(row.names = colnames(codes)),
        metadata = list(model = model))
    x
  })
)

rfn <- function(x, k = NULL, ...) {
  no_method("rfn", ...)
  with_call(rarebit(x, k = k, method = "rfn", ...), match.call())
}

et <- function(x, k = NULL, model = c("nmf-et", "linca", "mca", "ssc"), ...) {
  no_method("et", ...)
  model <- match.arg(gsub("[._]", "-", model), eval(formals()$model), several.ok = TRUE)
  with_call(rarebit(x, k = k, method = model[1], ...), match.call())
}

no_method <- function(what, ...) {
  if ("method" %in% names(list(...)))
    stop(what, " has a method of its own: use rarebit(x, method = )", call. = FALSE)
}

code_name <- function(method) gsub("-", "_", toupper(method), fixed = TRUE)

# A model, from a call that is watched.
watched <- function(data, callback, verbose, call)
  new_model(said(call(watcher(callback, verbose))), data)

# What is called after each iteration, or NULL; FALSE ends the fit.
watcher <- function(callback, verbose) {
  if (is.null(callback) && !verbose) return(NULL)
  if (!is.null(callback) && !is.function(callback)) stop("callback is a function", call. = FALSE)
  told <- -Inf
  function(p) {
    if (verbose && (p$elapsed - told >= 1 || p$iteration == p$iterations)) {
      message(sprintf("iteration %.0f of %.0f, objective %.6g, %.0f s", p$iteration, p$iterations,
                      p$objective, p$elapsed))
      told <<- p$elapsed
    }
    is.null(callback) || !identical(callback(p), FALSE)
  }
}

embedded_model <- function(x, name = NULL) {
  names <- if (is.null(name)) rev(SingleCellExperiment::reducedDimNames(x)) else name
  for (one in names) {
    embedded <- SingleCellExperiment::reducedDim(x, one)
    model <- if (is(embedded, "LinearEmbeddingMatrix")) S4Vectors::metadata(embedded)$model
             else attr(embedded, "model")
    if (inherits(model, "rarebit")) return(model)
  }
  stop("rarebit made no reducedDim", if (is.null(name)) " of x" else paste0("(x, \"", name, "\")"),
       call. = FALSE)
}

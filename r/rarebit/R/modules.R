# Modules: per unit the samples and features that belong to it.

modules <- function(model, newdata = NULL, ..., blocks = NULL, samples = "rows", assay = NULL,
                    reading = list(), covariates = NULL, threads = default_threads(),
                    min_shared = default_min_shared()) {
  if (is(model, "SingleCellExperiment")) {
    newdata <- model
    model <- embedded_model(model)
  }
  if (!is.null(blocks) && is.null(list(...)$permutations))
    stop("blocks does nothing without permutations; give both, or neither", call. = FALSE)
  data <- given_samples(model, newdata, samples, assay, reading, covariates, min_shared)
  found <- said(.Call(C_modules, pointer_of(model), data$handle,
                      make_options("modules", list(...)),
                      if (!is.null(blocks)) as.character(blocks), thread_count(threads)))
  info <- info_of(model)
  structure(lapply(found$modules, name_members, info, data), rule = found$rule,
            tested = if (!is.na(found$tested)) found$tested, class = "rarebit_modules")
}

# Samples by row, features by column of the data, as the model has them.
name_members <- function(module, info, data) {
  module$samples <- data.frame(name = chosen(data$sample_names, module$samples$index),
                               index = module$samples$index, weight = module$samples$weight)
  at <- module$features$index
  module$features <- data.frame(name = chosen(info$feature_names, at),
                                index = info$feature_index[at], weight = module$features$weight)
  module
}

chosen <- function(names, index) if (is.null(names)) as.character(index) else names[index]

top_features <- function(features, sign, n) {
  names <- features$name[sign * features$weight > 0]
  paste(names[seq_len(min(n, length(names)))], collapse = " ")
}

as.data.frame.rarebit_modules <- function(x, row.names = NULL, optional = FALSE, top = 4, ...) {
  one <- function(f, kind) vapply(unclass(x), f, kind)
  chances <- if (!is.null(attr(x, "tested")))
    do.call(rbind, lapply(unclass(x), function(m) data.frame(m$significance)))
  frame <- data.frame(unit = one(function(m) m$unit, 1L), information = one(function(m) m$information, 1),
             score = one(function(m) m$score, 1), role = one(function(m) m$role, ""),
             samples = one(function(m) nrow(m$samples), 1L),
             features = one(function(m) nrow(m$features), 1L),
             up = one(function(m) top_features(m$features, 1, top), ""),
             down = one(function(m) top_features(m$features, -1, top), ""), row.names = row.names)
  if (is.null(chances)) frame else cbind(frame[seq_len(4)], chances, frame[-seq_len(4)])
}

print.rarebit_modules <- function(x, ...) {
  others <- sum(vapply(unclass(x), function(m) m$role %in% c("spare", "background"), NA))
  cat(length(x) - others, " modules", if (others) paste(" and", others, "spare or background"),
      " by rule ", attr(x, "rule"), "\n", sep = "")
  if (length(x)) print(as.data.frame(x), digits = 4, row.names = FALSE, right = FALSE)
  invisible(x)
}

# Pictures of a model, by R's own graphics: docs/howto/plots.md says how to read them.

plot.rarebit <- function(x, which = c("history", "loadings", "codes", "filters", "unit", "samples",
                                      "modules", "fields", "quality", "evidence"), newdata = NULL,
                         ..., unit = 1, shape = NULL, labels = NULL, count = 10) {
  which <- match.arg(which)
  data <- if (which %in% c("unit", "samples", "modules", "evidence"))
    given_samples(x, newdata, "rows", NULL, list(), NULL, default_min_shared())
  classes <- labels_of(newdata, labels)
  switch(which,
         history = plot_history(x, ...),
         loadings = heat_map(coef(x), "loadings", NULL, ...),
         codes = heat_map(predict(x, newdata), "codes", classes, ...),
         filters = plot_filters(x, shape, ...),
         unit = plot_unit(x, newdata, data, unit, classes, count, ...),
         samples = plot_samples(x, data, shape, count, ...),
         modules = plot_modules(x, newdata, data, classes, ...),
         fields = plot_fields(x, shape, ...),
         quality = plot_quality(x, ...),
         evidence = plot_evidence(x, newdata, data, labels, ...))
  invisible(x)
}

# What is asked for comes before the defaults.
draw <- function(how, defaults, ...) {
  asked <- list(...)
  do.call(how, c(defaults[setdiff(names(defaults), names(asked))], asked))
}

array_for <- function(model, name, what) {
  if (!name %in% model_array(model)) stop(what, call. = FALSE)
  .Call(C_model_array, pointer_of(model), name)
}

plot_history <- function(model, ...) {
  history <- fit_history(model)
  if (!nrow(history)) stop("the model has no history: nothing to draw", call. = FALSE)
  draw(plot, list(x = history$iteration, y = history$objective, type = "l", xlab = "iteration",
                  ylab = "objective", main = model$method), ...)
  start <- as.integer(attribute_of(model, "shrinks_from"))
  if (length(start) && start <= nrow(history)) {
    abline(v = start, col = "grey35")
    mtext("from here on loadings are shrunk", at = start, adj = if (start < nrow(history) / 2) 0 else 1,
          cex = 0.7)
  }
}

plot_quality <- function(model, ...) {
  shares <- array_for(model, "trace_quality", paste("the fit kept no quality of its truncation;",
                      "fit linca, nmf-et or mca with trace = TRUE and at most 20 units"))
  draw(matplot, list(x = seq_len(nrow(shares)), y = shares, type = "l", lty = 1, ylim = c(0, 1),
                     xlab = "iteration", ylab = "Q",
                     main = paste("quality of the truncation for", ncol(shares), "samples")), ...)
}

# Sorted; a line where the fit cut its data. labels: how many causes were active, say.
plot_evidence <- function(model, newdata, data, labels, ...) {
  values <- said(.Call(C_states, pointer_of(model), data$handle, FALSE, thread_count(default_threads())))
  order <- order(-values)
  groups <- of_each(labels_of(newdata, labels), length(values))
  palette <- palette_of(groups)
  draw(plot, list(x = seq_along(order), y = values[order], pch = 20, cex = 0.6, xlab = "sample",
                  ylab = "log evidence", col = class_colours(groups[order], palette)), ...)
  used <- said(evaluate(model, newdata))["samples_used"]
  if (!is.na(used) && used < length(values) && nobs(model) == length(values))
    abline(v = used + 0.5)
  if (length(palette)) legend("topright", names(palette), pch = 20, bty = "n", col = palette)
}

# ---- classes ----

of_each <- function(values, n) {
  if (!is.null(values) && length(values) != n)
    stop("there are ", length(values), " labels, but ", n, " samples", call. = FALSE)
  as.character(values)
}

# The colour of each class by its name, as of the tool's plots (rb_class_colour in src/plot/plot_draw.c):
# by its place among all in alphabetical order; they repeat, paler.
palette_of <- function(classes) {
  colours <- cbind(c(0, 0.42, 0.68), c(0.9, 0.6, 0.05), c(0, 0.58, 0.44), c(0.8, 0.33, 0.05),
                   c(0.42, 0.72, 0.9), c(0.78, 0.45, 0.64), c(0.5, 0.33, 0.64), c(0.93, 0.86, 0.3),
                   c(0.56, 0.38, 0.24), c(0.55, 0.75, 0.35))
  names <- sort(setdiff(as.character(classes), c(NA, "")), method = "radix")
  place <- seq_along(names) - 1
  pale <- rep(pmin(0.25 * place %/% 10, 0.75), each = 3)
  structure(rgb(t(colours[, place %% 10 + 1] * (1 - pale) + pale)), names = names)
}

# Of samples: without a class grey, without any classes blue.
class_colours <- function(classes, palette) {
  if (!length(palette)) return("#214d8c")
  colours <- palette[as.character(classes)]
  replace(colours, is.na(colours), "#b3b3b3")
}

# The samples of a class together, the most frequent class first; without classes as they are.
by_class <- function(samples, classes) {
  if (is.null(classes)) return(samples)
  of <- as.character(classes)[samples]
  samples[order(-table(of)[of], of, seq_along(samples))]
}

# ---- heat maps ----

# Rows stand by class, then by the unit that is strongest in them.
heat_map <- function(values, what, classes, ...) {
  of_each(classes, nrow(values))
  strongest <- max.col(abs(values), ties.method = "first")
  rows <- order(strongest, -abs(values[cbind(seq_along(strongest), strongest)]))
  rows <- by_class(rows, classes)
  limit <- max(abs(values), .Machine$double.xmin)
  draw(image, list(x = seq_len(ncol(values)), y = seq_along(rows),
                   z = t(values[rev(rows), , drop = FALSE]), zlim = c(-limit, limit),
                   col = hcl.colors(65, "Blue-Red 3"), xlab = "unit",
                   ylab = if (what == "codes") "samples" else "features", main = what), ...)
  if (is.null(classes)) return(invisible())
  runs <- rle(rev(as.character(classes)[rows]))
  ends <- cumsum(runs$lengths)
  abline(h = ends + 0.5)
  axis(4, ends - runs$lengths / 2 + 0.5, runs$values, tick = FALSE, cex.axis = 0.7)
}

# The data as the model sees them, features x samples, each feature at mean 0 and deviation 1.
view_of <- function(model, data, features)
  said(.Call(C_view, pointer_of(model), data$handle, as.integer(features)))

# A unit: its codes over the samples, below them its features of largest loading.
plot_unit <- function(model, newdata, data, unit, classes, count, ...) {
  loadings <- coef(model)
  if (!is_whole(unit) || unit < 1 || unit > ncol(loadings))
    stop("unit is one whole number from 1 to ", ncol(loadings), call. = FALSE)
  code <- predict(model, newdata)[, unit]
  classes <- of_each(classes, length(code))
  strongest <- order(-abs(loadings[, unit]))[seq_len(min(count, nrow(loadings)))]
  features <- strongest[loadings[strongest, unit] != 0]
  order <- by_class(order(-code), if (length(classes)) classes)
  colours <- class_colours(classes[order], palette_of(classes))
  strips <- rbind(code, view_of(model, data, features))
  known <- rownames(loadings)
  names <- c(paste("unit", unit), sprintf("%s  %.2g", if (is.null(known)) features else known[features],
                                          loadings[features, unit]))
  before <- par(mfrow = c(length(names), 1), mar = c(0.3, 9, 0.3, 1))
  on.exit(par(before))
  for (i in seq_along(names)) {
    draw(plot, list(x = seq_along(order), y = strips[i, order], pch = 20, cex = 0.5, col = colours,
                    axes = FALSE, ann = FALSE), ...)
    abline(h = 0, col = "grey80")
    mtext(names[i], 2, las = 1, cex = 0.6)
  }
}

# Who stands where: each member with the module in which it weighs most, against the root mean
# square there; of each module the heaviest.
at_home <- function(members, total, most) {
  home <- best <- numeric(total)
  for (rank in seq_along(members)) {
    m <- members[[rank]]
    strength <- abs(m$weight) / sqrt(mean(m$weight^2))
    wins <- strength > best[m$index]
    home[m$index[wins]] <- rank
    best[m$index[wins]] <- strength[wins]
  }
  lapply(seq_along(members), function(rank) {
    index <- members[[rank]]$index
    index[home[index] == rank][seq_len(min(most, sum(home[index] == rank)))]
  })
}

# Features x samples, in blocks along the diagonal.
plot_modules <- function(model, newdata, data, classes, ...) {
  of_each(classes, data$n)
  found <- Filter(function(m) m$role %in% c("module", "other side"), unclass(modules(model, newdata)))
  found <- found[seq_len(min(20, length(found)))]
  info <- info_of(model)
  features <- at_home(lapply(found, function(m) {
    data.frame(index = match(m$features$index, info$feature_index), weight = m$features$weight)
  }), info$features, max(4, min(12, 100 %/% length(found))))
  samples <- at_home(lapply(found, `[[`, "samples"), data$n, max(15, min(80, 600 %/% length(found))))
  shown <- which(lengths(features) > 0 & lengths(samples) > 0)
  if (!length(shown)) stop("there are no modules to draw", call. = FALSE)
  rows <- unlist(features[shown])
  columns <- unlist(lapply(samples[shown], by_class, classes))
  values <- view_of(model, data, rows)[, columns, drop = FALSE]
  n <- length(rows)
  draw(image, list(x = seq_along(columns), y = seq_len(n), z = t(pmax(pmin(values, 2.5), -2.5))[, n:1],
                   zlim = c(-2.5, 2.5), col = hcl.colors(65, "Blue-Red 3"), axes = FALSE, ylab = "",
                   xlab = paste(length(columns), "of", data$n, "samples")), ...)
  right <- cumsum(lengths(samples[shown]))
  below <- n - cumsum(lengths(features[shown]))
  top <- c(n, below[-length(below)])
  rect(c(0, right[-length(right)]) + 0.5, below + 0.5, right + 0.5, top + 0.5)
  axis(2, (below + top + 1) / 2, vapply(found[shown], function(m) paste("unit", m$unit), ""),
       las = 1, tick = FALSE, cex.axis = 0.7)
  if (!is.null(info$feature_names))
    axis(4, n:1, info$feature_names[rows], las = 1, tick = FALSE, cex.axis = 0.5)
  if (!is.null(classes))
    rect(seq_along(columns) - 0.5, 1.01 * n + 0.5, seq_along(columns) + 0.5, 1.03 * n + 0.5, xpd = NA,
         border = NA, col = class_colours(classes[columns], palette_of(classes)))
}

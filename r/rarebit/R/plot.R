# Pictures of a model.

plot.rarebit <- function(x, which = c("history", "loadings", "codes"), newdata = NULL, ...) {
  which <- match.arg(which)
  if (which == "history") {
    history <- fit_history(x)
    if (!nrow(history)) stop("the model has no history: nothing to draw", call. = FALSE)
    draw(plot, list(x = history$iteration, y = history$objective, type = "l", xlab = "iteration",
                    ylab = "objective", main = x$method), ...)
  } else {
    values <- if (which == "loadings") coef(x) else predict(x, newdata)
    heat_map(values, which, ...)
  }
  invisible(x)
}

# Rows are ordered by the unit that is strongest in them.
heat_map <- function(values, what, ...) {
  strongest <- max.col(abs(values), ties.method = "first")
  rows <- order(strongest, -abs(values[cbind(seq_along(strongest), strongest)]))
  limit <- max(abs(values), .Machine$double.xmin)
  draw(image, list(x = seq_len(ncol(values)), y = seq_along(rows),
                   z = t(values[rev(rows), , drop = FALSE]), zlim = c(-limit, limit),
                   col = hcl.colors(65, "Blue-Red 3"), xlab = "unit",
                   ylab = if (what == "codes") "samples" else "features", main = what), ...)
}

# What is asked for comes before the defaults.
draw <- function(how, defaults, ...) {
  asked <- list(...)
  do.call(how, c(defaults[setdiff(names(defaults), names(asked))], asked))
}

# Pictures of what is an image or a curve: loadings, fields over time, samples.

shape_for <- function(inputs, shape) {
  if (is.null(shape)) shape <- inputs
  if (prod(shape) != inputs || length(shape) > 3 || (length(shape) == 3 && shape[3] != 3))
    stop("shape ", paste(shape, collapse = " x "), " is not that of the ", inputs,
         " features of the model", call. = FALSE)
  shape
}

# Features in use among all features, features x images.
among_all <- function(info, columns) {
  wide <- matrix(0, info$inputs, ncol(columns))
  wide[info$feature_index, ] <- columns
  wide
}

# One image; rows first, channels together. Grey is 0 where some value is negative, else black.
draw_image <- function(values, shape, signed, largest, main, ...) {
  if (length(shape) == 1) {
    draw(plot, list(x = values, type = "l", axes = FALSE, ann = FALSE, col = "#214d8c"), ...)
    abline(h = 0, col = "grey80")
  } else {
    light <- if (signed) 0.5 + values / largest / 2 else values / largest
    cube <- aperm(array(pmin(pmax(light, 0), 1), rev(shape)))
    draw(plot, list(x = c(0, shape[2]), y = c(0, shape[1]), type = "n", axes = FALSE, ann = FALSE,
                    asp = 1), ...)
    rasterImage(cube, 0, 0, shape[2], shape[1], interpolate = FALSE)
  }
  mtext(main, 3, cex = 0.6)
}

# Each image on a scale of its own, unless one is given.
draw_images <- function(images, shape, names, across, largest = NULL, signed = any(images < 0), ...) {
  before <- par(mfrow = c(ceiling(ncol(images) / across), across), mar = c(0.2, 0.2, 1, 0.2))
  on.exit(par(before))
  for (i in seq_len(ncol(images))) {
    own <- if (is.null(largest)) max(abs(images[, i])) else largest
    draw_image(images[, i], shape, signed, if (own > 0) own else 1, names[i], ...)
  }
}

plot_filters <- function(model, shape, ...) {
  info <- info_of(model)
  images <- among_all(info, coef(model))
  draw_images(images, shape_for(info$inputs, shape), seq_len(ncol(images)),
              ceiling(sqrt(ncol(images))), ...)
}

# A row of images for each of some iterations; of a fit without a trace the final ones.
plot_fields <- function(model, shape, ...) {
  if (!"trace_fields" %in% model_array(model)) return(plot_filters(model, shape, ...))
  info <- info_of(model)
  at <- model_array(model, "trace_fields_at") + 1
  images <- among_all(info, model_array(model, "trace_fields"))
  first <- (seq_len(ncol(images)) - 1) %% info$units == 0
  names <- ifelse(first, paste("iteration", rep(at, each = info$units)), "")
  draw_images(images, shape_for(info$inputs, shape), names, info$units, ...)
}

# Data, what the model makes of them, and samples drawn from it: three rows on one scale.
plot_samples <- function(model, data, shape, count, ...) {
  info <- info_of(model)
  count <- min(count, data$n)
  part <- .Call(C_first, data$handle, as.integer(count))
  there <- .Call(C_read, part)
  if (ncol(there) != info$inputs) there <- t(among_all(info, t(there)))
  made <- said(.Call(C_reconstruct, pointer_of(model), part, 1L))
  drawn <- unname(simulate(model, count))
  images <- cbind(t(there), among_all(info, t(made)), among_all(info, t(drawn)))
  rows <- rep(c("data", "model", "samples"), each = count)
  draw_images(images, shape_for(info$inputs, shape), ifelse(duplicated(rows), "", rows), count,
              max(abs(there), na.rm = TRUE), any(there < 0, na.rm = TRUE), ...)
}

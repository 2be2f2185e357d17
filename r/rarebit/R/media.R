# Patches of images, segments of sounds, and images without their noise.

cut_patches <- function(images, size = "10x10", count = 40000, ..., seed = 1, whitening = NULL) {
  images <- as_files(images)
  on.exit(unlink(attr(images, "made")))
  options <- make_options("patches", list(size = paste(size, collapse = "x"), count = count, seed = seed, ...))
  .Call(C_read, said(.Call(C_patches, images, options,
                           if (!is.null(whitening)) path_of(whitening))))
}

cut_segments <- function(sounds, length = NULL, step = NULL, ...) {
  need("media")
  texts <- lapply(list(length = length, step = step), function(v) if (!is.null(v)) as.character(v))
  options <- make_options("segments", c(texts, list(...)))
  .Call(C_read, said(.Call(C_segments, path.expand(sounds), options)))
}

denoise <- function(model, image, size = "10x10", ..., file = NULL, threads = default_threads()) {
  image <- as_files(image)
  to <- if (is.null(file)) tempfile(fileext = ".npy") else path_of(file)
  on.exit(unlink(c(attr(image, "made"), if (is.null(file)) to)))
  options <- make_options("denoise", list(size = paste(size, collapse = "x"), ...))
  said(.Call(C_denoise, pointer_of(model), image, options, to, thread_count(threads)))
  if (is.null(file)) .Call(C_read, .Call(C_open, to, make_options("read", list()))) else invisible(file)
}

# The library reads images from files; a matrix is a grey one.
as_files <- function(images) {
  need("media")
  if (is.character(images)) return(path.expand(images))
  if (!is.matrix(images))
    stop("an image is a matrix of grey values, or the name of a file", call. = FALSE)
  file <- tempfile(fileext = ".npy")
  convert_data(unname(images), file)
  structure(file, made = file)
}

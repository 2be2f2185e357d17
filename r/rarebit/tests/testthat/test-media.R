skip_if_not(rarebit_info()$media)
image <- matrix(0, 40, 48)
image[seq(1, 40, 5), ] <- 1
image[, seq(1, 48, 7)] <- 1
noisy <- image + 0.3 * matrix(sin(seq_along(image)^2 * 12.9898), 40)

test_that("patches are pieces of an image", {
  found <- cut_patches(image, "3x4", 200, seed = 2)
  expect_identical(dim(found), c(200L, 12L))
  pieces <- apply(expand.grid(1:38, 1:45), 1, function(at)
    paste(t(image[at[1] + 0:2, at[2] + 0:3]), collapse = ""))
  expect_true(all(apply(found, 1, paste, collapse = "") %in% pieces))
  expect_identical(cut_patches(image, c(3, 4), 200, seed = 2), found)
  expect_error(cut_patches(image, "40x48", 2), "places|fewer")
  expect_error(cut_patches(list(1)), "a matrix of grey values")
})

test_that("noise goes, by a model of patches", {
  model <- quiet(rarebit(cut_patches(noisy, "7x7", 1000), 12, method = "pca"))
  clean <- denoise(model, noisy, "7x7")
  expect_identical(dim(clean), dim(image))
  expect_lt(mean((clean - image)^2), 0.5 * mean((noisy - image)^2))
  file <- tempfile(fileext = ".npy")
  on.exit(unlink(file))
  expect_identical(denoise(model, noisy, "7x7", file = file), file)
  expect_equal(quiet(evaluate(rarebit(file, 2, method = "pca"))), quiet(evaluate(rarebit(clean, 2, method = "pca"))),
               tolerance = 1e-5)
  expect_error(denoise(model, noisy, "6x7"), "6")
})

test_that("a layer is the kernels of a convolution", {
  skip_if_not(rarebit_info()$nets)
  files <- tempfile(c("whitening", "kernels"), fileext = ".npz")
  on.exit(unlink(files))
  model <- fit(cut_patches(noisy, "5x5", 400, whiten = "zca", whitening = files[1]), 4, iterations = 10, estep = "newton")
  export_model(model, files[2], kernels = "5x5x1", whitening = files[1])
  inside <- utils::unzip(files[2], list = TRUE)$Name
  expect_setequal(inside, c("kernels.npy", "bias.npy"))
  expect_error(export_model(model, files[2], kernels = "4x5x1"), "4")
  stack <- quiet(fit_stack(cut_patches(noisy, "5x5", 200), c(4, 2), iterations = 2))
  expect_error(quiet(export_model(stack, files[2], kernels = "5x5x1")), "one rectified layer")
})

test_that("segments are pieces of a sound", {
  values <- as.integer(round(3000 * sin(0:799 / 5)))
  file <- tempfile(fileext = ".wav")
  on.exit(unlink(file))
  to <- file(file, "wb")
  number <- function(x, size = 4) writeBin(as.integer(x), to, size = size, endian = "little")
  text <- function(x) writeBin(charToRaw(x), to)
  text("RIFF"); number(36 + 1600); text("WAVEfmt "); number(16); number(c(1, 1), 2); number(c(8000, 16000))
  number(c(2, 16), 2); text("data"); number(1600); number(values, 2)
  close(to)
  found <- cut_segments(file, 100, step = 50)
  expect_identical(dim(found), c(15L, 100L))
  expect_equal(found[3, ], values[101:200] / 32768, tolerance = 1e-6)
  expect_identical(dim(cut_segments(c(file, file), 100, step = 50)), c(30L, 100L))
})

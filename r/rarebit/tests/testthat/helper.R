# Three planted groups in noise: 60 samples x 24 features.
planted <- function() {
  noise <- (sin(seq_len(60 * 24) * 12.9898) * 43758.5453) %% 1
  x <- matrix(noise - 0.5, 60)
  for (g in 1:3) {
    rows <- (g - 1) * 20 + 1:20
    columns <- (g - 1) * 8 + 1:8
    x[rows, columns] <- x[rows, columns] + 2
  }
  dimnames(x) <- list(paste0("s", 1:60), paste0("f", 1:24))
  x
}

counts <- function() {
  x <- round(pmax(planted(), 0) * 4)
  storage.mode(x) <- "double"
  x
}

quiet <- function(code) suppressWarnings(suppressMessages(code))

fit <- function(x = planted(), k = 3, seed = 2, ...) quiet(rfn(x, k, seed = seed, ...))

cells <- function() system.file("extdata", "cells.tsv.gz", package = "rarebit")

has_files <- function() isTRUE(rarebit_info()$files)

# Runs code in an R of its own, with this package; gives its output.
child <- function(code, environment = character()) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c(sprintf(".libPaths(%s)", deparse1(.libPaths())), "library(rarebit)", code), file)
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file), stdout = TRUE,
                           stderr = TRUE, env = environment))
}

# All arrays of a model.
arrays <- function(model) {
  names <- model_array(model)
  stats::setNames(lapply(names, function(n) model_array(model, n)), names)
}

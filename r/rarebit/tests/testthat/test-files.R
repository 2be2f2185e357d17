if (!has_files()) test_that("without librarebit-io files are refused in a sentence", {
  expect_error(save_model(fit(), tempfile()), "without librarebit-io")
  expect_error(load_model(tempfile()), "without librarebit-io")
  expect_error(rfn("x.tsv", 2), "without librarebit-io")
  expect_error(rarebit_options("read"), "without librarebit-io")
})

test_that("the name of a file is one text", {
  model <- fit()
  for (name in list(5, c("a", "b"), NA_character_, "", NULL)) {
    expect_error(save_model(model, name), "the name of one file is wanted")
    expect_error(load_model(name), "the name of one file is wanted")
  }
  expect_error(rfn(c("a", "b"), 2), "the name of one file is wanted")
  expect_error(rfn(NA_character_, 2), "the name of one file is wanted")
})

test_that("a table from a file gives the bits of the same table in memory", {
  skip_if_not(has_files())
  x <- as.matrix(read.delim(gzfile(cells()), row.names = 1, check.names = FALSE))
  a <- quiet(rfn(cells(), 11, seed = 1, iterations = 20))
  b <- quiet(rfn(x, 11, seed = 1, iterations = 20))
  expect_identical(arrays(a), arrays(b))
  expect_identical(predict(a), predict(b))
  origin <- function(m) summary(m)$attributes[c("data_checksum", "data_samples", "data_type")]
  expect_identical(quiet(origin(a)), quiet(origin(b)))
  expect_identical(quiet(summary(a))$attributes[["data_path"]], cells())
  expect_error(rfn("nowhere.tsv", 3), "there is no such file")
  expect_error(rfn(cells(), 3, reading = list(nothing = 1)), "nothing")
})

test_that("checkpoints need librarebit-io", {
  if (has_files()) {
    expect_s3_class(fit(iterations = 3, checkpoint = tempfile()), "rarebit")
  } else {
    expect_error(fit(checkpoint = "z"), "built without librarebit-io")
    expect_error(select_units(planted(), 2:3, part = "1/2"), "built without librarebit-io")
  }
})

test_that("files are read with options of reading", {
  skip_if_not(has_files())
  x <- planted()
  file <- tempfile(fileext = ".tsv")
  on.exit(unlink(file))
  write.table(format(x, digits = 17), file, sep = "\t", quote = FALSE, col.names = FALSE,
              row.names = FALSE)
  columns <- quiet(rfn(file, 3, samples = "columns", iterations = 5))
  expect_identical(nrow(coef(columns)), 60L)
  same <- quiet(rfn(file, 3, reading = list(transpose = TRUE), iterations = 5))
  expect_identical(arrays(columns), arrays(same))
})

test_that("model files keep models", {
  skip_if_not(has_files())
  x <- planted()
  model <- fit(x)
  file <- tempfile(fileext = ".h5")
  on.exit(unlink(file))
  save_model(model, file)
  again <- load_model(file)
  expect_identical(arrays(again), arrays(model))
  expect_identical(predict(again, x), predict(model))
  writeLines("no model", file)
  expect_error(load_model(file), "not an HDF5 file")
  expect_error(save_model(model, "/nowhere/m.h5"), "/nowhere")
})

test_that("the tool and R have the same bits and the same model files", {
  tool <- Sys.getenv("RAREBIT")
  skip_if(tool == "" || !has_files())
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  run <- function(...) {
    # the tool would start itself again with other kernels of the BLAS than R has
    status <- system2(tool, c(...), stdout = FALSE, stderr = file.path(folder, "err"),
                      env = "RAREBIT_BLAS_CORE=''")
    if (status) stop(readLines(file.path(folder, "err")))
  }
  by_tool <- file.path(folder, "tool.h5")
  by_r <- file.path(folder, "r.h5")
  codes <- file.path(folder, "codes.tsv")
  for (method in c("rfn", "mca", "fabia")) {
    run("fit", method, cells(), "-k", "5", "--seed", "1", "--iterations", "20", "-o", by_tool)
    mine <- quiet(rarebit(cells(), 5, method = method, seed = 1, iterations = 20))
    theirs <- load_model(by_tool)
    expect_identical(arrays(mine), arrays(theirs))
    expect_identical(predict(theirs, cells()), predict(mine))
    save_model(mine, by_r)
    run("encode", by_r, cells(), "-o", codes)
    expect_equal(as.matrix(read.delim(codes, row.names = 1)), predict(mine), tolerance = 1e-7,
                 ignore_attr = TRUE)
    run("info", by_r)
    run("fit", method, cells(), "--init", by_r, "-k", "5", "--iterations", "2", "-o", by_tool)
  }
})

test_that("a model file of a C program is the same", {
  program <- Sys.getenv("RAREBIT_C_FIT")
  skip_if(program == "" || !has_files())
  file <- tempfile(fileext = ".h5")
  on.exit(unlink(file))
  expect_identical(system2(program, c(cells(), file), stdout = FALSE), 0L)
  mine <- quiet(rfn(cells(), 5, seed = 1, iterations = 20))
  theirs <- load_model(file)
  expect_identical(arrays(mine), arrays(theirs))
  expect_identical(fit_history(mine)$objective, fit_history(theirs)$objective)
})

test_that("Python and R have the same bits and the same model files", {
  python <- Sys.getenv("RAREBIT_PYTHON")
  skip_if(python == "" || !has_files())
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  in_folder <- function(name) file.path(folder, name)
  code <- c("import numpy, rarebit, sys",
            "cells, folder = sys.argv[1:]",
            "rfn = rarebit.RFN(5, iterations=20, random_state=1).fit(cells)",
            "rfn.save(folder + '/python.h5')",
            "theirs = rarebit.load(folder + '/r.h5')",
            "assert (theirs.components_ == rfn.components_).all()",
            "assert (theirs.transform(cells) == rfn.transform(cells)).all()",
            "theirs.save(folder + '/back.h5')")
  writeLines(code, in_folder("code.py"))
  mine <- quiet(rfn(cells(), 5, seed = 1, iterations = 20))
  save_model(mine, in_folder("r.h5"))
  said <- suppressWarnings(system2(python, c("-B", in_folder("code.py"), cells(), folder),
                                   stdout = TRUE, stderr = TRUE))
  expect_null(attr(said, "status"), info = paste(said, collapse = "\n"))
  for (name in c("python.h5", "back.h5")) {
    theirs <- load_model(in_folder(name))
    expect_identical(arrays(theirs), arrays(mine))
    expect_identical(fit_history(theirs)$objective, fit_history(mine)$objective)
  }
})

test_that("data and layers are written for others", {
  skip_if_not(has_files())
  path <- tempfile(fileext = ".tsv")
  expect_identical(convert_data(planted(), path), path)
  back <- as.matrix(utils::read.table(path, sep = "\t", header = TRUE, row.names = 1))
  expect_equal(back, planted(), tolerance = 1e-7)
  expect_error(convert_data(planted(), tempfile(fileext = ".doc")), "suffix|must end")
  layers <- tempfile(fileext = ".npz")
  quiet(export_model(fit(), layers, filter = "plain"))
  expect_true("weights1.npy" %in% utils::unzip(layers, list = TRUE)$Name)
  expect_error(export_model(quiet(rarebit(planted(), 2, method = "pca")), layers), "layers")
})

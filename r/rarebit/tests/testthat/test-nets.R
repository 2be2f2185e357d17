skip_if_not(rarebit_info()$nets)
groups <- factor(rep(c("one", "two", "three"), each = 20), c("one", "two", "three"))

test_that("a stack is layers on layers", {
  x <- planted()
  stack <- quiet(fit_stack(x, c(6, 3), iterations = c(30, 20), seed = 2))
  expect_identical(stack$method, "stack")
  expect_identical(dim(predict(stack)), c(60L, 3L))
  expect_identical(model_array(stack, "layer1.loadings"), unname(coef(fit(x, 6, iterations = 30))))
  expect_identical(dim(coef(stack)), c(24L, 3L))
  expect_identical(nrow(fit_history(stack)), 20L)
  expect_error(fit_stack(x, c(6, 3), iterations = c(1, 2, 3)), "iterations|units")
  told <- 0
  quiet(fit_stack(x, c(3, 2), iterations = 2, callback = function(p) told <<- told + 1))
  expect_identical(told, 4)
})

test_that("a net is trained on classes, from the layers of a model", {
  x <- planted()
  net <- quiet(finetune(x, groups, start = fit(x, 6), epochs = 30, seed = 1, valid = list(x, rev(rev(groups)))))
  expect_identical(colnames(predict(net)), levels(groups))
  expect_equal(unname(rowSums(predict(net))), rep(1, 60), tolerance = 1e-6)
  expect_gt(mean(predict(net, x, type = "class") == groups), 0.9)
  expect_identical(levels(predict(net, type = "class")), levels(groups))
  some <- replace(as.character(groups), 5:9, NA)
  expect_identical(quiet(predict(finetune(x, some, layers = 4, epochs = 2, seed = 1), x[5:9, ])),
                   quiet(predict(finetune(x, factor(some), layers = 4, epochs = 2, seed = 1), x[5:9, ])))
  expect_error(predict(fit(), type = "class"), "nets of classes alone")
  expect_error(finetune(x, groups[1:3]), "there are 3 labels, but 60 samples")
})

test_that("a net is trained on numbers, and on classes that do not exclude each other", {
  x <- planted()
  y <- x[, 1] + x[, 9]
  net <- quiet(finetune(x, y, layers = 8, epochs = 300, rate = 0.02, seed = 1))
  expect_gt(cor(predict(net)[, 1], y), 0.9)
  both <- quiet(finetune(x, cbind(a = x[, 1] > 1, b = x[, 9] > 1) + 0, outputs = "logistic", layers = 8, epochs = 60,
                         seed = 1))
  expect_identical(dim(predict(both, type = "class")), c(60L, 2L))
  expect_gt(mean(predict(both, type = "class") == (x[, c(1, 9)] > 1)), 0.9)
})

test_that("a net goes to a file and comes back", {
  skip_if_not(has_files())
  x <- planted()
  net <- quiet(finetune(x, groups, layers = 5, epochs = 5, seed = 1))
  file <- tempfile(fileext = ".npz")
  on.exit(unlink(file))
  export_model(net, file)
  expect_equal(predict(import_net(file, net), x), predict(net), tolerance = 1e-6)
  other <- quiet(finetune(x, groups, layers = 6, epochs = 1, seed = 1))
  expect_error(import_net(file, other), "shape|6|layer")
})

test_that("the net of the tool is R's", {
  tool <- Sys.getenv("RAREBIT")
  skip_if(tool == "" || !has_files())
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  x <- planted()
  convert_data(x, at("x.tsv"))
  writeLines(c("sample\tclass", paste(rownames(x), groups, sep = "\t")), at("y.tsv"))
  run <- c("finetune", "none", at("x.tsv"), "--labels", at("y.tsv"), "--layers", "5", "--epochs", "4", "--seed", "3", "-o",
           at("net.h5"))
  status <- system2(tool, run, stdout = FALSE, stderr = at("err"), env = "RAREBIT_BLAS_CORE=''")
  expect_identical(status, 0L, info = readLines(at("err")))
  net <- quiet(finetune(at("x.tsv"), as.character(groups), layers = 5, epochs = 4, seed = 3))
  theirs <- load_model(at("net.h5"))
  expect_identical(predict(net, x)[, levels(groups)], predict(theirs, x)[, levels(groups)])
})

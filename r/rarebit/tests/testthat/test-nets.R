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
  expect_error(rerun(stack), "a stack is not fitted by one set of options")
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

test_that("the settings with the fewest errors are chosen", {
  x <- planted()
  some <- seq(1, 60, 2)
  ask <- function(...) quiet(finetune(x[some, ], groups[some], layers = 6, epochs = 8, seed = 1,
                                      valid = list(x[-some, ], groups[-some]), ...))
  net <- ask(grid = list(rate = c(1e-5, 0.01), masking = c(0, 0.25)), threads = 2)
  tried <- attr(net, "grid")
  expect_identical(tried$point, paste0("rate=", rep(c("1e-05", "0.01"), each = 2), " masking=", c("0", "0.25")))
  expect_identical(sum(tried$chosen), 1L)
  expect_identical(min(tried$valid_error), tried$valid_error[tried$chosen])
  best <- c(1e-5, 0.01)[ceiling(which(tried$chosen) / 2)]
  expect_identical(predict(net), predict(ask(rate = best, masking = c(0.25, 0)[1 + which(tried$chosen) %% 2])))
  expect_identical(arrays(ask(grid = "rate=0.01")), arrays(ask(rate = 0.01)))
  expect_error(ask(grid = c(0.1, 0.2)), "list of values by name")
  expect_error(ask(grid = list(rate = 0.1, 0.2)), "list of values by name")
  expect_error(ask(grid = list(rate = 1), verbose = TRUE), "side by side")
  expect_error(finetune(x, groups, grid = list(rate = 1)), "valid")
})

test_that("a net is measured on labels", {
  x <- planted()
  net <- quiet(finetune(x, groups, layers = 5, epochs = 20, seed = 1))
  wrong <- replace(groups, 1:6, "two")
  scores <- evaluate(net, labels = wrong)
  said <- predict(net, type = "class")
  expect_equal(scores[["error_rate"]], mean(said != wrong))
  expect_true(scores[["low"]] < scores[["error_rate"]] && scores[["error_rate"]] < scores[["high"]])
  expect_equal(attr(scores, "confusion")[levels(groups), levels(groups)], unclass(table(wrong, said)), ignore_attr = TRUE)
  chances <- predict(net)
  expect_equal(scores[["log_loss"]], -mean(log(chances[cbind(1:60, match(wrong, colnames(chances)))])), tolerance = 1e-6)
  values <- quiet(finetune(x, x[, 1:2], layers = 4, epochs = 5, seed = 1))
  expect_equal(evaluate(values, labels = x[, 1:2])[["mean_squared_error"]], mean((predict(values) - x[, 1:2])^2),
               tolerance = 1e-6)
  expect_identical(summary(net, labels = wrong)$metrics, scores)
  expect_null(summary(net)$metrics)
  expect_output(print(summary(net)), "status: ")
  expect_error(evaluate(fit(), labels = groups), "predicts no labels")
  expect_error(evaluate(net, labels = groups[1:3]), "there are 3 labels")
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
  expect_error(export_model(net, file, whitening = "zca.npz"), "give both")
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

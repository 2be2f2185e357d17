test_that("random numbers of R stay as they are", {
  set.seed(1)
  before <- .Random.seed
  model <- fit()
  predict(model)
  expect_identical(.Random.seed, before)
  rm(.Random.seed, envir = globalenv())
  fit()
  expect_false(exists(".Random.seed", globalenv()))
})

test_that("R's BLAS computes as before", {
  x <- planted()
  before <- list(crossprod(x), solve(crossprod(x) + diag(24)), extSoftVersion()[["BLAS"]])
  fit(x, threads = 2)
  expect_identical(list(crossprod(x), solve(crossprod(x) + diag(24)), extSoftVersion()[["BLAS"]]),
                   before)
})

test_that("the library's BLAS is its own, whatever R stands on", {
  reference <- Sys.glob("/usr/lib/*/blas/libblas.so.3")
  skip_if(length(reference) == 0, "no reference BLAS beside R's")
  lapack <- file.path(dirname(dirname(reference[1])), "lapack")
  code <- c("x <- matrix(sin(1:40000), 200); m <- suppressMessages(rfn(x, 10, iterations = 20))",
            "cat(extSoftVersion()[['BLAS']], '\\n', format(sum(abs(coef(m))), digits = 17), '\\n')")
  same <- "OPENBLAS_CORETYPE=Prescott" # else each chooses kernels by who loads it
  own <- child(code, same)
  with_reference <- child(code, c(same, sprintf("R_LD_LIBRARY_PATH=%s:%s:%s", dirname(reference[1]), lapack,
                                                file.path(R.home(), "lib"))))
  expect_match(with_reference[1], dirname(reference[1]), fixed = TRUE)
  expect_identical(with_reference[2], own[2])
})

test_that("slower kernels of the BLAS are told once, and the environment stays", {
  code <- c("x <- matrix(sin(1:600), 60)",
            "for (i in 1:2) suppressWarnings(rarebit(x, 2, 'pca', scale = 'sd'))",
            "cat(Sys.getenv('OPENBLAS_CORETYPE', 'none'), nzchar(rarebit_info()$blas_advice))")
  told <- "uses its .* kernels, which are slower"
  out <- child(code, "OPENBLAS_CORETYPE=Prescott")
  if (grepl("DYNAMIC_ARCH", rarebit_info()$blas) && rarebit_info()$kernels != "ref")
    expect_match(out[length(out)], "Prescott TRUE")
  expect_length(grep(told, out), as.integer(grepl("TRUE", out[length(out)])))
  expect_match(child(code[3]), paste0("^", Sys.getenv("OPENBLAS_CORETYPE", "none")))
})

test_that("data are not copied", {
  skip_if_not(capabilities("profmem"))
  x <- planted()
  copies <- capture.output({
    tracemem(x)
    model <- fit(x)
    predict(model, x)
    fit(x, samples = "columns")
    untracemem(x)
  })
  expect_false(any(grepl("tracemem[", copies[-1], fixed = TRUE)))
})

test_that("memory grows by less than the data", {
  skip_if_not(file.exists("/proc/self/status"))
  peak <- "peak <- function() as.numeric(gsub('\\\\D', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE)))"
  out <- child(c(peak, "x <- matrix(0.5, 4000, 4000); x[seq(1, 4000 * 4000, 7)] <- 1; invisible(gc())",
                 "m <- suppressMessages(rfn(x[1:10, 1:10], 2, iterations = 1))",
                 "before <- peak()",
                 "m <- suppressMessages(rfn(x, 2, iterations = 2, samples = 'columns', estep = 'newton'))",
                 "cat(peak() - before)"))
  grown <- as.numeric(out[length(out)]) # kB; the data have 125000
  expect_lt(grown, 60000)
})

test_that("an interrupt ends a fit as it ends any other call of R", {
  skip_on_os("windows")
  out <- child(c(
    "x <- matrix(sin(seq_len(1e6)), 1000)",
    "system(sprintf('(sleep 1; kill -INT %d) &', Sys.getpid()))",
    "began <- Sys.time()",
    "how <- tryCatch({ rfn(x, 100, parameter_tolerance = 0, iterations = 1e9); 'done' }, interrupt = function(i) 'interrupted')",
    "cat(how, as.numeric(Sys.time() - began, units = 'secs') < 10, '\\n')",
    "cat(suppressMessages(rfn(x[1:50, 1:20], 3, iterations = 200))$method, '\\n')"))
  expect_identical(trimws(utils::tail(out, 2)), c("interrupted TRUE", "rfn"))
})

test_that("objects of other kinds are refused", {
  x <- planted()
  expect_error(predict(structure(list(), class = "rarebit")))
  expect_error(rfn(x, 3, start = 5), "not a model")
})

test_that("calls within a callback leave the call around them as it was", {
  x <- planted()
  model <- fit(x)
  codes <- predict(model)
  seen <- list()
  outer <- fit(x, iterations = 6, threads = 2, callback = function(p) {
    inner <- fit(x, 2, iterations = 2, callback = function(q) NULL)
    evaluate(model)
    try(predict(model, "nowhere.tsv"), silent = TRUE)
    seen[[p$iteration]] <<- predict(model, threads = 1)
  })
  expect_identical(seen, rep(list(codes), 6))
  expect_identical(arrays(outer), arrays(fit(x, iterations = 6)))
})

test_that("interrupts come through after calls within a callback, and during them", {
  skip_on_os("windows")
  out <- child(c(
    "x <- matrix(sin(seq_len(1e6)), 1000)",
    "small <- suppressMessages(rfn(x[1:50, 1:20], 3, iterations = 5))",
    "timed <- function(code) {",
    "  system(sprintf('(sleep 1; kill -INT %d) &', Sys.getpid()))",
    "  began <- Sys.time()",
    "  how <- tryCatch({ code; 'done' }, interrupt = function(i) 'interrupted')",
    "  cat(how, as.numeric(Sys.time() - began, units = 'secs') < 10, '\\n')",
    "}",
    "told <- suppressMessages(rfn(x[1:50, 1:20], 3, iterations = 5, callback = function(p) predict(small)))",
    "timed(rfn(x, 100, parameter_tolerance = 0, iterations = 1e9))",
    "timed(rfn(x[1:50, 1:20], 3, parameter_tolerance = 0, iterations = 1e9, callback = function(p) predict(small)))",
    "timed(rfn(x[1:50, 1:20], 3, parameter_tolerance = 0, iterations = 1e9, callback = function(p)",
    "  try(rfn(x, 100, parameter_tolerance = 0, iterations = 1e9), silent = TRUE)))",
    "timed(repeat sqrt(2))",
    "cat(suppressMessages(rfn(x[1:50, 1:20], 3, iterations = 200))$method, '\\n')"))
  said <- trimws(grep("^(interrupted|done|rfn)", out, value = TRUE))
  expect_identical(said, c(rep("interrupted TRUE", 4), "rfn"))
})

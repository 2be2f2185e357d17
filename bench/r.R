# What a fit and its codes cost through R beside C: medians of processor time, in turn, in one process.
#
#   sh bench/r.sh BUILD [ROUNDS]
suppressPackageStartupMessages(library(rarebit))
dyn.load(Sys.getenv("RAREBIT_BENCH_C"))
rounds <- as.integer(commandArgs(TRUE)[1])
now <- function() .C("bench_now", 0)[[1]]

once <- function(x, units, iterations) {
  began <- now()
  model <- suppressMessages(suppressWarnings(rfn(x, units, iterations = iterations)))
  fitted <- now()
  codes <- predict(model, x)
  ended <- now()
  stopifnot(ncol(codes) == units)
  library_s <- .C("bench_library", x, c(dim(x), as.integer(units)), as.integer(iterations), c(0, 0))[[4]]
  c(fitted - began, library_s[1], ended - fitted, library_s[2])
}

measure <- function(n, m, units, iterations, rounds) {
  x <- matrix((sin(seq_len(n * m) * 12.9898) * 43758.5453) %% 1, n)
  x[seq_len(n %/% 4), seq_len(m %/% 4)] <- x[seq_len(n %/% 4), seq_len(m %/% 4)] + 1
  once(x, units, iterations)
  invisible(gc())
  ms <- 1000 * apply(vapply(seq_len(rounds), function(i) once(x, units, iterations), numeric(4)), 1,
                     stats::median)
  for (i in c(1, 3)) {
    cat(sprintf("%-12s %-4s  %10.3f  %10.3f  %+8.3f  %+7.2f %%\n", paste(n, "x", m),
                if (i == 1) "fit" else "codes", ms[i], ms[i + 1], ms[i] - ms[i + 1],
                100 * (ms[i] / ms[i + 1] - 1)))
  }
}

cat("rarebit ", rarebit_info()$version, ", R ", as.character(getRversion()), ", processor time in ms\n",
    sprintf("%-18s %11s %11s %9s\n", "", "R", "C", "more"), sep = "")
measure(100, 100, 10, 20, 10 * rounds)
measure(10000, 784, 50, 5, rounds)

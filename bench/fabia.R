# Processor seconds of `rarebit fit fabia` beside the compiled loop of R's fabia (Bioconductor), which
# whoever repeats this installs for himself, or compiles and names:
#
#     Rscript bench/fabia.R build/rarebit [SEEDS [fabia.so]]
#
# FABIA's generator, 100 samples x 1000 features, 13 factors, 500 cycles; both sides by turns, one
# thread. Ours is the whole command, with reading and writing; R's is the loop alone, on data that are
# centred and scaled before as its fabia() does. Starts differ.
words <- commandArgs(TRUE)
rarebit <- words[1]
seeds <- if (length(words) > 1) as.integer(words[2]) else 5L
if (length(words) > 2) {
    dyn.load(words[3])
} else if (!requireNamespace("fabia", quietly = TRUE)) {
    stop("R has no package fabia: install it, or name its compiled library")
}
Sys.setenv(OPENBLAS_NUM_THREADS = "1")
folder <- tempfile()
dir.create(folder)
file <- function(name) file.path(folder, name)
rarebit_runs <- function(...) {
    before <- proc.time()
    if (system2(rarebit, c(..., "--threads", "1", "-q"))) stop("rarebit failed")
    sum((proc.time() - before)[c("user.child", "sys.child")])
}

# features x samples, as fabia() prepares them by default (center 2, norm 1)
prepared <- function(x) {
    x <- x - apply(x, 1, median)
    x / sqrt(apply(x, 1, function(v) diff(quantile(v, c(0.25, 0.75)))) + 0.001)
}

once <- function(seed) {
    rarebit_runs("simulate", "biclusters", "--generator", "fabia", "--seed", seed, "-o", file("x.tsv"))
    x <- prepared(t(as.matrix(read.delim(file("x.tsv"), header = FALSE))))
    dimnames(x) <- NULL
    ours <- rarebit_runs("fit", "fabia", file("x.tsv"), "-k", 13, "--iterations", 500,
                         "--parameter-tolerance", 0, "--seed", seed, "--centre", "median", "-o", file("model.h5"))
    n <- nrow(x)
    set.seed(seed)
    start <- matrix(rnorm(n * 13), n, 13)
    # cycles, alpha, eps, eps1, spl, spz, scale, lap, nL, lL, bL, non_negative
    spent <- system.time(.Call(
        "fabic", x, rep(0.2, n), start, matrix(1, ncol(x), 13), 500L, 0.01, 1e-3, 1e-10, 0, 0.5, 0, 1,
        0L, 0L, 0L, 0L, PACKAGE = "fabia"))
    theirs <- sum(spent[c("user.self", "sys.self")])
    cat(sprintf("%4d %8.2f %8.2f %8.2f\n", seed, ours, theirs, ours / theirs))
    c(ours, theirs)
}

cat(system2(rarebit, "--version", stdout = TRUE)[1], ", ", R.version.string, "\n", sep = "")
cat("seed     ours  R fabia    ratio\n")
times <- vapply(seq_len(seeds), once, numeric(2))
cat(sprintf("mean %8.2f %8.2f %8.2f\n", mean(times[1, ]), mean(times[2, ]),
            mean(times[1, ]) / mean(times[2, ])))
unlink(folder, recursive = TRUE)

# nmf of RcppML beside ours, for bench/peers.py: data (samples x features, MatrixMarket), units,
# iterations, a file for the loadings, a seed. Prints RcppML's version and its processor seconds.
suppressPackageStartupMessages(library(RcppML))
words <- commandArgs(TRUE)
data <- Matrix::t(methods::as(Matrix::readMM(words[1]), "CsparseMatrix")) # features x samples
options(RcppML.threads = 1)
arguments <- list(data, as.integer(words[2]), tol = 1e-10, maxit = as.integer(words[3]),
                  seed = as.integer(words[5]), verbose = FALSE)
spent <- system.time(found <- do.call(nmf, arguments))
w <- if (isS4(found)) found@w else found$w
write.table(w, words[4], row.names = FALSE, col.names = FALSE)
cat(format(packageVersion("RcppML")), spent[["user.self"]] + spent[["sys.self"]], "\n")

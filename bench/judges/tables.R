# Real tables for `./run judges real --tables FOLDER`, of Debian's r-bioc-all, r-bioc-bladderbatch and r-bioc-multtest:
# Rscript tables.R FOLDER. Of each the 2000 features that vary most, samples x features, and the class of each sample.
folder <- commandArgs(TRUE)[1]
suppressMessages({
  library(Biobase)
  data(ALL, package = "ALL")
  data(bladderdata, package = "bladderbatch")
  data(golub, package = "multtest")
})
put <- function(name, values, classes) {
  values <- values[order(-apply(values, 1, var))[seq_len(min(2000, nrow(values)))], ]
  colnames(values) <- sprintf("S%03d", seq_len(ncol(values)))
  out <- gzfile(file.path(folder, paste0(name, ".tsv.gz")))
  write.table(t(values), out, sep = "\t", quote = FALSE, col.names = NA)
  write.table(data.frame(class = classes, row.names = colnames(values)), file.path(folder, paste0(name, ".classes.tsv")),
              sep = "\t", quote = FALSE, col.names = NA)
}
put("leukaemia-all", exprs(ALL), substr(ALL$BT, 1, 1))
put("bladder", exprs(bladderEset), as.character(bladderEset$cancer))
put("leukaemia-golub", golub, c("ALL", "AML")[golub.cl + 1])

# Calls of the library, whose log messages become warnings and messages; what it knows.

tell <- function() {
  said <- .Call(C_messages)
  for (i in seq_along(said)) {
    if (names(said)[i] == "warning") warning(said[[i]], call. = FALSE) else message(said[[i]])
  }
}

# Evaluates a .Call, and says afterwards what the library had to say, also where it failed.
said <- function(value) {
  on.exit(tell())
  value
}

# An error where a library was not there when the package was built: "io", "nets" or "media".
need <- function(library) .Call(C_need, library)

default_threads <- function() getOption("rarebit.threads", 1L)

# The share of a model's features that new data must have by name.
default_min_shared <- function() getOption("rarebit.min_shared", 0.1)

is_whole <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x) && x == round(x)

# A BiocParallelParam stands for its number of workers, as threads of this process.
thread_count <- function(threads) {
  if (is(threads, "BiocParallelParam")) threads <- BiocParallel::bpnworkers(threads)
  if (!is_whole(threads) || threads < 0 || threads > 1024)
    stop("threads is one whole number from 0 to 1024", call. = FALSE)
  as.integer(threads)
}

rarebit_info <- function() {
  info <- .Call(C_build)
  info[!vapply(info, anyNA, NA)]
}

rarebit_methods <- function() .Call(C_methods)

rarebit_options <- function(method = "rfn", level = c("all", "common", "tuning", "research")) {
  level <- match.arg(level)
  table <- as.data.frame(.Call(C_option_table, method), stringsAsFactors = FALSE)
  table$name <- gsub("-", "_", table$name, fixed = TRUE)
  table$help <- in_r(table$help)
  if (level == "all") table else table[table$level == level, , drop = FALSE]
}

# Help of the library names options as its tool does: --prior-mean is prior_mean here.
in_r <- function(text) {
  at <- gregexpr("--[a-z0-9-]+", text)
  regmatches(text, at) <- lapply(regmatches(text, at), function(names)
    gsub("-", "_", sub("^--", "", names), fixed = TRUE))
  text
}

# The options of a method for its help page, from the table of the library.
rd_options <- function(method, level) {
  table <- rarebit_options(method, level)
  escape <- function(text) gsub("([%\\\\{}])", "\\\\\\1", text)
  fallback <- ifelse(is.na(table$default), "", paste0("; default ", table$default))
  items <- sprintf("\\item{\\code{%s}}{%s (%s%s).}", escape(table$name), escape(table$help),
                   escape(table$range), escape(fallback))
  paste(c("\\describe{", items, "}"), collapse = "\n")
}

by_commas <- function(v) paste(if (is.logical(v)) tolower(v) else v, collapse = ",")

is_named <- function(x) !is.null(names(x)) && !anyNA(names(x)) && all(nzchar(names(x)))

# list(eta_psi = 1) as options of a method, of "modules" or of "read".
make_options <- function(what, values) {
  values <- values[!vapply(values, is.null, NA)]
  if (length(values) && !is_named(values)) stop("options are given by name: eta = 0.1", call. = FALSE)
  if ("BPPARAM" %in% names(values))
    stop("give a BiocParallelParam as threads: threads = MulticoreParam(2)", call. = FALSE)
  if (any(c("checkpoint", "part") %in% names(values))) need("io")
  keys <- gsub("[._]", "-", as.character(names(values)))
  if (anyDuplicated(keys))
    stop("option ", gsub("-", "_", keys[anyDuplicated(keys)]), " is given twice", call. = FALSE)
  values <- lapply(values, function(v) {
    if (is.factor(v)) v <- as.character(v)
    if (is.integer(v)) storage.mode(v) <- "double"
    v
  })
  several <- lengths(values) != 1 & !vapply(values, is.matrix, NA)
  if (any(several)) { # by commas, but where the option is a vector of numbers
    table <- .Call(C_option_table, what)
    several <- several & !keys %in% table$name[table$kind == "values"]
    values[several] <- lapply(values[several], by_commas)
  }
  .Call(C_options, what, keys, unname(values))
}

# Which units are found again: in another model, in two cohorts, in the same fit.

compare_models <- function(first, second, ..., threads = default_threads()) {
  found <- said(.Call(C_compare_models, pointer_of(first), pointer_of(second),
                      make_options("replication", list(...)), thread_count(threads)))
  structure(count_from_one(found$table, c("unit", "partner", "best")), found = found$found,
            features = found$features, by_name = found$by_name, same_data = found$same_data)
}

compare_cohorts <- function(model, x, y, ..., samples = "rows", assay = NULL, reading = list(),
                            threads = default_threads(), min_shared = default_min_shared()) {
  cohorts <- lapply(list(x, y), function(newdata)
    given_samples(model, newdata, samples, assay, reading, NULL, min_shared))
  found <- said(.Call(C_compare_cohorts, pointer_of(model), cohorts[[1]]$handle,
                      cohorts[[2]]$handle, make_options("replication", list(...)),
                      thread_count(threads)))
  structure(count_from_one(found$table, "unit"), found = found$found)
}

rerun <- function(model, newdata = NULL, start = NULL, samples = "rows", assay = NULL,
                  reading = list(), covariates = NULL, threads = default_threads()) {
  data <- given_samples(model, newdata, samples, assay, reading, covariates, default_min_shared())
  data.frame(said(.Call(C_rerun, pointer_of(model), data$handle,
                        if (!is.null(start)) pointer_of(start), thread_count(threads))))
}

# The library counts units from 0.
count_from_one <- function(table, columns) {
  for (name in intersect(columns, names(table))) table[[name]] <- table[[name]] + 1
  data.frame(table)
}

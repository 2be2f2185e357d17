# Data with planted causes.

simulate_biclusters <- function(samples = NULL, features = NULL, ..., seed = 1)
  planted_data("biclusters", list(samples = samples, features = features, seed = seed, ...))

simulate_cells <- function(samples = NULL, features = NULL, ..., seed = 1)
  planted_data("cells", list(samples = samples, features = features, seed = seed, ...))

simulate_bars <- function(samples = NULL, ..., seed = 1)
  planted_data("bars", list(samples = samples, seed = seed, ...))

planted_data <- function(what, options) said(.Call(C_simulate, what, make_options(what, options)))

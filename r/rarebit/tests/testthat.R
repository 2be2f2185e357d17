library(testthat)
library(rarebit)

test_check("rarebit")

# A page of the device that only notes what is drawn: its calls by name, without those of the frame.
drawn <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  grDevices::dev.control("enable")
  force(code)
  vapply(grDevices::recordPlot()[[1]], function(call) {
    of <- call[[2]][[1]]
    if (is.list(of) || inherits(of, "NativeSymbolInfo")) of$name else as.character(of)[1]
  }, "")
}

test_that("pictures are drawn, with what is asked for", {
  model <- fit()
  silently <- function(...) expect_silent(drawn(plot(model, ...)))
  silently()
  silently("history", col = 2, main = "mine", xlab = "x", ylab = "y", type = "p")
  for (which in c("loadings", "codes"))
    silently(which, col = grey.colors(5), main = "mine", xlab = "x", ylab = "y", zlim = c(-9, 9))
  groups <- rep(c("a", "b", "c"), each = 20)
  silently("codes", labels = groups)
  silently("unit", unit = 2, labels = groups)
  expect_error(drawn(plot(model, "codes", labels = 1:3)), "there are 3 labels, but 60 samples")
  expect_error(drawn(plot(model, "unit", unit = 4)), "from 1 to 3")
})

test_that("the history marks where shrinking begins", {
  marks <- function(...) sum(drawn(plot(fit(...))) %in% c("C_abline", "C_mtext"))
  expect_identical(marks(iterations = 51), 2L)
  expect_identical(marks(iterations = 50), 0L)
  expect_identical(marks(iterations = 60, preset = "paper"), 0L)
})

test_that("classes have the colours of the report's page", {
  skip_if_not(has_files())
  page <- tempfile(fileext = ".html")
  on.exit(unlink(page))
  report(fit(), page = page)
  text <- paste(readLines(page, warn = FALSE), collapse = "")
  levels <- regmatches(text, regexpr("classColours = \\[\\[.*?\\]\\]", text, perl = TRUE))
  colours <- matrix(as.numeric(regmatches(levels, gregexpr("[0-9]+", levels))[[1]]), 3)
  paler <- colours[, 1:2] + (255 - colours[, 1:2]) * 0.25
  palette <- rarebit:::palette_of(c(letters[12:1], NA, "", "b"))
  expect_identical(names(palette), letters[1:12])
  expect_lt(max(abs(col2rgb(palette) - cbind(colours, paler))), 1)
  expect_identical(unname(rarebit:::class_colours(c("b", NA, ""), palette)),
                   c(palette[["b"]], "#b3b3b3", "#b3b3b3"))
  expect_identical(rarebit:::class_colours(character(), rarebit:::palette_of(NULL)), "#214d8c")
  expect_identical(rarebit:::palette_of("a"), palette[1])
  expect_identical(names(rarebit:::palette_of(c("b", "B"))), c("B", "b"))
})

test_that("an image for each unit, each sample and each traced iteration", {
  model <- fit()
  images <- function(...) sum(drawn(plot(model, ..., shape = c(4, 6))) == "C_raster")
  expect_identical(images("filters"), 3L)
  expect_identical(images("samples", count = 5), 15L)
  expect_identical(sum(drawn(plot(model, "filters")) == "C_plot_new"), 3L)
  expect_error(drawn(plot(model, "filters", shape = c(5, 5))), "5 x 5 is not that of the 24 features")
  model <- quiet(et(counts(), 2, model = "mca", iterations = 8, trace = TRUE, centre = "none"))
  expect_identical(images("fields") %% 2L, 0L)
  expect_gt(images("fields"), 2L)
})

test_that("an image stands upright, and features without use are grey", {
  x <- planted()
  x[, 5] <- 1
  model <- fit(x, drop = "constant")
  expect_identical(dim(coef(model)), c(23L, 3L))
  wide <- rarebit:::among_all(rarebit:::info_of(model), coef(model))
  expect_identical(wide[5, ], c(0, 0, 0))
  expect_identical(wide[-5, ], unname(coef(model)))
})

test_that("modules stand in blocks, each member once", {
  model <- fit()
  expect_true("C_rect" %in% drawn(plot(model, "modules", labels = rep(1:3, 20))))
  home <- rarebit:::at_home(list(data.frame(index = 1:3, weight = c(3, 1, 1)),
                                 data.frame(index = 2:4, weight = c(9, 1, -1))), 4, 2)
  expect_identical(home, list(c(1L, 3L), c(2L, 4L)))
  view <- rarebit:::view_of(model, list(handle = .Call(rarebit:::C_data, planted(), FALSE, NULL, NULL)),
                            c(7, 2))
  expect_equal(rowMeans(view), c(0, 0), tolerance = 1e-6)
  expect_equal(view[1, ], as.vector(scale(planted()[, 7])) * sqrt(60 / 59), tolerance = 1e-5)
})

test_that("what expectation truncation did is drawn, of a fit that kept it", {
  x <- counts()
  model <- quiet(et(x, 3, model = "mca", iterations = 12, trace = TRUE, centre = "none"))
  plain <- drawn(quiet(plot(model, "evidence")))
  expect_identical(sum(plain == "C_plotXY"), 1L)
  expect_true("C_text" %in% drawn(quiet(plot(model, "evidence", labels = rep(0:1, 30)))))
  expect_false("C_text" %in% plain)
  expect_silent(drawn(plot(model, "quality")))
  expect_error(drawn(plot(fit(), "quality")), "trace = TRUE")
})

.onUnload <- function(libpath) library.dynam.unload("rarebit", libpath)

# Two libraries are installed: what R loads, and the binding that it loads in turn (loader.c).
folder <- file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH))
dir.create(folder, recursive = TRUE, showWarnings = FALSE)
file.copy(c("rarebit.so", "binding.so"), folder, overwrite = TRUE)
if (file.exists("symbols.rds")) file.copy("symbols.rds", folder, overwrite = TRUE)

/* Files: all headers of the library librarebit-io. */
#pragma once

#include <rarebit/annotations.h>
#include <rarebit/checkpoint.h>
#include <rarebit/data.h>
#include <rarebit/json.h>
#include <rarebit/model_file.h>
#include <rarebit/modules_file.h>
#include <rarebit/output.h>
#include <rarebit/report.h>

/* The HDF5 that the library was built with, such as "1.10.8". */
RB_API const char *rb_io_hdf5(void);
/* Those of libpng and liblzf; "" where the library was built without: then PNG, or HDF5 packed with
 * LZF, is RB_ERROR_UNSUPPORTED. */
RB_API const char *rb_io_png(void);
RB_API const char *rb_io_lzf(void);

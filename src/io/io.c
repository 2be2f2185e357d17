/* Reading: which format a file has, and who reads it. */
#include "io.h"

#include <stddef.h>

static const rb_option table[] = {
    {"dataset", 0, RB_OPTION_TEXT, offsetof(rb_read_options, dataset), NULL, 0, 0, NULL, "PATH",
     "data set inside an HDF5 file"},
    {"transpose", 0, RB_OPTION_FLAG, offsetof(rb_read_options, transpose), "false", 0, 0, NULL,
     NULL, "the file has features as rows and samples as columns"},
    {"header", 0, RB_OPTION_CHOICE, offsetof(rb_read_options, header), "auto", 0, 0, "auto|yes|no",
     "WHETHER", "text files: the first row names the features"},
    {"row-names", 0, RB_OPTION_CHOICE, offsetof(rb_read_options, row_names), "auto", 0, 0,
     "auto|yes|no", "WHETHER", "text files: the first column names the samples"},
    {"patches", 0, RB_OPTION_TEXT, offsetof(rb_read_options, patches), NULL, 0, 0, NULL, "HxW",
     "images: cut into patches of this size, one a sample"},
    {0},
};

const rb_option *rb_read_option_table(void) {
    return table;
}

void rb_read_options_default(rb_read_options *options) {
    rb_options_default(table, options);
}

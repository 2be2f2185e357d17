/* Options of the pictures. */
#include "plot.h"

static const rb_option table[] = {
    {"shape", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, shape), NULL, 0, 0, NULL, "HxW[xC]",
     "filters: rows x columns (x channels) of a feature vector seen as an image, or its length: "
     "then each is a curve"},
    {"width", 0, RB_OPTION_INTEGER, offsetof(rb_plot_options, width), "1200", 600, 8000, NULL,
     "PIXELS", "width of the picture; the height follows"},
    {"title", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, title), NULL, 0, 0, NULL, "TEXT",
     "title of the picture"},
    {"labels", 0, RB_OPTION_TEXT, offsetof(rb_plot_options, labels), NULL, 0, 0, NULL, "LABELS",
     "codes and modules: show the classes; a TSV with a header, then sample name and class, or of "
     "classes alone; cells.h5ad:COLUMN; or obs:COLUMN of the data's own file"},
    {0},
};

const rb_option_group *rb_plot_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Picture", table,
                                          sizeof(rb_plot_options), NULL};
    return &group;
}

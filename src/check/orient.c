/* Are rows samples? By names, if those of one side are genes. Else by how the values vary: of
 * features the means differ much, of samples little, so that the side with most of the variance
 * between its means is likely that of the features. (Not so for patches of pictures, whose
 * brightness differs: hence only names decide.) */
#include "check.h"

#include <math.h>

static const double large_share = 0.3, times = 5;

/* Share of the variance that is between the means of lines, beyond what equal means would have. */
static double share_between(const double *sums, const int64_t *counts, int64_t lines, double mean,
                            double squares, int64_t values) {
    double between = 0;
    int64_t used = 0;
    for (int64_t i = 0; i < lines; i++) {
        double d = counts[i] ? sums[i] / (double)counts[i] - mean : 0;
        between += d * d * (double)counts[i];
        used += counts[i] > 0;
    }
    double within = squares / (double)values;
    return squares > 0 ? fmax(0, (between - (double)used * within) / squares) : 0;
}

static void find_shares(rb_look *look) {
    int64_t n = look->part_n, m = look->part_m, values = 0;
    rb_scratch scratch = {.ctx = look->ctx};
    double *row = rb_take(&scratch, n, sizeof *row), *column = rb_take(&scratch, m, sizeof *column);
    int64_t *in_row = rb_take(&scratch, n, sizeof *in_row);
    int64_t *in_column = rb_take(&scratch, m, sizeof *in_column);
    double sum = 0, squares = 0;
    for (int64_t e = 0; in_column && e < n * m; e++) {
        double x = look->log1p ? log1p(look->part[e]) : look->part[e];
        if (isnan(x)) continue;
        row[e / m] += x;
        column[e % m] += x;
        in_row[e / m]++;
        in_column[e % m]++;
        values++;
        sum += x;
    }
    double mean = values ? sum / (double)values : 0;
    for (int64_t e = 0; in_column && e < n * m; e++) {
        double d = (look->log1p ? log1p(look->part[e]) : look->part[e]) - mean;
        squares += isnan(d) ? 0 : d * d;
    }
    if (in_column && values > 0) {
        look->row_share = share_between(row, in_row, n, mean, squares, values);
        look->column_share = share_between(column, in_column, m, mean, squares, values);
    }
    rb_error err = rb_scratch_end(&scratch);
    look->scratch.err = look->scratch.err ? look->scratch.err : err;
}

rb_error rb_look_orient(rb_look *look) {
    look->across = look->row.are_genes && !look->column.are_genes;
    find_shares(look);
    bool named = look->row.are_genes || look->column.are_genes;
    look->may_be_across = !named && look->kind != RB_KIND_PIXELS && look->n > 2 * look->m &&
                          look->row_share > large_share &&
                          look->row_share > times * look->column_share;
    return look->scratch.err;
}

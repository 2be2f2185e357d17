/* Passes over the samples of a source as they stand, on all threads, and their checksum.
 *
 * A pass walks over stretches of samples that are small enough for the cache. Of a stretch each
 * thread makes pieces: values as float64, their CRC-32, checked and transformed if the pass asks
 * for it. The pieces' checksums are joined in order, and what the pass collects of the stretch
 * follows on all threads.
 */
#include "statistics.h"

#include <math.h>

enum {
    BLOCK_CELLS = 1 << 21,
    STRETCH_CELLS = 1 << 17,
    PIECES = 16,
    MIN_ROWS = 16,
    CHUNK_CELLS = 1 << 11 /* of a piece, that stay in the nearest cache */
};

/* What a piece of a stretch found. */
struct piece {
    uint32_t checksum;
    int64_t bytes, missing;
    int64_t bad_row, bad_entry; /* the first value that cannot be used; bad_row -1: none */
};

struct walk {
    const rb_context *ctx;
    const rb_pass *pass;
    const rb_matrix *view;
    int64_t begin; /* the stretch: row of the view */
    rb_rows rows;
    int64_t piece_rows;
    struct piece pieces[PIECES];
    rb_crc32 crc;
};

/* ---- a piece ---- */

/* Infinities cannot be used; NaN unless it is filled or left out; what totals and log1p cannot
 * take. The first such entry, or -1. */
static int64_t find_bad(const struct walk *w, int64_t count, const double *values) {
    const rb_preprocess_options *options = w->pass->options;
    double squares = rb_dot(w->ctx, RB_FLOAT64, count, values, values);
    if (isfinite(squares) && options->totals == 0 && !options->log1p) {
        return -1; /* else one is not finite, or some are very large */
    }
    for (int64_t e = 0; e < count; e++) {
        bool refused = isnan(values[e]) && options->missing == RB_MISSING_REFUSE;
        if (isinf(values[e]) || refused || !rb_value_fits(options, values[e])) {
            return e;
        }
    }
    return -1;
}

/* Of a sparse row also where its values stand, and how many there are: rows do not run together. */
static void add_checksum(struct walk *w, int64_t begin, int64_t end, struct piece *piece) {
    int64_t m = w->rows.n_features;
    if (!w->rows.columns) {
        int64_t bytes = (end - begin) * m * (int64_t)sizeof(double);
        piece->checksum =
            rb_crc32_add(&w->crc, piece->checksum, w->rows.values + begin * m, (size_t)bytes);
        piece->bytes += bytes;
    }
    for (int64_t i = begin; w->rows.columns && i < end; i++) {
        rb_row row = rb_rows_get(&w->rows, i);
        size_t places = (size_t)row.count * sizeof *row.columns;
        size_t values = (size_t)row.count * sizeof *row.values;
        uint32_t sum = rb_crc32_add(&w->crc, piece->checksum, &row.count, sizeof row.count);
        sum = rb_crc32_add(&w->crc, sum, row.columns, places);
        piece->checksum = rb_crc32_add(&w->crc, sum, row.values, values);
        piece->bytes += (int64_t)(sizeof row.count + places + values);
    }
}

static int64_t count_missing(const rb_row *row) {
    int64_t count = 0;
    for (int64_t e = 0; e < row->count; e++) {
        count += isnan(row->values[e]) != 0;
    }
    return count;
}

rb_row rb_rows_get(const rb_rows *rows, int64_t i) {
    if (!rows->columns) {
        return (rb_row){rows->n_features, NULL, rows->values + i * rows->n_features};
    }
    int64_t skip = rows->starts[i] - rows->starts[0];
    return (rb_row){rows->starts[i + 1] - rows->starts[i], rows->columns + skip,
                    rows->values + skip};
}

static void make_chunk(struct walk *w, int64_t begin, int64_t end, struct piece *piece) {
    const rb_pass *pass = w->pass;
    for (int64_t i = begin; i < end; i++) {
        rb_row row = rb_rows_get(&w->rows, i);
        rb_row_get(w->view, w->begin + i, &row);
        piece->missing += pass->missing ? count_missing(&row) : 0;
    }
    if (pass->checksum) {
        add_checksum(w, begin, end, piece);
    }
    for (int64_t i = begin; pass->options && i < end; i++) {
        rb_row row = rb_rows_get(&w->rows, i);
        int64_t bad = pass->checks ? find_bad(w, row.count, row.values) : -1;
        if (bad >= 0) {
            piece->bad_row = i;
            piece->bad_entry = row.columns ? row.columns[bad] : bad;
            return;
        }
        rb_row_transform(pass->options, &row);
    }
}

static void make_piece(void *arg, int64_t index, int worker) {
    struct walk *w = arg;
    struct piece *piece = &w->pieces[index];
    int64_t begin = index * w->piece_rows, end = begin + w->piece_rows;
    int64_t some = CHUNK_CELLS / (w->rows.n_features + 1) + 1;
    end = end < w->rows.count ? end : w->rows.count;
    (void)worker;
    *piece = (struct piece){.bad_row = -1};
    for (int64_t i = begin; i < end && piece->bad_row < 0; i += some) {
        make_chunk(w, i, end - i < some ? end : i + some, piece);
    }
}

/* ---- a stretch ---- */

/* How many rows from `begin` on; one where a single row is large. */
static int64_t stretch_rows(const rb_matrix *view, int64_t begin) {
    int64_t left = view->n_samples - begin, rows = 1;
    if (!view->sparse) {
        rows = view->n_features > 0 ? STRETCH_CELLS / view->n_features : left;
    }
    while (view->sparse && rows < left &&
           view->starts[begin + rows + 1] - view->starts[begin] <= STRETCH_CELLS) {
        rows++;
    }
    return rows < 1 ? 1 : rows < left ? rows : left;
}

/* Both kinds of views: where the stretch lies. */
static rb_rows rows_of(const struct walk *w, int64_t first, int64_t count) {
    const rb_matrix *view = w->view;
    rb_rows rows = {first + w->begin, count, view->n_features, NULL, NULL, w->rows.values};
    if (view->sparse) {
        rows.starts = view->starts + w->begin;
        rows.columns = view->columns + (rows.starts[0] - view->starts[0]);
    }
    return rows;
}

static rb_error fail_at(rb_context *ctx, const struct walk *w, const struct piece *piece) {
    int64_t row = piece->bad_row;
    return rb_fail_value(ctx, w->pass->options, w->pass->source, w->rows.first + row,
                         piece->bad_entry, rb_matrix_at(w->view, w->begin + row, piece->bad_entry),
                         false);
}

static rb_error make_rows(rb_context *ctx, struct walk *w) {
    const rb_pass *pass = w->pass;
    w->piece_rows = (w->rows.count + PIECES - 1) / PIECES;
    int64_t pieces = (w->rows.count + w->piece_rows - 1) / w->piece_rows;
    rb_parallel(ctx, pieces, make_piece, w);
    for (int64_t k = 0; k < pieces; k++) {
        const struct piece *piece = &w->pieces[k];
        if (piece->bad_row >= 0) {
            return fail_at(ctx, w, piece);
        }
        if (pass->checksum) {
            *pass->checksum = rb_crc32_join(*pass->checksum, piece->checksum, piece->bytes);
        }
        if (pass->missing) {
            *pass->missing += piece->missing;
        }
    }
    return RB_OK;
}

/* Memory for the longest stretch of a view. */
static rb_error reserve(rb_context *ctx, struct walk *w, int64_t *capacity) {
    const rb_matrix *view = w->view;
    int64_t needed = view->n_features > STRETCH_CELLS ? view->n_features : STRETCH_CELLS;
    int64_t all = rb_matrix_stored(view);
    needed = needed < all ? needed : all;
    if (needed <= *capacity && w->rows.values) {
        return RB_OK;
    }
    rb_free(w->rows.values);
    *capacity = 0;
    w->rows.values = rb_alloc(ctx, needed, sizeof *w->rows.values);
    *capacity = w->rows.values ? needed : 0;
    return w->rows.values ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error walk_view(rb_context *ctx, struct walk *w, int64_t first) {
    rb_error err = RB_OK;
    int64_t count;
    for (w->begin = 0; !err && w->begin < w->view->n_samples; w->begin += count) {
        count = stretch_rows(w->view, w->begin);
        w->rows = rows_of(w, first, count);
        err = make_rows(ctx, w);
        if (!err && w->pass->collect) {
            err = w->pass->collect(ctx, w->pass->user, &w->rows);
        }
    }
    return err;
}

rb_error rb_pass_run(rb_context *ctx, const rb_pass *pass) {
    rb_source *source = pass->source;
    int64_t n = source->n_samples, size = BLOCK_CELLS / (source->n_features + 1), capacity = 0;
    size = size < MIN_ROWS ? MIN_ROWS : size;
    struct walk *w = rb_alloc_zero(ctx, 1, sizeof *w);
    if (!w) {
        return RB_ERROR_MEMORY;
    }
    w->ctx = ctx;
    w->pass = pass;
    rb_crc32_prepare(&w->crc);
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_matrix view;
        w->view = &view;
        err = rb_source_read(ctx, source, first, n - first < size ? n - first : size, &view);
        err = err ? err : reserve(ctx, w, &capacity);
        err = err ? err : walk_view(ctx, w, first);
    }
    rb_free(w->rows.values);
    rb_free(w);
    return err;
}

/* ---- checksums ---- */

rb_error rb_matrix_checksum(rb_context *ctx, const rb_matrix *matrix, uint32_t *checksum) {
    rb_source *source;
    *checksum = 0;
    rb_error err = rb_source_from_matrix(ctx, matrix, &source);
    if (!err) {
        err = rb_pass_run(ctx, &(rb_pass){.source = source, .checksum = checksum});
        rb_source_free(source);
    }
    return err;
}

rb_error rb_preprocess_renew(rb_context *ctx, rb_preprocess *p, rb_source *source) {
    uint32_t checksum = 0;
    int64_t missing = 0;
    rb_error err =
        rb_pass_run(ctx, &(rb_pass){.source = source, .checksum = &checksum, .missing = &missing});
    if (!err) {
        p->checksum = checksum;
        p->n_filled = missing;
    }
    return err;
}

/* Passes over the samples of a source as they stand, on all threads, and their checksum.
 *
 * A pass that has a share goes over the groups of samples of this process, whose sums are added in
 * a tree (src/base/tree.c): each process reads its own samples, and all get the sums.
 *
 * A pass walks over stretches of samples that are small enough for the cache. Of a stretch each
 * thread makes pieces: values as float64, their CRC-32, checked and transformed if the pass asks
 * for it. The pieces' checksums are joined in order, and what the pass collects of the stretch
 * follows on all threads.
 */
#include "rows.h"

#include <math.h>
#include <string.h>

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
    int64_t bytes;
    int64_t bad_row, bad_entry; /* the first value that cannot be used; bad_row -1: none */
};

struct walk {
    const rb_context *ctx;
    const rb_pass *pass;
    rb_matrix view;
    int64_t begin;  /* the stretch: row of the view */
    rb_matrix rows; /* the same as float64, transformed */
    rb_buffer values;
    int64_t piece_rows;
    struct piece pieces[PIECES];
    rb_crc32 crc;
    int64_t bytes; /* of the checksum so far */
};

/* ---- a piece ---- */

/* Are there values that totals or log1p cannot take? */
static bool any_below(const rb_preprocess_options *options, int64_t count, const double *values) {
    const double least = options->totals > 0 ? 0 : nextafter(-1, 0);
    int64_t below = 0;
    for (int64_t e = 0; e < count; e++)
        below += values[e] < least;
    return below > 0;
}

/* Infinities cannot be used; NaN unless it is filled or left out; what totals and log1p cannot
 * take. The first such entry, or -1. */
static int64_t find_bad(const struct walk *w, int64_t count, const double *values) {
    const rb_preprocess_options *options = w->pass->options;
    bool plain = options->totals == 0 && !options->log1p;
    double squares = rb_dot(w->ctx, RB_FLOAT64, count, values, values);
    if (isfinite(squares) && (plain || !any_below(options, count, values)))
        return -1; /* else one is not finite, or some are very large */
    for (int64_t e = 0; e < count; e++) {
        bool refused = isnan(values[e]) && options->missing == RB_MISSING_REFUSE;
        if (isinf(values[e]) || refused || !rb_value_fits(options, values[e])) return e;
    }
    return -1;
}

/* Of a sparse row also where its values stand, and how many there are: rows do not run together. */
static void add_checksum(struct walk *w, int64_t begin, int64_t end, struct piece *piece) {
    if (!w->rows.sparse) {
        int64_t bytes = (end - begin) * w->rows.n_features * (int64_t)sizeof(double);
        const double *values = rb_row_of(&w->rows, begin).values;
        piece->checksum = rb_crc32_add(&w->crc, piece->checksum, values, (size_t)bytes);
        piece->bytes += bytes;
    }
    for (int64_t i = begin; w->rows.sparse && i < end; i++) {
        rb_row row = rb_row_of(&w->rows, i);
        size_t places = (size_t)row.count * sizeof *row.columns;
        size_t values = (size_t)row.count * sizeof *row.values;
        uint32_t sum = rb_crc32_add(&w->crc, piece->checksum, &row.count, sizeof row.count);
        sum = rb_crc32_add(&w->crc, sum, row.columns, places);
        piece->checksum = rb_crc32_add(&w->crc, sum, row.values, values);
        piece->bytes += (int64_t)(sizeof row.count + places + values);
    }
}

rb_row rb_row_of(const rb_matrix *rows, int64_t i) {
    const double *values = rows->values;
    int64_t skip = rows->sparse ? rows->starts[i] - rows->starts[0] : i * rows->n_features;
    return (rb_row){rows->sparse ? rows->starts[i + 1] - rows->starts[i] : rows->n_features,
                    rows->sparse ? rows->columns + skip : NULL, (double *)values + skip};
}

int64_t rb_first_from(const int32_t *list, int64_t low, int64_t high, int64_t value) {
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        bool before = list[middle] < value;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

int64_t rb_row_from(const rb_row *row, int64_t k) {
    return row->columns ? rb_first_from(row->columns, 0, row->count, k) : k;
}

static void make_chunk(struct walk *w, int64_t begin, int64_t end, struct piece *piece) {
    const rb_pass *pass = w->pass;
    for (int64_t i = begin; i < end; i++) {
        rb_row row = rb_row_of(&w->rows, i);
        rb_row_get(&w->view, w->begin + i, &row);
    }
    if (pass->checksum) add_checksum(w, begin, end, piece);
    for (int64_t i = begin; pass->options && i < end; i++) {
        rb_row row = rb_row_of(&w->rows, i);
        int64_t bad = pass->any ? -1 : find_bad(w, row.count, row.values);
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
    end = rb_smaller(end, w->rows.n_samples);
    *piece = (struct piece){.bad_row = -1};
    for (int64_t i = begin; i < end && piece->bad_row < 0; i += some)
        make_chunk(w, i, end - i < some ? end : i + some, piece);
}

/* ---- a stretch ---- */

/* How many rows from `begin` on; one where a single row is large. */
static int64_t stretch_rows(const rb_matrix *view, int64_t begin) {
    int64_t left = view->n_samples - begin, rows = 1;
    if (!view->sparse) rows = view->n_features > 0 ? STRETCH_CELLS / view->n_features : left;
    while (view->sparse && rows < left &&
           view->starts[begin + rows + 1] - view->starts[begin] <= STRETCH_CELLS)
        rows++;
    return rows < 1 ? 1 : rb_smaller(rows, left);
}

static rb_error make_rows(rb_context *ctx, struct walk *w, int64_t first) {
    const rb_pass *pass = w->pass;
    w->piece_rows = (w->rows.n_samples + PIECES - 1) / PIECES;
    int64_t pieces = (w->rows.n_samples + w->piece_rows - 1) / w->piece_rows;
    rb_parallel(ctx, pieces, make_piece, w);
    for (int64_t k = 0; k < pieces; k++) {
        const struct piece *piece = &w->pieces[k];
        if (piece->bad_row >= 0) {
            double value = rb_matrix_at(&w->view, w->begin + piece->bad_row, piece->bad_entry);
            return rb_fail_value(ctx, pass->options, pass->source, first + piece->bad_row,
                                 piece->bad_entry, value, false);
        }
        if (pass->checksum)
            *pass->checksum = rb_crc32_join(*pass->checksum, piece->checksum, piece->bytes);
        w->bytes += piece->bytes;
    }
    return RB_OK;
}

/* A view whose first sample is `first`, stretch by stretch. */
static rb_error walk_view(rb_context *ctx, struct walk *w, int64_t first) {
    const rb_matrix *view = &w->view;
    rb_error err = RB_OK;
    if (w->pass->stored) *w->pass->stored += rb_matrix_stored(view);
    for (w->begin = 0; !err && w->begin < view->n_samples; w->begin += w->rows.n_samples) {
        w->rows = rb_matrix_part(view, w->begin, stretch_rows(view, w->begin));
        err = rb_buffer_hold(ctx, &w->values, rb_matrix_stored(&w->rows), sizeof(double));
        w->rows.type = RB_FLOAT64;
        w->rows.values = w->values.data;
        w->rows.row_stride = view->n_features;
        w->rows.column_stride = 1;
        err = err ? err : make_rows(ctx, w, first + w->begin);
        if (!err && w->pass->collect)
            w->pass->collect(ctx, w->pass->user, &w->rows, first + w->begin);
    }
    return err;
}

static rb_error walk_samples(rb_context *ctx, struct walk *w, int64_t first, int64_t end) {
    rb_source *source = w->pass->source;
    int64_t size = BLOCK_CELLS / (source->n_features + 1);
    size = size < MIN_ROWS ? MIN_ROWS : size;
    rb_error err = RB_OK;
    for (; !err && first < end; first += size) {
        err = rb_source_read(ctx, source, first, rb_smaller(end - first, size), &w->view);
        err = err ? err : walk_view(ctx, w, first);
    }
    return err;
}

/* ---- shares of several processes ---- */

rb_share rb_share_of(const rb_context *ctx, const rb_source *source, bool together) {
    int64_t n = source->n_samples, values = 4 * source->n_features;
    int64_t groups = rb_tree_groups(n, 1, rb_tree_fewest(source->sparse), values);
    int64_t rank = together ? rb_rank(ctx) : 0, ranks = together ? rb_ranks(ctx) : 1;
    rb_share s = {.n_samples = n,
                  .groups = groups,
                  .first = rb_group_of(groups, rank, ranks),
                  .end = rb_group_of(groups, rank + 1, ranks),
                  .together = together && ranks > 1};
    for (int64_t r = 0; r < ranks; r++) {
        int64_t samples = rb_share_sample(&s, rb_group_of(groups, r + 1, ranks)) -
                          rb_share_sample(&s, rb_group_of(groups, r, ranks));
        s.most = samples > s.most ? samples : s.most;
    }
    return s;
}

rb_error rb_share_agree(rb_context *ctx, const rb_share *share, rb_error err) {
    return share->together ? rb_comm_agree(ctx, err) : err;
}

static rb_error walk_group(rb_context *ctx, struct walk *w, int64_t group) {
    const rb_pass *pass = w->pass;
    rb_error err = RB_OK;
    for (int t = 0; !err && t < PASS_TREES && pass->trees[t]; t++) {
        rb_tree *tree = pass->trees[t];
        void *sums = rb_tree_next(tree);
        if (sums) memset(sums, 0, (size_t)tree->count * tree->size);
        err = sums ? RB_OK : RB_ERROR_MEMORY;
    }
    if (!err)
        err = walk_samples(ctx, w, rb_share_sample(pass->share, group),
                           rb_share_sample(pass->share, group + 1));
    for (int t = 0; !err && t < PASS_TREES && pass->trees[t]; t++)
        rb_tree_join(pass->trees[t]);
    return err;
}

/* Of the samples of all processes; memory: two numbers for each of them. */
static void join_checksums(rb_context *ctx, uint32_t *checksum, int64_t bytes, int64_t *memory) {
    int ranks = rb_ranks(ctx);
    memory[2 * rb_rank(ctx)] = *checksum;
    memory[2 * rb_rank(ctx) + 1] = bytes;
    rb_comm_count(ctx, 2 * ranks, memory);
    *checksum = 0;
    for (int r = 0; r < ranks; r++)
        *checksum = rb_crc32_join(*checksum, (uint32_t)memory[2 * r], memory[2 * r + 1]);
}

static rb_error walk_share(rb_context *ctx, struct walk *w) {
    const rb_pass *pass = w->pass;
    const rb_share *share = pass->share;
    int64_t *memory = rb_alloc_zero(ctx, 2 * rb_ranks(ctx), sizeof *memory);
    rb_error err = memory ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t g = share->first; !err && g < share->end; g++)
        err = walk_group(ctx, w, g);
    for (int t = 0; !err && t < PASS_TREES && pass->trees[t]; t++)
        err = rb_tree_close(pass->trees[t]);
    err = rb_share_agree(ctx, share, err);
    for (int t = 0; !err && share->together && t < PASS_TREES && pass->trees[t]; t++)
        rb_tree_end(pass->trees[t]);
    if (!err && share->together && pass->checksum)
        join_checksums(ctx, pass->checksum, w->bytes, memory);
    if (!err && share->together && pass->stored) rb_comm_count(ctx, 1, pass->stored);
    rb_free(memory);
    return err;
}

rb_error rb_pass_run(rb_context *ctx, const rb_pass *pass) {
    struct walk w = {.ctx = ctx, .pass = pass};
    rb_crc32_prepare(&w.crc);
    rb_error err =
        pass->share ? walk_share(ctx, &w) : walk_samples(ctx, &w, 0, pass->source->n_samples);
    rb_free(w.values.data);
    return err;
}

/* ---- checksums ---- */

rb_error rb_source_collect(rb_context *ctx, rb_source *source, uint32_t *checksum,
                           rb_collect_fn collect, void *user) {
    *checksum = 0;
    return rb_pass_run(
        ctx, &(rb_pass){.source = source, .checksum = checksum, .collect = collect, .user = user});
}

rb_error rb_source_checksum(rb_context *ctx, rb_source *source, uint32_t *checksum) {
    return rb_source_collect(ctx, source, checksum, NULL, NULL);
}

rb_error rb_matrix_checksum(rb_context *ctx, const rb_matrix *matrix, uint32_t *checksum) {
    rb_source source;
    rb_source_of_matrix(matrix, &source);
    return rb_source_checksum(ctx, &source, checksum);
}

static void add_rows(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    rb_moments_add(ctx, rb_tree_next(user), rows);
}

rb_error rb_preprocess_renew(rb_context *ctx, rb_preprocess *p, rb_source *source, bool together) {
    uint32_t checksum = 0;
    int64_t stored = 0;
    rb_tree tree = {0};
    const rb_share share = rb_share_of(ctx, source, together);
    rb_pass pass = {.source = source,
                    .options = &p->options,
                    .any = true, /* features that are not in use may be anything */
                    .share = &share,
                    .trees = {&tree},
                    .checksum = &checksum,
                    .stored = &stored,
                    .collect = add_rows,
                    .user = &tree};
    rb_moments_begin(ctx, &tree, source->n_features);
    rb_error err = rb_pass_run(ctx, &pass);
    rb_moments *moments = rb_moments_take(&tree);
    rb_tree_free(&tree);
    if (err) {
        rb_free(moments);
        return err;
    }
    rb_free(p->moments);
    p->checksum = checksum;
    p->n_stored = stored;
    p->n_filled = rb_moments_end(moments, source->n_features, source->n_samples);
    p->moments = p->regress ? NULL : moments; /* of what is left the blocks tell */
    if (p->regress) rb_free(moments);
    return RB_OK;
}

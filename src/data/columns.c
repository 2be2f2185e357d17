/* A source of compressed columns: blocks of samples as compressed rows, with nothing copied whole.
 *
 * Each feature has a cursor, the first of its entries at or after the next sample; a walk over the
 * samples in order moves every cursor once over its entries, and a jump looks them up anew. */
#include "rows.h"

#include <string.h>

struct columns {
    const int64_t *column_starts; /* n_features + 1 */
    const int32_t *rows;
    const void *values;
    int64_t next;      /* the sample that cursors stand before */
    rb_buffer cursors; /* n_features */
    rb_buffer starts, columns, block_values;
};

static void go_to(struct columns *c, int64_t n_features, int64_t sample) {
    int64_t *cursors = c->cursors.data;
    for (int64_t k = 0; c->next != sample && k < n_features; k++)
        cursors[k] = rb_first_from(c->rows, c->column_starts[k], c->column_starts[k + 1], sample);
    c->next = sample;
}

/* Makes starts[i + 1] the place where the entries of sample i begin, as put_entries needs it;
 * returns how many entries there are. */
static int64_t count_entries(const struct columns *c, int64_t n_features, int64_t first,
                             int64_t count, int64_t *starts) {
    const int64_t *cursors = c->cursors.data;
    memset(starts, 0, (size_t)(count + 2) * sizeof *starts);
    for (int64_t k = 0; k < n_features; k++)
        for (int64_t e = cursors[k]; e < c->column_starts[k + 1] && c->rows[e] < first + count; e++)
            starts[c->rows[e] - first + 2]++;
    for (int64_t i = 2; i < count + 2; i++)
        starts[i] += starts[i - 1];
    return starts[count + 1];
}

/* In the order of features, so that the columns of each row ascend. */
static void put_entries(struct columns *c, rb_type type, int64_t n_features, int64_t first,
                        int64_t count) {
    int64_t *cursors = c->cursors.data, *starts = c->starts.data;
    int32_t *columns = c->columns.data;
    for (int64_t k = 0; k < n_features; k++) {
        int64_t e = cursors[k], end = c->column_starts[k + 1];
        for (; e < end && c->rows[e] < first + count; e++) {
            int64_t to = starts[c->rows[e] - first + 1]++;
            columns[to] = (int32_t)k;
            rb_put(type, c->block_values.data, to, rb_get(type, c->values, e));
        }
        cursors[k] = e;
    }
}

static rb_error read_columns(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                             rb_matrix *view) {
    struct columns *c = source->state;
    int64_t m = source->n_features;
    rb_error err = rb_buffer_hold(ctx, &c->starts, count + 2, sizeof(int64_t));
    if (err) return err;
    go_to(c, m, first);
    int64_t stored = count_entries(c, m, first, count, c->starts.data);
    err = rb_buffer_hold(ctx, &c->columns, stored, sizeof(int32_t));
    err = err ? err : rb_buffer_hold(ctx, &c->block_values, stored, rb_type_size(source->type));
    if (err) return err;
    put_entries(c, source->type, m, first, count);
    c->next = first + count;
    *view = (rb_matrix){.n_samples = count,
                        .n_features = m,
                        .type = source->type,
                        .sparse = true,
                        .values = c->block_values.data,
                        .starts = c->starts.data,
                        .columns = c->columns.data};
    return RB_OK;
}

static void close_columns(rb_source *source) {
    struct columns *c = source->state;
    rb_free(c->cursors.data);
    rb_free(c->starts.data);
    rb_free(c->columns.data);
    rb_free(c->block_values.data);
    rb_free(c);
}

/* What rb_csr_check says of rows is true of columns here. */
static rb_error check(rb_context *ctx, int64_t n_samples, int64_t n_features, const int64_t *starts,
                      const int32_t *rows) {
    if (n_samples < 0 || n_features < 0 || n_samples > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "compressed columns cannot have %lld samples x %lld features",
                       (long long)n_samples, (long long)n_features);
    }
    rb_error err = rb_csr_check(ctx, n_features, n_samples, starts, rows);
    if (err) rb_fail_prefix(ctx, "compressed columns, with rows and columns exchanged: ");
    return err;
}

rb_error rb_source_from_csc(rb_context *ctx, rb_type type, int64_t n_samples, int64_t n_features,
                            const int64_t *starts, const int32_t *rows, const void *values,
                            rb_source **out) {
    *out = NULL;
    rb_error err = rb_check_type(ctx, type);
    err = err ? err : check(ctx, n_samples, n_features, starts, rows);
    struct columns state = {.column_starts = starts, .rows = rows, .values = values, .next = -1};
    rb_source like = {.n_samples = n_samples,
                      .n_features = n_features,
                      .type = type,
                      .sparse = true,
                      .read = read_columns,
                      .close = close_columns};
    err = err ? err : rb_buffer_hold(ctx, &state.cursors, n_features, sizeof(int64_t));
    err = err ? err : rb_source_make(ctx, &like, &state, sizeof state, out);
    if (err) rb_free(state.cursors.data);
    return err;
}

/* Rows of matrices one behind the other, in memory that is used again. */
#include "data.h"

#include <string.h>

void rb_appended_free(rb_appended *a) {
    rb_free(a->values.data);
    rb_free(a->starts.data);
    rb_free(a->columns.data);
    *a = (rb_appended){0};
}

static void show(rb_appended *a) {
    a->rows.values = a->values.data;
    a->rows.starts = a->starts.data;
    a->rows.columns = a->columns.data;
}

rb_error rb_append_begin(rb_context *ctx, rb_appended *a, const rb_source *like, int64_t count) {
    int64_t m = like->n_features;
    size_t size = rb_type_size(like->type);
    a->rows = (rb_matrix){0, m, like->type, like->sparse, NULL, m, 1};
    rb_error err = like->sparse ? rb_buffer_hold(ctx, &a->starts, count + 1, sizeof(int64_t))
                                : rb_buffer_hold(ctx, &a->values, count, (size_t)m * size);
    if (!err && like->sparse) { /* also where nothing is stored */
        memset(a->starts.data, 0, sizeof(int64_t));
        err = rb_buffer_hold(ctx, &a->columns, 1, sizeof(int32_t));
        err = err ? err : rb_buffer_hold(ctx, &a->values, 1, size);
    }
    show(a);
    return err;
}

static rb_error append_entries(rb_context *ctx, rb_appended *a, const rb_matrix *view) {
    size_t size = rb_type_size(view->type);
    int64_t at = a->rows.n_samples, *starts = a->starts.data, used = starts[at];
    int64_t more = rb_matrix_stored(view), needed = used + more;
    int64_t capacity = needed > a->values.capacity ? 2 * needed : needed;
    if (rb_buffer_hold(ctx, &a->columns, capacity, sizeof(int32_t)) ||
        rb_buffer_hold(ctx, &a->values, capacity, size))
        return RB_ERROR_MEMORY;
    memcpy((int32_t *)a->columns.data + used, view->columns, (size_t)more * sizeof(int32_t));
    memcpy((char *)a->values.data + (size_t)used * size, view->values, (size_t)more * size);
    for (int64_t i = 0; i < view->n_samples; i++)
        starts[at + i + 1] = used + view->starts[i + 1] - view->starts[0];
    return RB_OK;
}

rb_error rb_append(rb_context *ctx, rb_appended *a, const rb_matrix *view) {
    const rb_target to = {a->rows.type, a->values.data, a->rows.n_features, 1};
    rb_error err = RB_OK;
    if (view->sparse)
        err = append_entries(ctx, a, view);
    else
        rb_matrix_copy(view, a->rows.n_samples, &to);
    a->rows.n_samples += view->n_samples;
    show(a);
    return err;
}

/* A copy of fitted preprocessing, for a model that starts from another one. */
#include "model.h"

#include <string.h>

/* Copies count values; a copy of NULL is NULL. False when memory is out. */
static bool copy_values(rb_context *ctx, const void *from, int64_t count, size_t size, void **to) {
    *to = NULL;
    if (!from) {
        return true;
    }
    *to = rb_alloc(ctx, count, size);
    if (*to) {
        memcpy(*to, from, (size_t)count * size);
    }
    return *to != NULL;
}

rb_preprocess *rb_preprocess_copy(rb_context *ctx, const rb_preprocess *p) {
    rb_preprocess *copy = rb_alloc(ctx, 1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = *p;
    copy->names = NULL;
    bool done =
        copy_values(ctx, p->selected, p->n_features, sizeof *p->selected, (void **)&copy->selected);
    done &= copy_values(ctx, p->centre, p->n_features, sizeof *p->centre, (void **)&copy->centre);
    done &= copy_values(ctx, p->scale, p->n_features, sizeof *p->scale, (void **)&copy->scale);
    done &= copy_values(ctx, p->fill, p->n_features, sizeof *p->fill, (void **)&copy->fill);
    if (done && p->names) {
        copy->names = rb_names_copy(ctx, (const char *const *)p->names->text, p->names->count);
        done = copy->names != NULL;
    }
    if (!done) {
        rb_preprocess_free(copy);
        return NULL;
    }
    return copy;
}

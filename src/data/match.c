/* Matching the features of new data to those of a model, by name or by position. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

/* Tells which features are not in the data, "A, B, C and 4 more", and how many are there for
 * nothing. */
static rb_error report(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                       const int64_t *input_of) {
    enum { SHOWN = 5 };
    char text[512] = "", more[40] = "";
    int64_t missing = 0;
    for (int64_t k = 0; k < p->n_features; k++) {
        if (input_of[k] < 0 && missing++ < SHOWN) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", p->names->text[k]);
        }
    }
    if (missing == p->n_features) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "none of the model's %lld features is in the data by name: the model's "
                       "first is '%s', the data's first is '%s'; is the file transposed?",
                       (long long)missing, p->names->text[0], source->feature_names->text[0]);
    }
    if ((double)(p->n_features - missing) < ctx->min_shared * (double)p->n_features) {
        return rb_fail(
            ctx, RB_ERROR_DATA,
            "only %lld of the model's %lld features are in the data by name, less than a share of "
            "%g; use data with the features of the model, or lower `min-shared`",
            (long long)(p->n_features - missing), (long long)p->n_features, ctx->min_shared);
    }
    if (missing > SHOWN)
        snprintf(more, sizeof more, " and %lld more", (long long)(missing - SHOWN));
    if (missing > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld of the model's %lld features are not in the data and are set to their "
               "training centre: %s%s",
               (long long)missing, (long long)p->n_features, text, more);
    }
    int64_t extra = source->n_features - (p->n_features - missing);
    if (!p->selected && extra > 0) {
        rb_log(ctx, RB_LOG_INFO, "%lld features of the data are not in the model and are ignored",
               (long long)extra);
    }
    return RB_OK;
}

static rb_error match_names(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                            int64_t *input_of) {
    int64_t count = source->n_features, guessed = 0;
    const char *example = NULL;
    rb_named *sorted = rb_names_sort(ctx, source->feature_names);
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < p->n_features; k++) {
        /* A name that stands twice is taken by its place where that fits. */
        int64_t place = p->selected ? p->selected[k] : k;
        bool there =
            place < count && strcmp(source->feature_names->text[place], p->names->text[k]) == 0;
        int64_t first = there ? -1 : rb_names_find(sorted, count, p->names->text[k]);
        input_of[k] = there ? place : first < 0 ? -1 : sorted[first].index;
        if (first >= 0 && first + 1 < count &&
            strcmp(sorted[first].text, sorted[first + 1].text) == 0) {
            guessed++;
            example = p->names->text[k];
        }
    }
    rb_free(sorted);
    if (guessed > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld feature names are not unique in the data ('%s' for one); the first of each is "
               "used",
               (long long)guessed, example);
    }
    return report(ctx, p, source, input_of);
}

rb_error rb_match_features(rb_context *ctx, const rb_preprocess *p, const rb_source *source,
                           int64_t **out) {
    *out = NULL;
    int64_t *input_of = rb_alloc(ctx, p->n_features, sizeof *input_of);
    rb_error err = RB_OK;
    if (!input_of) return RB_ERROR_MEMORY;
    if (p->names && source->feature_names) {
        err = match_names(ctx, p, source, input_of);
    } else if (source->n_features == p->n_input || source->n_features == p->n_features) {
        bool selects = p->selected && source->n_features == p->n_input;
        for (int64_t k = 0; k < p->n_features; k++)
            input_of[k] = selects ? p->selected[k] : k;
    } else {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "the data have %lld features, but the model was fitted to %lld; is the file "
                      "transposed?",
                      (long long)source->n_features, (long long)p->n_input);
    }
    bool identity = !err && source->n_features == p->n_features;
    for (int64_t k = 0; identity && k < p->n_features; k++)
        identity = input_of[k] == k;
    if (err || identity) {
        rb_free(input_of);
        return err;
    }
    *out = input_of;
    return RB_OK;
}

/* Which features in use of a model are in which set: found by name. */
#include "modules.h"

#include <string.h>

void rb_set_members_clear(rb_set_members *m) {
    rb_free(m->set);
    rb_free(m->start);
    rb_free(m->feature.data);
    *m = (rb_set_members){0};
}

/* What names are found by, and what was found. */
typedef struct matching {
    const rb_model *model;
    const rb_feature_sets *sets;
    rb_named *sorted; /* features in use by name */
    int64_t n;        /* features in use */
    int64_t *seen;    /* n: the last set, from 1, that a feature is in */
    rb_named *names;  /* of the sets, sorted */
    int64_t *kept;    /* of each set: which of the members it is; -1: it is left out */
    int64_t repeated; /* sets that are as one before */
    int64_t n_names, found;
    const char *stranger; /* the first name of a set that no feature has */
} matching;

/* The features of one set, each once; several features may have one name. */
static rb_error match_set(rb_context *ctx, matching *m, int64_t set, rb_set_members *members,
                          int64_t *used) {
    int64_t size = rb_feature_sets_size(m->sets, set);
    m->n_names += size;
    for (int64_t i = 0; i < size; i++) {
        const char *name = rb_feature_sets_member(m->sets, set, i);
        int64_t at = rb_names_find(m->sorted, m->n, name);
        m->found += at >= 0;
        if (at < 0 && !m->stranger) m->stranger = name;
        for (; at >= 0 && at < m->n && strcmp(m->sorted[at].text, name) == 0; at++) {
            int64_t feature = m->sorted[at].index;
            if (m->seen[feature] == set + 1) continue;
            m->seen[feature] = set + 1;
            if (*used == members->feature.capacity &&
                rb_buffer_hold(ctx, &members->feature, 2 * *used + 1024, sizeof feature))
                return RB_ERROR_MEMORY;
            ((int64_t *)members->feature.data)[(*used)++] = feature;
        }
    }
    return RB_OK;
}

/* Says where few names were found; nothing is wrong where the sets are few. */
static rb_error check_found(rb_context *ctx, const matching *m) {
    int64_t in_sets = 0;
    const char *first = rb_model_feature_name(m->model, 0);
    for (int64_t k = 0; k < m->n; k++)
        in_sets += m->seen[k] > 0;
    if (in_sets == 0) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "no name in the sets is one of the model's %lld features: the first feature "
                       "is '%s', the first name in the sets '%s'; give sets with names of the same "
                       "kind",
                       (long long)m->n, first ? first : "", m->stranger ? m->stranger : "");
    }
    if (10 * in_sets < m->n && 10 * m->found < m->n_names) {
        rb_log(ctx, RB_LOG_WARNING,
               "only %lld of the model's %lld features are in a set, and %lld of %lld names in the "
               "sets are features: the first feature is '%s', a name that is not among them is "
               "'%s'; are the "
               "names of the same kind?",
               (long long)in_sets, (long long)m->n, (long long)m->found, (long long)m->n_names,
               first, m->stranger);
    }
    return RB_OK;
}

/* Was a set before of this name and these features? The last one matched, of `size` features. */
static bool is_repeated(const matching *m, const rb_set_members *members, int64_t set,
                        int64_t size) {
    const int64_t *features = members->feature.data;
    const char *name = rb_feature_sets_name(m->sets, set);
    int64_t at = rb_names_find(m->names, m->sets->count, name);
    for (; m->names[at].index != set; at++) {
        int64_t before = m->kept[m->names[at].index], same = 0;
        if (before < 0 || members->start[before + 1] - members->start[before] != size) continue;
        while (same < size && m->seen[features[members->start[before] + same]] == set + 1)
            same++;
        if (same == size) return true;
    }
    return false;
}

/* Sets of fewer or more features than asked for are left out again, and those that were there. */
static rb_error match_all(rb_context *ctx, matching *m, int64_t least, int64_t most,
                          rb_set_members *members) {
    int64_t used = 0;
    rb_error err = RB_OK;
    for (int64_t s = 0; s < m->sets->count && !err; s++) {
        members->start[members->count] = used;
        err = match_set(ctx, m, s, members, &used);
        int64_t size = used - members->start[members->count];
        bool fits = size >= least && size <= most;
        bool repeated = !err && fits && is_repeated(m, members, s, size);
        members->n_small += size < least;
        members->n_large += size > most;
        m->repeated += repeated;
        m->kept[s] = fits && !repeated ? members->count : -1;
        if (m->kept[s] >= 0) {
            members->set[members->count++] = s;
            members->start[members->count] = used;
        } else {
            used -= size;
        }
    }
    if (!err) members->start[members->count] = used;
    err = err ? err : check_found(ctx, m);
    if (!err && m->repeated > 0) {
        rb_log(ctx, RB_LOG_INFO, "%lld of the sets %s given more than once, and tested once",
               (long long)m->repeated, m->repeated == 1 ? "is" : "are");
    }
    if (!err && members->count == 0) {
        err = rb_fail(ctx, RB_ERROR_DATA,
                      "no set is tested: %lld have fewer than %lld of the features in use, %lld "
                      "more than %lld; change `gmt-min` or `gmt-max`",
                      (long long)members->n_small, (long long)least, (long long)members->n_large,
                      (long long)most);
    }
    return err;
}

/* The sets by name, which do not move. */
static rb_error sort_sets(rb_context *ctx, matching *m, rb_scratch *scratch) {
    int64_t count = m->sets->count;
    const char **text = rb_take(scratch, count, sizeof *text);
    m->kept = rb_take(scratch, count, sizeof *m->kept);
    if (scratch->err) return scratch->err;
    for (int64_t s = 0; s < count; s++)
        text[s] = rb_feature_sets_name(m->sets, s);
    const rb_names names = {count, (char **)text};
    m->names = rb_names_sort(ctx, &names);
    return m->names ? RB_OK : RB_ERROR_MEMORY;
}

rb_error rb_sets_match(rb_context *ctx, const rb_model *model, const rb_feature_sets *sets,
                       const rb_sets_options *options, rb_set_members *members) {
    matching m = {.model = model, .sets = sets, .n = rb_model_features(model)};
    rb_scratch scratch = {.ctx = ctx};
    const char **text = rb_take(&scratch, m.n, sizeof *text);
    m.seen = rb_take(&scratch, m.n, sizeof *m.seen);
    *members = (rb_set_members){0};
    members->set = rb_alloc(ctx, sets->count, sizeof *members->set);
    members->start = rb_alloc(ctx, sets->count + 1, sizeof *members->start);
    rb_error err = scratch.err || !members->set || !members->start ? RB_ERROR_MEMORY : RB_OK;
    for (int64_t k = 0; !err && k < m.n; k++) {
        text[k] = rb_model_feature_name(model, k);
        if (!text[k]) {
            err = rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                          "the model has no feature names, which sets need; fit data with names");
        }
    }
    const rb_names names = {m.n, (char **)text};
    m.sorted = err ? NULL : rb_names_sort(ctx, &names);
    err = err || m.sorted ? err : RB_ERROR_MEMORY;
    err = err ? err : sort_sets(ctx, &m, &scratch);
    err = err ? err : match_all(ctx, &m, options->min, options->max, members);
    rb_free(m.sorted);
    rb_free(m.names);
    scratch.err = err;
    err = rb_scratch_end(&scratch);
    if (err) rb_set_members_clear(members);
    return err;
}

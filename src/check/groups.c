/* Groups that names tell (cell-1, cell-2; A_07; tumour3): do they differ?
 *
 * A name is read in three ways: what comes behind its last separator, before its first one, and
 * before its first digit. A way with 2 to 20 groups that has nine tenths of the samples in groups
 * of at least five is tested by Kruskal and Wallis (ranks.c) on the leading components. */
#include "check.h"

#include <math.h>
#include <string.h>

enum { MIN_MEMBERS = 5 };
static const double covered = 0.9, max_p = 5e-7, min_share = 0.3;
static const char separators[] = "-_.: ";

static const char *const wheres[] = {"end", "begin", "begin"};
enum { WAYS = 3 };

/* The group in a name: where it begins, and its length. */
static const char *group_of(const char *name, int way, size_t *length) {
    const char *digit = name + strcspn(name, "0123456789");
    const char *last = name;
    for (const char *c = name; *c; c++)
        if (strchr(separators, *c)) last = c + 1;
    *length = way == 0   ? strlen(last)
              : way == 1 ? strcspn(name, separators)
                         : (size_t)(digit - name);
    if (way == 0 && last == name) *length = 0;
    return way == 0 ? last : name;
}

typedef struct group {
    const char *text;
    size_t length;
} group;

typedef struct grouping {
    group list[RB_CHECK_GROUPS];
    double counts[RB_CHECK_GROUPS],
        ranks[RB_CHECK_GROUPS]; /* samples, and the sum of their ranks */
    int count;
    int *of; /* part_n */
} grouping;

/* The group of a text, which is added where there is room; -1: there is none. */
static int find_group(grouping *g, const char *text, size_t length) {
    int found = 0;
    while (found < g->count &&
           (g->list[found].length != length || memcmp(g->list[found].text, text, length) != 0))
        found++;
    if (found == RB_CHECK_GROUPS) return -1;
    if (found == g->count) {
        g->counts[found] = 0;
        g->list[g->count++] = (group){text, length};
    }
    g->counts[found]++;
    return found;
}

static bool make_groups(const rb_look *look, int way, grouping *g) {
    double inside = 0;
    g->count = 0;
    for (int64_t i = 0; i < look->part_n; i++) {
        size_t length;
        int64_t sample = rb_look_sample(look, look->part_samples[i]);
        const char *text = group_of(rb_source_sample_name(look->source, sample), way, &length);
        g->of[i] = find_group(g, text, length);
        if (g->of[i] < 0) return false;
    }
    for (int c = 0; c < g->count; c++)
        inside += g->counts[c] >= MIN_MEMBERS ? g->counts[c] : 0;
    return g->count >= 2 && inside >= covered * (double)look->part_n;
}

static void keep_groups(rb_look *look, const grouping *g, int way, int component, double share) {
    look->n_groups = g->count;
    look->group_where = wheres[way];
    look->group_component = component;
    look->group_share = share;
    for (int c = 0; c < g->count && c < RB_CHECK_SHOWN; c++) {
        size_t most = sizeof look->groups[c] - 1, length = g->list[c].length;
        length = length < most ? length : most;
        memcpy(look->groups[c], g->list[c].text, length);
        look->groups[c][length] = '\0';
    }
}

static void test_groups(rb_look *look, grouping *g, int way, int component, const rb_ranking *r) {
    double log_p;
    for (int c = 0; c < g->count; c++)
        g->ranks[c] = 0;
    for (int64_t i = 0; i < look->part_n; i++)
        g->ranks[g->of[i]] += r->ranks[i];
    if (r->most.count == r->n) return; /* all scores are equal */
    double share = rb_ranking_groups(r, g->count, g->ranks, g->counts, &log_p);
    share /= (double)(look->part_n - 1);
    if (log_p < log(max_p) && share > min_share && share > look->group_share)
        keep_groups(look, g, way, component, share);
}

static rb_error find_groups(rb_look *look, grouping *g, rb_ranking *ranking) {
    rb_error err = RB_OK;
    for (int way = 0; !err && way < WAYS; way++) {
        if (!make_groups(look, way, g)) continue;
        for (int c = 0; !err && c < RB_CHECK_LED && c < look->above_chance; c++) {
            err = rb_look_rank(look, c, ranking);
            if (!err) test_groups(look, g, way, c, ranking);
        }
    }
    return err;
}

rb_error rb_look_find_groups(rb_look *look) {
    if (!look->row.there || look->above_chance == 0) return RB_OK;
    rb_ranking ranking;
    rb_error err = rb_ranking_begin(look->ctx, &ranking, look->part_n);
    if (err) return err;
    grouping g = {.of = rb_alloc(look->ctx, look->part_n, sizeof *g.of)};
    err = g.of ? find_groups(look, &g, &ranking) : RB_ERROR_MEMORY;
    rb_free(g.of);
    rb_ranking_clear(&ranking);
    return err;
}

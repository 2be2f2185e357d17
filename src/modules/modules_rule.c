/* Membership rules: the options, their words, and where a sorted list is cut. */
#include "modules.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option table[] = {
    {"rule", 0, RB_OPTION_TEXT, offsetof(rb_modules_options, rule), NULL, 0, 0, NULL, "RULE",
     "rule of membership: nonzero, fabia, active, test, top:N or mass:F. Default: active for "
     "binary causes, nonzero for clusters and codes that rfn keeps sparse; else, and for sparse "
     "loadings, test from 25 features on, fabia below (rbm: active)",
     RB_OPTION_COMMON},
    {"sample-threshold", 0, RB_OPTION_NUMBER, offsetof(rb_modules_options, sample_threshold), "0.5",
     0, DBL_MAX, NULL, "T",
     "fabia: threshold of a sample's code (the mean square of a unit's codes is 1)"},
    {"feature-threshold", 0, RB_OPTION_NUMBER, offsetof(rb_modules_options, feature_threshold),
     "0.7", DBL_MIN, DBL_MAX, NULL, "T",
     "nonzero, fabia and active: divisor of the weight threshold of features; larger admits more"},
    {"best", 0, RB_OPTION_INTEGER, offsetof(rb_modules_options, best), "0", 0, DBL_MAX, NULL, "N",
     "show the N modules that rank first (0: all); tests are corrected for all", RB_OPTION_COMMON},
    {"level", 0, RB_OPTION_NUMBER, offsetof(rb_modules_options, level), "0", 0, 0.5, NULL, "P",
     "test: false discovery rate of a module's features, and error probability of its samples (0: "
     "0.1, but 0.2 below 100 features)"},
    {0},
};

const rb_option_group *rb_modules_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Modules", table,
                                          sizeof(rb_modules_options), NULL};
    return &group;
}

static bool parse_top(const char *text, int64_t *top) {
    char *end;
    errno = 0;
    *top = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *top > 0;
}

static bool parse_share(const char *text, double *share) {
    const char *end = text + strlen(text);
    return rb_number_scan(text, end, share) == end && *share > 0 && *share <= 1;
}

rb_error rb_rule_parse(rb_context *ctx, const char *text, rb_rule *rule) {
    static const char *const words[] = {
        [RB_RULE_NONZERO] = "nonzero", [RB_RULE_FABIA] = "fabia", [RB_RULE_ACTIVE] = "active",
        [RB_RULE_TOP] = "top:",        [RB_RULE_MASS] = "mass:",  [RB_RULE_TEST] = "test",
    };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strncmp(text, words[k], strlen(words[k])) == 0) {
            const char *rest = text + strlen(words[k]);
            *rule = (rb_rule){.kind = (rb_rule_kind)k};
            if (k == RB_RULE_TOP    ? parse_top(rest, &rule->top)
                : k == RB_RULE_MASS ? parse_share(rest, &rule->share)
                                    : *rest == '\0')
                return RB_OK;
        }
    }
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`rule` is '%s', but must be nonzero, fabia, active, test, top:N (N at least 1) "
                   "or mass:F (F "
                   "above 0 and at most 1)",
                   text);
}

/* The fewest of the largest whose squares sum to `share` of all. */
static int64_t cut_mass(double share, const rb_member *members, int64_t count) {
    double total = 0, sum = 0;
    for (int64_t d = 0; d < count; d++)
        total += members[d].weight * members[d].weight;
    int64_t kept = 0;
    for (; kept < count && sum < share * total; kept++)
        sum += members[kept].weight * members[kept].weight;
    return kept;
}

int64_t rb_rule_cut(const rb_rule *rule, const rb_member *members, int64_t count) {
    return rule->kind == RB_RULE_TOP && rule->top < count ? rule->top
           : rule->kind == RB_RULE_MASS                   ? cut_mass(rule->share, members, count)
                                                          : count;
}

static int by_weight(const void *a, const void *b) {
    const rb_member *x = a, *y = b;
    double left = fabs(x->weight), right = fabs(y->weight);
    if (left != right) return left > right ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void rb_members_sort(rb_member *members, int64_t count) {
    if (count > 1) /* members may be NULL when there are none */
        qsort(members, (size_t)count, sizeof *members, by_weight);
}

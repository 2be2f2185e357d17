/* What a cause may be besides 0, and how probable that is: the options values and value-prior.
 *
 * The derivation holds for any few discrete values (Luecke and Eggert 2010, section 5.2): the sets
 * of states are those of few causes that are not 0, whatever their values. */
#include "engine.h"

#include <math.h>
#include <string.h>

/* At most `max` numbers between commas; -1 for anything else. */
static int numbers(const char *text, int max, double *out) {
    const char *stop = text + strlen(text), *rest = text;
    for (int count = 0; count < max; rest++) {
        rest = rb_number_scan(rest, stop, &out[count]);
        if (!rest || !isfinite(out[count++])) return -1;
        if (rest == stop) return count;
        if (*rest != ',') return -1;
    }
    return -1;
}

/* Values other than 0, in the order given; false unless 0 is one of them and all differ. */
static bool parse_values(const char *text, et_values *values) {
    double all[ET_MAX_VALUES + 1];
    int count = numbers(text, ET_MAX_VALUES + 1, all);
    bool zero = false;
    values->count = 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++)
            if (all[i] == all[j]) return false;
        zero = zero || all[i] == 0;
        if (all[i] != 0) values->value[values->count++] = all[i];
    }
    return zero && values->count > 0;
}

/* Probabilities of the values other than 0, in their order. */
static bool parse_prior(const char *text, et_values *values) {
    double prior[ET_MAX_VALUES], sum = 0;
    if (numbers(text, ET_MAX_VALUES, prior) != values->count) return false;
    for (int a = 0; a < values->count; a++) {
        if (!(prior[a] > 0)) return false;
        sum += prior[a];
    }
    if (!(sum < 1)) return false;
    values->prior = sum;
    for (int a = 0; a < values->count; a++)
        values->share[a] = prior[a] / sum;
    return true;
}

static bool parse(const rb_et_options *o, et_values *values, bool *prior) {
    *values = (et_values){.count = 1, .value = {1}, .share = {1}};
    if (o->values && !parse_values(o->values, values)) {
        *values = (et_values){.count = 1, .value = {1}, .share = {1}};
        return false;
    }
    for (int a = 0; a < values->count; a++)
        values->share[a] = 1.0 / values->count;
    *prior = !o->value_prior || parse_prior(o->value_prior, values);
    return true;
}

et_values et_values_of(const rb_et_options *o) {
    et_values values;
    bool prior;
    parse(o, &values, &prior);
    return values;
}

rb_error et_values_check(rb_context *ctx, const rb_et_options *o, bool non_negative) {
    et_values values;
    bool prior = true;
    if (!parse(o, &values, &prior)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`values` is '%s', but must be at most %d different numbers that include 0, "
                       "such as 0,1,2",
                       o->values, ET_MAX_VALUES + 1);
    }
    for (int a = 0; non_negative && a < values.count; a++) {
        if (values.value[a] < 0) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`values` has %.15g, but fields of this method are not negative; give "
                           "values above 0, or use linca",
                           values.value[a]);
        }
    }
    if (!prior) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`value-prior` is '%s', but must be the probabilities of the %d values "
                       "other than 0, in their order, with a sum below 1",
                       o->value_prior, values.count);
    }
    const rb_conflict conflicts[] = {
        {o->value_prior && o->prior > 0,
         "`value-prior` and `prior` both set how probable it is that a cause is active; leave one "
         "of them out"},
        {o->value_prior && values.count == 1,
         "`value-prior` is for causes of several values; give `prior` instead"},
        {0},
    };
    return rb_check_conflicts(ctx, conflicts);
}

bool et_binary(const et_values *values) {
    return values->count == 1 && values->value[0] == 1;
}

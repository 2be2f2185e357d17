/* Matching fields with a truth, against the words of the definition done by brute force. */
#include "fixture.h"

#include "data/data.h"
#include <rarebit/fields.h>

enum { CAUSES = 10, PIXELS = 25, UNITS = 12 };

static rb_context *ctx;
static rb_matrix *truth; /* the ten bars of size 5 */

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    rb_matrix *matrix;
    rb_error err = rb_simulate_bars(ctx, NULL, &matrix, &truth, NULL);
    rb_matrix_free(matrix);
    return err;
}

static int tear_down(void **state) {
    (void)state;
    rb_matrix_free(truth);
    rb_context_free(ctx);
    return 0;
}

/* Field of unit h: that of cause[h] with noise; -1: noise around 4. */
static void make_fields(const int *cause, int64_t units, double sd, uint64_t seed, double *fields) {
    rb_draws draws = {{seed, RB_RANDOM_LOADINGS, 0}, 0};
    for (int64_t d = 0; d < PIXELS; d++) {
        for (int64_t h = 0; h < units; h++) {
            double mean = cause[h] < 0 ? 4 : rb_matrix_at(truth, cause[h], d);
            fields[d * units + h] = mean + sd * rb_draw_normal(&draws);
        }
    }
}

static double mean_difference(const double *fields, int64_t units, int64_t h, int64_t c) {
    double sum = 0;
    for (int64_t d = 0; d < PIXELS; d++)
        sum += fabs(fields[d * units + h] - rb_matrix_at(truth, c, d));
    return sum / PIXELS;
}

/* log p(only h is active | y = cause c) for sigma = 2, pi = 0.2, up to a constant. */
static double log_posterior(const double *fields, int64_t units, int64_t h, int64_t c) {
    double log_p = log(0.2) + (double)(units - 1) * log(0.8);
    for (int64_t d = 0; d < PIXELS; d++) {
        double difference = fields[d * units + h] - rb_matrix_at(truth, c, d);
        log_p -= difference * difference / (2 * 2.0 * 2.0);
    }
    return log_p;
}

/* Appendix E word by word: most probable unit, one unit a cause, error below 1. */
static void check_by_definition(const double *fields, int64_t units) {
    rb_field_match match;
    int64_t best[CAUSES], found = 0;
    double sum = 0;
    assert_ok(ctx, rb_fields_match(ctx, fields, PIXELS, units, truth, &match));
    assert_int_equal(match.causes, CAUSES);
    for (int64_t c = 0; c < CAUSES; c++) {
        best[c] = 0;
        for (int64_t h = 1; h < units; h++)
            if (log_posterior(fields, units, h, c) > log_posterior(fields, units, best[c], c))
                best[c] = h;
    }
    for (int64_t c = 0; c < CAUSES; c++) {
        double error = mean_difference(fields, units, best[c], c);
        bool fits = error < 1.0;
        for (int64_t other = 0; other < CAUSES; other++) {
            fits = fits && (other == c || best[other] != best[c] ||
                            log_posterior(fields, units, best[c], c) >
                                log_posterior(fields, units, best[c], other));
        }
        assert_close(match.error[c], error, 1e-12);
        assert_int_equal(match.unit[c], fits ? best[c] : -1);
        found += fits;
        sum += fits ? error : 0;
    }
    assert_int_equal(match.causes_found, found);
    if (found)
        assert_close(match.mean_absolute_error, sum / (double)found, 1e-12);
    else
        assert_true(isnan(match.mean_absolute_error));
    rb_field_match_clear(&match);
}

/* Random mappings of units to causes (some twice, some to none), from exact fields to pure noise.
 */
static void agrees_with_the_definition(void **state) {
    (void)state;
    static const double noises[] = {0, 0.3, 1.1, 1.25, 1.4, 3, 20};
    int64_t founds[CAUSES + 1] = {0};
    for (uint64_t trial = 0; trial < 280; trial++) {
        rb_draws draws = {{trial, RB_RANDOM_SIMULATE, 0}, 0};
        int64_t units = rb_draw_integer(&draws, 1, UNITS);
        int cause[UNITS];
        double fields[PIXELS * UNITS];
        for (int64_t h = 0; h < units; h++)
            cause[h] = (int)rb_draw_integer(&draws, -1, CAUSES - 1);
        make_fields(cause, units, noises[trial % 7] + 1e-6, trial, fields);
        check_by_definition(fields, units);
        rb_field_match match;
        assert_ok(ctx, rb_fields_match(ctx, fields, PIXELS, units, truth, &match));
        founds[match.causes_found]++;
        rb_field_match_clear(&match);
    }
    assert_true(founds[0] > 20 && founds[3] > 5 && founds[6] > 0); /* all kinds did occur */
}

/* The truth in another order, with two units to spare, is found whole, and says where. */
static void permutations_are_inverted(void **state) {
    (void)state;
    static const int cause[UNITS] = {7, -1, 3, 0, 9, 1, 4, -1, 8, 2, 6, 5};
    double fields[PIXELS * UNITS];
    rb_field_match match;
    make_fields(cause, UNITS, 0.25, 1, fields);
    assert_ok(ctx, rb_fields_match(ctx, fields, PIXELS, UNITS, truth, &match));
    assert_int_equal(match.causes_found, CAUSES);
    for (int64_t c = 0; c < CAUSES; c++)
        assert_int_equal(cause[match.unit[c]], c);
    /* E|N(0, 0.25)| */
    assert_true(fabs(match.mean_absolute_error - 0.25 * sqrt(2 / M_PI)) < 0.03);
    rb_field_match_clear(&match);
}

/* A field of two bars at once represents neither, and the bars have no other unit. */
static void merged_causes_are_not_found(void **state) {
    (void)state;
    int cause[CAUSES];
    double fields[PIXELS * CAUSES];
    rb_field_match match;
    for (int h = 0; h < CAUSES; h++)
        cause[h] = h == 9 ? -1 : h;
    make_fields(cause, CAUSES, 0, 1, fields);
    for (int64_t d = 0; d < PIXELS; d++) {
        fields[d * CAUSES + 8] = rb_matrix_at(truth, 8, d) + rb_matrix_at(truth, 9, d);
        fields[d * CAUSES + 9] = 0;
    }
    assert_ok(ctx, rb_fields_match(ctx, fields, PIXELS, CAUSES, truth, &match));
    assert_int_equal(match.causes_found, 8);
    assert_int_equal(match.unit[8], -1);
    assert_int_equal(match.unit[9], -1);
    assert_true(match.mean_absolute_error == 0);
    rb_field_match_clear(&match);
}

/* The limit is a tenth of the largest |truth|, exclusive, on any scale and for both signs. */
static void the_limit_scales(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (double scale = 1e-6; scale < 1e7; scale *= 1000) {
            double value = sign * scale, fields[2] = {value * 0.81, value};
            rb_matrix *one;
            rb_field_match match;
            double causes[2] = {value, value};
            assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 1, 2, causes, 2, 1, &one));
            assert_ok(ctx, rb_fields_match(ctx, fields, 2, 1, one, &match));
            assert_int_equal(match.causes_found, 1); /* mean difference 0.095 */
            rb_field_match_clear(&match);
            fields[0] = value * 0.79;
            assert_ok(ctx, rb_fields_match(ctx, fields, 2, 1, one, &match));
            assert_int_equal(match.causes_found, 0); /* 0.105 */
            assert_int_equal(match.unit[0], -1);
            assert_true(isnan(match.mean_absolute_error));
            rb_field_match_clear(&match);
            rb_matrix_free(one);
        }
    }
}

static void refuse(const double *fields, int64_t features, int64_t units, const rb_matrix *causes,
                   rb_error code, const char *words) {
    rb_field_match match;
    assert_int_equal(rb_fields_match(ctx, fields, features, units, causes, &match), code);
    assert_true(!match.error && !match.unit && match.causes == 0);
    if (!strstr(rb_context_error(ctx), words))
        fail_msg("the sentence lacks '%s': %s", words, rb_context_error(ctx));
    rb_field_match_clear(&match);
}

static void refusals(void **state) {
    (void)state;
    double fields[2 * PIXELS] = {0}, causes[PIXELS] = {0};
    rb_matrix *view;
    refuse(fields, 24, 1, truth, RB_ERROR_ARGUMENT, "the truth has 25 features");
    refuse(fields, PIXELS, 0, truth, RB_ERROR_ARGUMENT, "0 units");
    fields[7] = NAN;
    refuse(fields, PIXELS, 2, truth, RB_ERROR_DATA, "unit 1 is not finite at feature 3");
    fields[7] = 0;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 1, PIXELS, causes, PIXELS, 1, &view));
    refuse(fields, PIXELS, 1, view, RB_ERROR_DATA, "0 throughout");
    causes[5] = INFINITY;
    refuse(fields, PIXELS, 1, view, RB_ERROR_DATA,
           "cause 0 of the truth is not finite at feature 5");
    rb_matrix_free(view);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 0, PIXELS, causes, PIXELS, 1, &view));
    refuse(fields, PIXELS, 1, view, RB_ERROR_ARGUMENT, "0 causes");
    rb_matrix_free(view);
}

static void no_memory(void **state) {
    (void)state;
    double fields[PIXELS] = {0};
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_field_match match;
        err = rb_fields_match(ctx, fields, PIXELS, 1, truth, &match);
        assert_true(err ? err == RB_ERROR_MEMORY && !match.unit && !match.error : match.causes > 0);
        rb_field_match_clear(&match);
    }
    assert_true(n > 3);
}

/* Wilson's bounds are the rates that lie z standard errors from the share; where all or none
 * succeed the one is that share itself, and of no trials nothing is known. */
static void intervals_end_where_rates_do(void **state) {
    static const double z = 1.959963984540054;
    double low, high;
    (void)state;
    for (int n = 1; n < 30; n += 7) {
        for (int s = 0; s <= n; s++) {
            double p = (double)s / n;
            rb_success_interval(s, n, &low, &high);
            assert_close(n * pow(p - low, 2), z * z * low * (1 - low), 1e-12);
            assert_close(n * pow(p - high, 2), z * z * high * (1 - high), 1e-12);
            assert_true(s == 0 ? low == 0 : low < p);
            assert_true(s == n ? high == 1 : high > p);
        }
    }
    rb_success_interval(0, 0, &low, &high);
    assert_true(low == 0 && high == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(permutations_are_inverted),
        cmocka_unit_test(merged_causes_are_not_found),
        cmocka_unit_test(the_limit_scales),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(intervals_end_where_rates_do),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

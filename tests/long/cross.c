/* Draws planted data, and tells their sum and how many members their modules have. */
#include <rarebit/rarebit.h>

#include <stdio.h>

int main(void) {
    rb_context *context;
    rb_matrix *x = NULL;
    rb_modules *truth = NULL;
    if (rb_context_new(&context) || rb_simulate_biclusters(context, NULL, &x, &truth)) return 1;
    double sum = 0;
    int64_t n = rb_matrix_samples(x), m = rb_matrix_features(x), members = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++)
            sum += rb_matrix_at(x, i, k);
    for (int64_t r = 0; r < rb_modules_count(truth); r++)
        members += rb_modules_get(truth, r)->n_samples + rb_modules_get(truth, r)->n_features;
    printf("%s: %lld x %lld, sum %.6f, %lld members\n", rb_version(), (long long)n, (long long)m,
           sum, (long long)members);
    rb_modules_free(truth);
    rb_matrix_free(x);
    rb_context_free(context);
    return 0;
}

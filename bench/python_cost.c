/* What bench/python.py compares with: a fit and the codes of samples, as a C program does them. */
#include <rarebit/rarebit.h>

#include <stdio.h>

/* Gives the model in *model, to be freed; what is wrong is printed. */
RB_API int bench_fit(const float *values, int64_t n, int64_t m, int units, int iterations,
                     rb_model **model);
RB_API int bench_encode(const rb_model *model, const float *values, int64_t n, int64_t m,
                        float *codes);

typedef struct samples {
    rb_context *context;
    rb_matrix *matrix;
    rb_source *source;
} samples;

static rb_error open_samples(const float *values, int64_t n, int64_t m, samples *s) {
    *s = (samples){0};
    rb_error error = rb_context_new(&s->context);
    error = error ? error : rb_matrix_dense(s->context, RB_FLOAT32, n, m, values, m, 1, &s->matrix);
    return error ? error : rb_source_from_matrix(s->context, s->matrix, &s->source);
}

static int close_samples(samples *s, rb_error error) {
    if (error) fprintf(stderr, "%s\n", s->context ? rb_context_error(s->context) : "no memory");
    rb_source_free(s->source);
    rb_matrix_free(s->matrix);
    rb_context_free(s->context);
    return error;
}

int bench_fit(const float *values, int64_t n, int64_t m, int units, int iterations,
              rb_model **model) {
    samples s;
    rb_options *options = NULL;
    rb_error error = open_samples(values, n, m, &s);
    error = error ? error : rb_options_new(s.context, "rfn", &options);
    error = error ? error
                  : rb_options_set_all(s.context, options, "units=%d iterations=%d seed=1", units,
                                       iterations);
    error = error ? error : rb_fit(s.context, options, s.source, NULL, model);
    rb_options_free(options);
    return close_samples(&s, error);
}

int bench_encode(const rb_model *model, const float *values, int64_t n, int64_t m, float *codes) {
    samples s;
    rb_error error = open_samples(values, n, m, &s);
    int64_t units = rb_model_units(model);
    error = error ? error : rb_encode_into(s.context, model, s.source, RB_FLOAT32, codes, units, 1);
    return close_samples(&s, error);
}

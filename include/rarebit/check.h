/* A look at data before a fit: what they seem to be, what is wrong with them, and how to begin. */
#pragma once

#include <rarebit/matrix.h>
#include <rarebit/options.h>

/* The options of a check, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_check_group(void);

typedef enum rb_severity {
    RB_SEVERITY_FINE = 0,
    RB_SEVERITY_NOTE,   /* worth knowing */
    RB_SEVERITY_PROBLEM /* to be mended before a fit, or to be understood */
} rb_severity;

/* Something that was found. docs/howto/check.md has the names and rules. */
typedef struct rb_finding {
    const char *name; /* "duplicate-samples" */
    rb_severity severity;
    double value;         /* what decided, such as how many there are; NaN: no number */
    const char *sentence; /* for people; samples and features without names count from 0 */
} rb_finding;

/* A setting of the fit to begin with. */
typedef struct rb_advice {
    const char *option; /* "log1p", as in the options of a fit */
    const char *value;  /* as rb_options_set takes it: "true" */
    const char *reason;
} rb_advice;

typedef struct rb_check rb_check;

/* Looks at the samples of a source, once. Free with rb_check_free. NULL options: the defaults.
 * RB_ERROR_FILE, RB_ERROR_FORMAT: the source could not be read. */
RB_API rb_error rb_check_run(rb_context *context, rb_source *source, const rb_options *options,
                             rb_check **check);
RB_API void rb_check_free(rb_check *check); /* NULL is accepted */

/* The findings, the gravest first; NULL when index is not 0 .. count - 1. Valid as long as the
 * check, as are all texts. */
RB_API int64_t rb_check_count(const rb_check *check);
RB_API const rb_finding *rb_check_finding(const rb_check *check, int64_t index);

/* What the values seem to be: "counts", "scaled counts", "log counts", "log", "intensities",
 * "pixels", "binary", "fractions", "z-scores", "standardised samples", "centred", "real"; "none"
 * when there is no value. */
RB_API const char *rb_check_kind(const rb_check *check);
/* Do rows seem to be features? Then the findings are of the data as they lie, and another look at
 * the transposed data is worth more. */
RB_API bool rb_check_across(const rb_check *check);
/* How many samples were looked at. */
RB_API int64_t rb_check_samples(const rb_check *check);

/* The method to begin with and its options, but for input and output; NULL, and 0: nothing can be
 * fitted before a problem is mended. NULL when index is not 0 .. count - 1. */
RB_API const char *rb_check_method(const rb_check *check);
RB_API const char *rb_check_method_reason(const rb_check *check);
RB_API int64_t rb_check_advice_count(const rb_check *check);
RB_API const rb_advice *rb_check_advice(const rb_check *check, int64_t index);

/* What that fit costs on this machine, as it is busy now. */
typedef struct rb_cost {
    size_t size;    /* sizeof(rb_cost), set by the caller */
    double bytes;   /* about: of the fit and of the data in memory */
    double seconds; /* about, for all iterations: it may converge before; NaN: not tried, since it
                     * takes more memory than there is */
    int64_t iterations;
    int64_t tried_samples; /* of so many samples some iterations were timed, the first ones */
} rb_cost;

/* Memory follows from shapes, time from some iterations that are made, for a second or a few. What
 * rb_fit refuses of these data is an error here; RB_ERROR_DATA also: there is no fit to begin
 * with. */
RB_API rb_error rb_check_cost(rb_context *context, const rb_check *check, rb_source *source,
                              rb_cost *cost);

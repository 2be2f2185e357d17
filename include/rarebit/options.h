/* Option tables: one row gives an option its name, default, legal range and help text.
 *
 * Option structs (rb_fit_options, rb_rfn_options, ...) are plain structs. The table of a struct
 * feeds its defaults function, the check before a fit, the command line, the man pages, and the
 * record in a model file. Bindings set and get options by name and need no struct layout.
 */
#ifndef RAREBIT_OPTIONS_H
#define RAREBIT_OPTIONS_H

#include <rarebit/matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rb_option_kind {
    RB_OPTION_INTEGER, /* int64_t */
    RB_OPTION_NUMBER,  /* double */
    RB_OPTION_CHOICE,  /* int: the index into choices */
    RB_OPTION_FLAG,    /* bool */
    RB_OPTION_TEXT,    /* const char *, not owned; NULL when not given */
    RB_OPTION_VALUES,  /* rb_values */
    RB_OPTION_SECONDS  /* double; as text a number and perhaps s, m, h or d */
} rb_option_kind;

/* One number for all, or a matrix with one for each; nothing is owned. A program sets `value` or
 * `matrix`. A text that is no number is kept as the name of a file, which whoever set it must read
 * into `matrix` (rb_read) before the options are used: options know no files. */
typedef struct rb_values {
    double value;
    const rb_matrix *matrix; /* NULL: there is only the value */
    const char *file;        /* NULL: none */
} rb_values;

/* Whom an option is for: where a method has many, help lists them in three parts. */
typedef enum rb_option_level {
    RB_OPTION_TUNING = 0, /* who looks for a better result */
    RB_OPTION_COMMON,     /* everybody */
    RB_OPTION_RESEARCH    /* who studies the method, or repeats somebody else's work */
} rb_option_level;

typedef struct rb_option {
    const char *name; /* "eta": --eta in the tool, a key in files and bindings; NULL: the end */
    char letter;      /* 'k' for -k, or 0 */
    rb_option_kind kind;
    size_t offset;        /* of the field in its struct */
    const char *fallback; /* the default, as text; NULL for a text that is not set */
    double minimum;       /* closed range of numbers; DBL_MIN means "above 0" */
    double maximum;
    const char *choices;  /* "rms|sd|none", in the order of the enum */
    const char *argument; /* how help names the value: "N", "RATE", "FILE" */
    const char *help;     /* one sentence, without a full stop */
    rb_option_level level;
} rb_option;

/* Fills the struct with the defaults of the table. */
RB_API void rb_options_default(const rb_option *table, void *options);

/* The row of a name ("eta") or NULL. */
RB_API const rb_option *rb_options_find(const rb_option *table, const char *name);

/* Sets one option from text. Numbers may end in k, M or G (a thousand, a million, a billion). A
 * text value is kept as a pointer: it must outlive the struct. RB_ERROR_ARGUMENT names option,
 * value and legal range. */
RB_API rb_error rb_options_set(rb_context *context, const rb_option *table, void *options,
                               const char *name, const char *value);

/* Writes the value of a row as text into buffer (always terminated); "" for a text that is not set.
 * Reading the text back gives the same bits. */
RB_API void rb_options_get(const rb_option *row, const void *options, char *buffer, size_t size);

/* Checks every row against its range: what a caller sees who fills the struct by hand. */
RB_API rb_error rb_options_check(rb_context *context, const rb_option *table, const void *options);

/* Describes the legal values of a row: "a number above 0 and at most 1", "rms, sd or none". */
RB_API void rb_options_range(const rb_option *row, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif

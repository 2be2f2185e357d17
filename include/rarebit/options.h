/* Options by name: one handle for a fit, and for the other calls that take options.
 *
 *     rb_options *options;
 *     rb_options_new(context, "rfn", &options);            method, fit, preprocessing, checkpoints
 *     rb_options_add(context, options, rb_read_group());   where wanted: reading, modules, plots
 *     rb_options_set(context, options, "preset", "biclustering");
 *     rb_options_set_integer(context, options, "units", 13);
 *     rb_open(context, "table.tsv", options, &source);
 *     rb_fit(context, options, source, NULL, &model);
 *     rb_options_free(options);
 *
 * A call takes the options that it knows from a handle, and its defaults where the handle is NULL
 * or has none of them; a fit needs one, and so do the functions of this header unless they say
 * otherwise. rb_options_row lists what there is: names, defaults, ranges, help. Names are
 * those of the command line without the dashes.
 */
#pragma once

#include <rarebit/matrix.h>

typedef enum rb_option_kind {
    RB_OPTION_INTEGER, /* int64_t */
    RB_OPTION_NUMBER,  /* double */
    RB_OPTION_CHOICE,  /* int: the index into choices */
    RB_OPTION_FLAG,    /* bool */
    RB_OPTION_TEXT,    /* const char *; NULL when not given */
    RB_OPTION_VALUES,  /* rb_values */
    RB_OPTION_SECONDS  /* double; as text a number and perhaps s, m, h or d */
} rb_option_kind;

/* Whom an option is for: where a method has many, help lists them in three parts. */
typedef enum rb_option_level {
    RB_OPTION_TUNING = 0, /* who looks for a better result */
    RB_OPTION_COMMON,     /* everybody */
    RB_OPTION_RESEARCH    /* who studies the method, or repeats somebody else's work */
} rb_option_level;

/* What there is to know of an option; new fields come at the end. */
typedef struct rb_option {
    const char *name; /* "eta": --eta in the tool, a key in files and bindings; NULL: the end */
    char letter;      /* 'k' for -k, or 0 */
    rb_option_kind kind;
    size_t offset;        /* for who defines options: of the field in the struct of the group */
    const char *fallback; /* the default, as text; NULL for a text that is not set */
    double minimum;       /* closed range of numbers; DBL_MIN means "above 0" */
    double maximum;
    const char *choices;  /* "rms|sd|none", in the order of the enum */
    const char *argument; /* how help names the value: "N", "RATE", "FILE" */
    const char *help;     /* without a full stop; other options are named with dashes */
    rb_option_level level;
    const char *needs; /* does nothing without "dropout", or without "activation=leaky", and is then
                        * refused where it is set; NULL: nothing */
    const char *group; /* "Fit": filled by rb_options_row */
    const char *word;  /* of a NUMBER: may stand in its place, and is INFINITY in the field */
} rb_option;

typedef struct rb_options rb_options;
typedef struct rb_option_group rb_option_group;

/* Makes a handle with the options of a method ("rfn"), of fits, preprocessing and checkpoints; of
 * method NULL: an empty one, for rb_options_add. Free with rb_options_free. RB_ERROR_ARGUMENT:
 * there is no such method. One thread at a time, but for calls that take a pointer to const. */
RB_API rb_error rb_options_new(rb_context *context, const char *method, rb_options **options);
RB_API void rb_options_free(rb_options *options); /* NULL is accepted */

/* Adds the options of a group. RB_ERROR_ARGUMENT: one of them has the name of one that is there, or
 * the group is not sound (a default outside of its range, say) or of another header. */
RB_API rb_error rb_options_add(rb_context *context, rb_options *options,
                               const rb_option_group *group);

/* Sets an option from text, which is copied. Numbers may end in k, M or G (a thousand, a million, a
 * billion). The last value counts. RB_ERROR_ARGUMENT names option, value and legal range, or says
 * what is NULL; then the old value stays. "preset" takes effect when the options are used, for all
 * that was not set. */
RB_API rb_error rb_options_set(rb_context *context, rb_options *options, const char *name,
                               const char *text);
/* The same for whole numbers, and for numbers; RB_ERROR_ARGUMENT too for options of other kinds. */
RB_API rb_error rb_options_set_integer(rb_context *context, rb_options *options, const char *name,
                                       int64_t value);
RB_API rb_error rb_options_set_number(rb_context *context, rb_options *options, const char *name,
                                      double value);
/* Values of an option of kind VALUES, in place of one number or of the file that it names. The
 * matrix is not copied: it must be there as long as the options are used. */
RB_API rb_error rb_options_set_matrix(rb_context *context, rb_options *options, const char *name,
                                      const rb_matrix *matrix);
/* Sets several, whose values hold no blanks, from a format of printf, with a decimal point in every
 * locale: rb_options_set_all(context, options, "preset=paper units=%d eta=%g", 100, 0.1). */
RB_API rb_error rb_options_set_all(rb_context *context, rb_options *options, const char *format,
                                   ...) RB_PRINTF(3, 4);

/* Gives an option its default again, as if it had never been set. */
RB_API rb_error rb_options_unset(rb_context *context, rb_options *options, const char *name);

/* The value of an option as text, always terminated; "" for a text that is not set. Returns the
 * length of the whole text, of which the buffer gets what fits; -1: there is no such option.
 * Setting the text again gives the same bits. */
RB_API int64_t rb_options_get(const rb_options *options, const char *name, char *buffer,
                              size_t size);
/* Was the option set? */
RB_API bool rb_options_is_set(const rb_options *options, const char *name);
/* The text of an option of kind TEXT, or the file that one of kind VALUES names: who set it must
 * read that and give what is in it to rb_options_set_matrix. NULL: none. Valid until the option is
 * set again, or the handle freed. */
RB_API const char *rb_options_text(const rb_options *options, const char *name);

/* Describes the index-th option; row_size is sizeof(rb_option), so that programs built with an
 * earlier header can be served. RB_ERROR_ARGUMENT past the last, with row->name NULL. */
RB_API rb_error rb_options_row(const rb_options *options, int64_t index, rb_option *row,
                               size_t row_size);
/* Describes the legal values of a row: "a number above 0 and at most 1", "rms, sd or none". */
RB_API void rb_options_range(const rb_option *row, char *buffer, size_t size);

/* ---- for those who define options: methods, and programs with options of their own ---- */

/* The field of a VALUES option: one number for all, or a matrix with one for each. It lies in the
 * struct of the program: no field will be added. */
typedef struct rb_values {
    double value;
    const rb_matrix *matrix; /* NULL: there is only the value */
    const char *file; /* the name of a file, which who set it has read into matrix, or NULL */
} rb_values;

/* Of options that were not set: where `when` holds ("preset=paper", or "target-sparseness": other
 * than 0 and not empty) the others of `then` get their values ("eta=0.1 iterations=1000"). One with
 * a dash before it ("-tolerance") does nothing there, and is refused where it is set. */
typedef struct rb_option_rule {
    const char *when; /* NULL: the end */
    const char *then;
} rb_option_rule;

/* Options that stand together, and the struct that has a field for each, if any. By row_size the
 * library knows the header that the program was built with: rb_option, rb_option_rule and this
 * struct grow together, at their ends, and so that rb_option is larger; rb_options_add refuses a
 * group of another header. */
struct rb_option_group {
    size_t row_size;             /* sizeof(rb_option) */
    const char *title;           /* "Reading" */
    const rb_option *rows;       /* a row with the name NULL is the end */
    size_t bytes;                /* of the struct; 0: none: offsets do not count */
    const rb_option_rule *rules; /* NULL: none */
};

/* The struct of a group in a handle, as the options are set; NULL: the handle is NULL, or has no
 * such group. */
RB_API const void *rb_options_fields(const rb_options *options, const rb_option_group *group);

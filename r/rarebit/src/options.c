/* Options by name: values of R as the texts of the library. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#ifdef RAREBIT_IO
#include <rarebit/io.h>
#endif
#ifdef RAREBIT_NETS
#include <rarebit/deep.h>
#include <rarebit/stack.h>
#endif
#ifdef RAREBIT_MEDIA
#include <rarebit/denoise.h>
#include <rarebit/patches.h>
#include <rarebit/segments.h>
#endif

/* Groups by name. */
static const rb_option_group *group_of(const char *what) {
    static const struct {
        const char *name;
        const rb_option_group *(*group)(void);
    } groups[] = {
#ifdef RAREBIT_IO
        {"read", rb_read_group},
#endif
#ifdef RAREBIT_MEDIA
        {"patches", rb_patches_group},
        {"segments", rb_segments_group},
        {"denoise", rb_denoise_group},
#endif
        {"modules", rb_modules_group},
        {"report", rb_modules_group},
        {"check", rb_check_group},
        {"replication", rb_replication_group},
        {"biclusters", rb_biclusters_group},
        {"cells", rb_cells_group},
        {"bars", rb_bars_group}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(what, groups[i].name)) return groups[i].group();
    return NULL;
}

/* "select rfn", "consensus rfn" and "stack rfn" are of a method; "methods", "finetune" and groups
 * are by themselves; anything else is a method. */
static rb_error make(const char *what, rb_options **options) {
    const rb_option_group *group = group_of(what);
    if (!strcmp(what, "methods")) return rb_methods_options(context(), options);
    if (!strncmp(what, "select ", 7)) return rb_select_options(context(), what + 7, options);
    if (!strncmp(what, "consensus ", 10)) {
        rb_error err = rb_options_new(context(), what + 10, options);
        return err ? err : rb_options_add(context(), *options, rb_consensus_group());
    }
    if (!strcmp(what, "read")) need("io");
#ifdef RAREBIT_NETS
    if (!strcmp(what, "finetune")) return rb_finetune_options_new(context(), options);
    if (!strncmp(what, "stack ", 6)) return rb_stack_options(context(), what + 6, options);
#endif
    rb_error err = rb_options_new(context(), group ? NULL : what, options);
    if (!err && group) err = rb_options_add(context(), *options, group);
    if (err || group != rb_modules_group()) return err;
    err = rb_options_add(context(), *options, rb_significance_group());
    bool sets = !err && !strcmp(what, "report");
    return sets ? rb_options_add(context(), *options, rb_sets_group()) : err;
}

static rb_error set_matrix(options_object *o, const char *name, SEXP value) {
    SEXP dim = Rf_getAttrib(value, R_DimSymbol);
    bool is_matrix = TYPEOF(dim) == INTSXP && XLENGTH(dim) == 2;
    int64_t rows = is_matrix ? INTEGER(dim)[0] : XLENGTH(value);
    int64_t columns = is_matrix ? INTEGER(dim)[1] : 1;
    rb_matrix **more = realloc(o->values, ((size_t)o->n_values + 1) * sizeof *more);
    if (!more) refuse("out of memory");
    o->values = more;
    rb_matrix **matrix = &o->values[o->n_values];
    rb_error err =
        rb_matrix_dense(context(), RB_FLOAT64, rows, columns, REAL(value), 1, rows, matrix);
    if (!err) o->n_values++;
    return err ? err : rb_options_set_matrix(context(), o->options, name, *matrix);
}

static rb_error set(options_object *o, const char *name, SEXP value) {
    char number[64];
    const char *text = number;
    bool one = XLENGTH(value) == 1;
    if (TYPEOF(value) == REALSXP && !one) return set_matrix(o, name, value);
    if (TYPEOF(value) == STRSXP && one)
        text = text_of(value);
    else if (TYPEOF(value) == LGLSXP && one && LOGICAL(value)[0] != NA_LOGICAL)
        text = LOGICAL(value)[0] ? "true" : "false";
    else if (TYPEOF(value) == REALSXP && one)
        snprintf(number, sizeof number, "%.17g", REAL(value)[0]);
    else
        Rf_errorcall(R_NilValue,
                     "option %s: a number, a text, TRUE or FALSE, or a matrix of "
                     "numbers is wanted",
                     name);
    return rb_options_set(context(), o->options, name, text);
}

/* The library would spell the name its own way. */
static void refuse_unknown(const options_object *o, const char *name) {
    if (rb_options_get(o->options, name, NULL, 0) >= 0) return;
    char *spelt = strcpy(R_alloc(strlen(name) + 1, 1), name);
    for (char *c = spelt; *c; c++)
        if (*c == '-') *c = '_';
    Rf_errorcall(R_NilValue, "there is no option '%s'; see ?rarebit_options", spelt);
}

/* values: a list; its elements live as long as the options. */
SEXP binding_options(SEXP what, SEXP names, SEXP values) {
    SEXP pointer = PROTECT(object_new(IS_OPTIONS, values));
    options_object *o = options_of(pointer);
    const char **keys = texts_of(names);
    check(make(text_named(what, "method"), &o->options));
    for (R_xlen_t i = 0; i < XLENGTH(values); i++) {
        refuse_unknown(o, keys[i]);
        check(set(o, keys[i], VECTOR_ELT(values, i)));
    }
    UNPROTECT(1);
    return pointer;
}

static const char *kind_of(rb_option_kind kind) {
    static const char *const names[] = {"integer", "number", "choice", "flag",
                                        "text",    "values", "seconds"};
    return kind <= RB_OPTION_SECONDS ? names[kind] : "text";
}

static const char *level_of(rb_option_level level) {
    return level == RB_OPTION_COMMON ? "common" : level == RB_OPTION_TUNING ? "tuning" : "research";
}

/* The table: a list of columns. */
SEXP binding_option_table(SEXP what) {
    static const char *const names[] = {"name", "kind",  "default", "range",
                                        "help", "level", "group",   "needs"};
    enum { COLUMNS = 8 };
    SEXP pointer = PROTECT(object_new(IS_OPTIONS, R_NilValue));
    options_object *o = options_of(pointer);
    check(make(text_named(what, "method"), &o->options));
    rb_option row;
    int n = 0;
    while (!rb_options_row(o->options, n, &row, sizeof row))
        n++;
    SEXP list = PROTECT(named_list(names, COLUMNS));
    for (int c = 0; c < COLUMNS; c++)
        SET_VECTOR_ELT(list, c, Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        char range[512];
        rb_options_row(o->options, i, &row, sizeof row);
        rb_options_range(&row, range, sizeof range);
        const char *texts[COLUMNS] = {row.name, kind_of(row.kind),   row.fallback, range,
                                      row.help, level_of(row.level), row.group,    row.needs};
        for (int c = 0; c < COLUMNS; c++)
            SET_STRING_ELT(VECTOR_ELT(list, c), i,
                           texts[c] ? Rf_mkCharCE(texts[c], CE_UTF8) : NA_STRING);
    }
    UNPROTECT(2);
    return list;
}

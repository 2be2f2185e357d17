/* The binding: librarebit for R, by its public headers.
 *
 * Nothing of R that may jump is called while the library is inside a call or while something is
 * held that only this code would free: what outlives a function belongs to an external pointer. */
#ifndef RAREBIT_BINDING_H
#define RAREBIT_BINDING_H

#include <rarebit/rarebit.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* ---- session.c: the context, errors, log messages, interrupts ---- */

/* The context of the session, made at the first call. */
rb_context *context(void);

/* A call of the library that is under way: they nest, where what is told of iterations calls. */
typedef struct call_frame {
    SEXP each;
    struct call_frame *outer;
} call_frame;

/* Around a call that takes time: begin, the call, end. Between them nothing of R is called. `each`
 * is NULL or a function of R that is told of each iteration. A call within another one computes
 * with the threads of the outer one. */
void call_begin(call_frame *frame, int threads, SEXP each);
void call_end(call_frame *frame);

/* Within a call: what may jump, and what it returns is lost then: RB_ERROR_INTERRUPTED. */
rb_error in_r(void (*jumps)(void *), void *user);

/* After a call: raises the interrupt that came, or goes on with what jumped in in_r(), or, if the
 * call failed, raises the error. */
void check(rb_error err);
/* An error of the binding itself. */
NORET void refuse(const char *sentence);

/* What the library has said since R was last told, a NULL at the end; until R is told again. */
const char **messages_of(rb_log_level level);

/* ---- spelling.c ---- */

/* A message of the library with the options that it marks spelt as R has them, in a buffer of twice
 * its size. */
void spell(const char *message, char *out);

/* ---- libraries beside the core; what calls them is registered where they are there ---- */

extern const bool has_files, has_nets, has_media;
/* An error where librarebit-io, -nets or -media was not there when the package was built. */
void need(const char *library);

/* The page of a report; need("io") comes before. */
rb_error write_page(const rb_document *document, const char *title, const char *path);
/* Adds the sets of a GMT file; likewise. */
rb_error read_sets(const char *path, rb_feature_sets *sets);

/* ---- objects.c: external pointers ---- */

typedef enum { IS_DATA, IS_OPTIONS, IS_MODEL } object_kind;

typedef struct data_object {
    rb_matrix *matrix;
    rb_source *source;
    int64_t *starts; /* of compressed columns */
    SEXP read;       /* the function that gives blocks, which the pointer keeps */
} data_object;

typedef struct options_object {
    rb_options *options;
    rb_matrix **values; /* of options that are matrices */
    int n_values;
} options_object;

typedef struct model_object {
    rb_model *model;
    SEXP data; /* samples of the fit, preserved; or NULL */
} model_object;

/* An empty object; `keep` stays as long as it does. */
SEXP object_new(object_kind kind, SEXP keep);
/* What a pointer of that kind points to; an error for anything else, and after readRDS. */
void *object_of(object_kind kind, SEXP pointer);

static inline data_object *data_of(SEXP pointer) {
    return object_of(IS_DATA, pointer);
}
static inline options_object *options_of(SEXP pointer) {
    return object_of(IS_OPTIONS, pointer);
}
static inline rb_model *model_of(SEXP pointer) {
    return ((model_object *)object_of(IS_MODEL, pointer))->model;
}

/* Zeroed memory that lives as long as its holder, which the caller protects: what only this code
 * would free, while values of R are made of it. `to` is where its address goes; `clear` frees what
 * is in it. */
SEXP hold(size_t size, void (*clear)(void *), void *to);
/* Frees it now. */
void let_go(SEXP holder);

/* What a fit is asked for; what is not is NULL. */
typedef struct fit_call {
    const rb_options *options;
    rb_source *source;
    const rb_model *start;
    const void *train, *valid; /* of nets */
} fit_call;

/* The model that a call of the library makes; it is watched. */
SEXP model_by(rb_error (*make)(const fit_call *, rb_model **), const fit_call *call, SEXP threads,
              SEXP each);

/* ---- values of R ---- */

/* Texts in UTF-8, which live until the call of R returns; NULL for R's NULL. */
const char **texts_of(SEXP strings);
/* One text; an error has its name. */
const char *text_named(SEXP string, const char *name);
#define text_of(string) text_named(string, #string)
/* The names of a list; where one has none, the sentence is the error. */
const char **names_of(SEXP list, const char *sentence);
#define COVARIATES_NEED_NAMES "covariates need names: give a data frame or a named list"
SEXP text_to(const char *text); /* NA for NULL */
/* A list of n elements by names; protected by the caller. */
SEXP named_list(const char *const *names, int n);
/* The numbers of metrics, by name. */
SEXP metrics_to(const rb_metrics *metrics);
/* The columns of a table of the library, as a list; numbers are doubles, and count as the library
 * counts. */
SEXP table_to(const rb_table *table);

#endif

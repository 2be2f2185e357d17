/* Files, where librarebit-io is there. */
#include "binding.h"

#include "calls.h"

#ifdef RAREBIT_IO
#include <rarebit/io.h>

const bool has_files = true;

void binding_use_files(rb_context *ctx) {
    rb_io_use(ctx);
}

rb_error write_page(const rb_document *document, const char *title, const char *path) {
    const rb_report report = {.size = sizeof report,
                              .title = title,
                              .model = rb_model_method(document->model),
                              .warnings = messages_of(RB_LOG_WARNING),
                              .notes = messages_of(RB_LOG_INFO)};
    return rb_report_write(context(), document, &report, path);
}

rb_error read_sets(const char *path, rb_feature_sets *sets) {
    return rb_feature_sets_read(context(), path, sets);
}

SEXP binding_write(SEXP data, SEXP path) {
    rb_source *source = data_of(data)->source;
    const char *to = text_of(path);
    call_frame frame;
    call_begin(&frame, rb_context_threads(context()), R_NilValue);
    rb_error err = rb_write(context(), source, to);
    call_end(&frame);
    check(err);
    return R_NilValue;
}

SEXP binding_merge(SEXP parts, SEXP path) {
    static const char *const names[] = {"found", "count"};
    const char **paths = texts_of(parts), *to = text_of(path);
    int64_t numbers[2];
    check(rb_journal_merge(context(), paths, (int)XLENGTH(parts), to, &numbers[0], &numbers[1]));
    SEXP answer = PROTECT(named_list(names, 2));
    for (int i = 0; i < 2; i++)
        SET_VECTOR_ELT(answer, i, Rf_ScalarInteger((int)numbers[i]));
    UNPROTECT(1);
    return answer;
}

SEXP binding_open(SEXP path, SEXP options) {
    SEXP pointer = PROTECT(object_new(IS_DATA, options));
    data_object *data = data_of(pointer);
    const char *name = text_of(path);
    const rb_options *wanted = options_of(options)->options;
    call_frame frame;
    call_begin(&frame, rb_context_threads(context()), R_NilValue);
    rb_error err = rb_open(context(), name, wanted, &data->source);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return pointer;
}

SEXP binding_save(SEXP pointer, SEXP path) {
    check(rb_model_save(context(), model_of(pointer), text_of(path)));
    return R_NilValue;
}

SEXP binding_load(SEXP path) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    check(rb_model_load(context(), text_of(path), &made->model));
    UNPROTECT(1);
    return pointer;
}

#else

const bool has_files = false;

rb_error write_page(const rb_document *document, const char *title, const char *path) {
    (void)document, (void)title, (void)path;
    return RB_ERROR_UNSUPPORTED;
}

rb_error read_sets(const char *path, rb_feature_sets *sets) {
    (void)path, (void)sets;
    return RB_ERROR_UNSUPPORTED;
}

#endif

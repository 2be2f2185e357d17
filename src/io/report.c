/* The report: one HTML file that tells what a model found, to look at and to send. */
#include "page.h"

#include <string.h>

static void add_origin(const page *p, json_t **to) {
    static const char *const names[] = {"compiler", "kernels", "blas", "blas_core"};
    json_t *build = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rb_json_add(&build, names[i], rb_json_text(rb_build_info(p->ctx, names[i])));
    rb_json_add(to, "version", rb_json_text(rb_version()));
    rb_json_add(to, "title", rb_json_text(p->report->title));
    rb_json_add(to, "command", rb_json_text(rb_context_command(p->ctx)));
    rb_json_add(to, "build", build);
}

static rb_error too_large(rb_context *ctx) {
    return rb_fail(ctx, RB_ERROR_MEMORY, "the report does not fit into memory");
}

/* The document; NULL: an error. */
static json_t *gather(page *p, rb_error *err) {
    json_t *json = json_object();
    *err = rb_describe(p->ctx, p->source, &p->data);
    if (!*err) *err = page_add_modules(p, &json);
    if (!*err && p->report->selection) *err = page_add_select(p, &json);
    if (!*err) {
        page_add_codes(p, &json);
        add_origin(p, &json);
        page_add_data(p, &json);
        page_add_model(p, &json);
        page_add_fit(p, &json);
        page_add_answers(p, &json);
        page_add_names(p, &json);
        if (!json) *err = too_large(p->ctx);
    }
    if (*err) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

/* ---- the file ---- */

/* Names are whatever somebody wrote: without "<" nothing in them can end the element that the
 * document stands in. In JSON it stands in texts alone. */
static int put_document(const char *text, size_t size, void *file) {
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<')
            fputs("\\u003c", file);
        else
            putc(text[i], file);
    return ferror((FILE *)file) ? -1 : 0;
}

static rb_error put_page(rb_context *ctx, FILE *file, void *document) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(7);
    fputs(page_head, file);
    bool whole = json_dump_callback(document, put_document, file, flags) == 0;
    fputs(page_tail, file);
    return whole || ferror(file) ? RB_OK : too_large(ctx);
}

static rb_error check(rb_context *ctx, const rb_document *document, const rb_report *report) {
    if (report->size != sizeof *report)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the report is of another size: set its size");
    return document->codes && document->metrics && document->modules
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "the document has no codes or no metrics: make it with both");
}

rb_error rb_report_write(rb_context *ctx, const rb_document *document, const rb_report *report,
                         const char *path) {
    page p = {.ctx = ctx,
              .report = report,
              .document = document,
              .model = document->model,
              .source = document->source,
              .data.size = sizeof p.data};
    rb_error err = check(ctx, document, report);
    if (err) return err;
    p.named[0] = rb_alloc_zero(ctx, rb_source_samples(p.source) + 1, sizeof(bool));
    p.named[1] = rb_alloc_zero(ctx, rb_model_features(p.model) + 1, sizeof(bool));
    json_t *json = p.named[0] && p.named[1] ? gather(&p, &err) : NULL;
    err = err || json ? err : RB_ERROR_MEMORY;
    err = err ? err : rb_output_file(ctx, path, put_page, json);
    json_decref(json);
    rb_free(p.named[0]);
    rb_free(p.named[1]);
    return err;
}

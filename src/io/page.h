/* The page of a report: what it tells, gathered as one JSON document. */
#ifndef RB_IO_PAGE_H
#define RB_IO_PAGE_H

#include "io/io.h"

#include <rarebit/json.h>
#include <rarebit/report.h>
#include <rarebit/view.h>

#include <jansson.h>

typedef struct page {
    rb_context *ctx;
    const rb_report *report;
    const rb_document *document;
    const rb_model *model;
    rb_source *source;
    rb_description data;
    bool *named[2]; /* of samples and features: does the page need its name? */
} page;

/* What something was read from; NULL: it is called by its kind (page_parts.c). */
json_t *page_name(const char *name, const char *kind);
/* The parts of the document (page_parts.c); RB_ERROR_MEMORY shows in *to, which becomes NULL. */
void page_add_data(const page *p, json_t **to);
void page_add_model(const page *p, json_t **to);
void page_add_fit(const page *p, json_t **to);
void page_add_names(const page *p, json_t **to);
/* Classes, sets of features and covariates, where asked for (page_answers.c). */
void page_add_answers(const page *p, json_t **to);
/* The table of a selection (page_select.c). */
rb_error page_add_select(const page *p, json_t **to);
/* Modules with their heat maps, which reads the samples, and codes (page_maps.c). */
rb_error page_add_modules(page *p, json_t **to);
void page_add_codes(const page *p, json_t **to);

/* The page before and after the document, made from src/io/page/ (cmake/Page.cmake). */
extern const char page_head[], page_tail[];

#endif

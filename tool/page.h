/* The page that `rarebit report` writes: what it tells, gathered as one JSON document. */
#ifndef TOOL_PAGE_H
#define TOOL_PAGE_H

#include "answers.h"

#include <rarebit/view.h>

/* What the page tells; what was not asked for stays empty. */
typedef struct page {
    invocation *call;
    const rb_model *model;
    rb_source *source;
    json_t *warnings, *notes; /* messages of the library on the way */
    rb_description data;
    answers answers;
    bool *named[2]; /* of samples and features: does the page need its name? */
} page;

/* The parts of the document (page_parts.c); RB_ERROR_MEMORY shows in *to, which becomes NULL. */
void page_add_data(const page *p, json_t **to);
void page_add_model(const page *p, json_t **to);
void page_add_fit(const page *p, json_t **to);
void page_add_names(const page *p, json_t **to);
/* What --labels, --gmt and --covariates ask for (page_answers.c). */
void page_add_answers(const page *p, json_t **to);
/* The table of --select (page_select.c). */
rb_error page_add_select(const page *p, json_t **to);
/* Modules with their heat maps, which reads the samples, and codes (page_maps.c). */
rb_error page_add_modules(page *p, json_t **to);
void page_add_codes(const page *p, json_t **to);

/* The page before and after the document, made from tool/page/ (cmake/Page.cmake). */
extern const char page_head[], page_tail[];

#endif

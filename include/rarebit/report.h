/* A report: what a model found in data, as one HTML file to look at and to send. */
#pragma once

#include <rarebit/document.h>

/* What the page tells besides the document. All texts may be NULL. */
typedef struct rb_report {
    size_t size; /* sizeof(rb_report), set by the caller */
    const char *title;
    /* What these were read from; NULL: they are called by their kind. */
    const char *model, *data, *labels, *sets, *covariates;
    const char *selection; /* a table of `rarebit select` (TSV), whose curves are shown */
    /* Messages on the way, each list with a NULL at its end. */
    const char *const *warnings, *const *notes;
} rb_report;

/* Writes a page that needs no network and no other file. It describes the data, says whether the
 * fit is healthy, and shows each module: its samples and features with weights, heat maps, and what
 * it is associated with. document: as rb_document_make filled it, with_codes and with_metrics; its
 * samples are read twice more. Named are the command (rb_context_set_command) and what computes.
 *
 * The file appears whole or not at all. RB_ERROR_ARGUMENT: the size, or a document without codes or
 * metrics; RB_ERROR_FORMAT: the selection is no such table, or of other data; RB_ERROR_MEMORY,
 * RB_ERROR_FILE; and those of rb_module_maps. */
RB_API rb_error rb_report_write(rb_context *context, const rb_document *document,
                                const rb_report *report, const char *path);

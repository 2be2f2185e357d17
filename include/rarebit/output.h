/* Files that appear whole or not at all, and where a result comes from. */
#pragma once

#include <rarebit/model.h>

/* A file that the caller writes himself, and that appears whole or not at all: rb_staged_begin
 * makes an empty file beside the place, the caller opens rb_staged_path, writes and closes it, and
 * rb_staged_commit flushes it to disk and renames it. What stood at the place stays until then.
 * Pipes and devices have nothing to be renamed: there the path is the place itself. */
typedef struct rb_staged rb_staged;

/* Could a file be made to appear there? RB_ERROR_FILE: the folder is not there or not writable, or
 * the path is that of a folder or of a file that may not be written. Nothing is made. */
RB_API rb_error rb_staged_check(rb_context *context, const char *path);
/* RB_ERROR_FILE as rb_staged_check, or no file can be made. *staged is NULL on failure. */
RB_API rb_error rb_staged_begin(rb_context *context, const char *path, rb_staged **staged);
/* Valid until the staged file is committed or abandoned. */
RB_API const char *rb_staged_path(const rb_staged *staged);
/* RB_ERROR_FILE: cannot be flushed or renamed; then nothing is left behind. Frees in any case. */
RB_API rb_error rb_staged_commit(rb_context *context, rb_staged *staged);
/* Removes the unfinished file and frees; NULL is accepted. */
RB_API void rb_staged_abandon(rb_staged *staged);

/* A JSON object, on one line, that says where a result comes from: program_version; command_line
 * (rb_context_set_command); data_checksum of the source; and of the model program_version,
 * command_line, seed, data_path and data_checksum, as "model". Model and source may be NULL; the
 * source is read once. What is not known is left out. rb_free_memory frees it. */
RB_API rb_error rb_provenance(rb_context *context, const rb_model *model, rb_source *source,
                              char **json);

/* Programs of many fits: their command line, progress, Ctrl-C, and the fits side by side. */
#ifndef MANY_H
#define MANY_H

#include <rarebit/rarebit.h>

#include <stdio.h>

/* The options that each of them has, beside its own. */
struct many_options {
    int64_t jobs;
    const char *checkpoint, *output;
};
const struct many_options *many_options(const rb_options *options);

struct many_program {
    const char *name, *about; /* "tables": ./run tables; what help says of it */
    const rb_option_group *group;
    /* Does it; the exit code. */
    int (*run)(rb_context *ctx, const rb_options *options);
};
int many_main(int argc, char **argv, const struct many_program *program);

/* The fits: `width` numbers each, from a function that gives the same ones for the same job and
 * key, whatever runs beside it. */
struct many_fits {
    int64_t count, width;
    const char *key;
    rb_error (*fit)(rb_context *ctx, int64_t job, const void *user, double *values);
    const void *user;
};
/* Values: count x width. Prints what went wrong; the exit code. */
int many_run(rb_context *ctx, const rb_options *options, const struct many_fits *fits,
             double *values);

/* Is the word one of a list by commas, or is that "all"? Are all words of a list known, when so
 * many were found? A message where they are not. */
bool many_among(const char *list, const char *word);
bool many_all_found(const char *list, int found);

/* Writes a file where there is a path; false after a message. */
bool many_write(const char *path, void (*write)(FILE *out, const void *what), const void *what);

#endif

/* Programs of many fits: their command line, progress, Ctrl-C, and the fits side by side. */
#include "many.h"
#include "../../tool/blas_choice.h"
#include "../../tool/progress.h"

#include "study/study.h"
#include <rarebit/deep.h>
#include <rarebit/io.h>

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/* ---- the command line ---- */

static const rb_option rows[] = {
    {"jobs", 0, RB_OPTION_INTEGER, offsetof(struct many_options, jobs), "0", 0, 1024, NULL, "N",
     "fits side by side (0: as many as processors)"},
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(struct many_options, checkpoint), NULL, 0, 0, NULL,
     "FILE", "keep each result; the same command goes on from it"},
    {"output", 'o', RB_OPTION_TEXT, offsetof(struct many_options, output), NULL, 0, 0, NULL,
     "FILE.tsv", "the table for programs"},
    {0}};
static const rb_option_group group = {sizeof(rb_option), "Fits", rows, sizeof(struct many_options),
                                      NULL};

const struct many_options *many_options(const rb_options *options) {
    return rb_options_fields(options, &group);
}

static void help_of(const rb_option *row) {
    for (; row->name; row++)
        printf("  --%s %s\n        %s%s%s%s\n", row->name, row->argument, row->help,
               row->fallback ? " [" : "", row->fallback ? row->fallback : "",
               row->fallback ? "]" : "");
}

static void help(const struct many_program *program) {
    printf("usage: ./run %s [--OPTION VALUE]...\n\n%s\n\n", program->name, program->about);
    help_of(program->group->rows);
    help_of(rows);
}

static rb_error read_words(rb_context *ctx, char **words, rb_options *options) {
    rb_error err = RB_OK;
    for (; *words && !err; words += 2) {
        const char *name = strcmp(*words, "-o") == 0 ? "--output" : *words;
        if (strncmp(name, "--", 2) != 0 || !words[1]) {
            fprintf(stderr, "'%s' is no option with a value: --help\n", *words);
            return RB_ERROR_ARGUMENT;
        }
        err = rb_options_set(ctx, options, name + 2, words[1]);
        if (err) fprintf(stderr, "%s\n", rb_context_error(ctx));
    }
    return err;
}

bool many_among(const char *list, const char *word) {
    size_t length = strlen(word);
    if (strcmp(list, "all") == 0) return true;
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
    return false;
}

bool many_all_found(const char *list, int found) {
    int words = 1;
    for (const char *at = list; *at; at++)
        words += *at == ',';
    if (strcmp(list, "all") == 0 || words == found) return true;
    fprintf(stderr, "'%s' has a name that is not known: --help\n", list);
    return false;
}

/* ---- a signal, and the clock ---- */

static rb_context *running; /* what a signal stops */

static void on_signal(int number) {
    rb_context_stop(running);
    signal(number, SIG_DFL); /* the second one ends the program */
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    char line[256];
    if (!progress_due(user, progress)) return RB_OK;
    progress_text(progress, line, sizeof line);
    fprintf(stderr, isatty(STDERR_FILENO) ? "\r%s\033[K" : "%s\n", line);
    return RB_OK;
}

int many_main(int argc, char **argv, const struct many_program *program) {
    rb_context *ctx;
    rb_options *options = NULL;
    choose_blas(argv);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        help(program);
        return 0;
    }
    if (rb_context_new(&ctx)) return STATUS_FAILED;
    rb_io_use(ctx); /* journals */
    rb_error err = rb_nets_use(ctx);
    err = err ? err : rb_options_new(ctx, NULL, &options);
    err = err ? err : rb_options_add(ctx, options, program->group);
    err = err ? err : rb_options_add(ctx, options, &group);
    err = err ? err : read_words(ctx, argv + 1, options);
    if (!err && many_options(options)->jobs)
        err = rb_context_set_threads(ctx, (int)many_options(options)->jobs);
    running = ctx;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    int status = err ? STATUS_USAGE : program->run(ctx, options);
    rb_options_free(options);
    rb_context_free(ctx);
    return status;
}

/* ---- fits ---- */

struct work {
    const struct many_fits *fits;
    double *values;
};

static rb_error do_job(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const struct many_fits *fits = ((struct work *)user)->fits;
    double *values = rb_alloc(ctx, fits->width, sizeof *values);
    *result = (rb_bytes){values, fits->width * (int64_t)sizeof *values};
    return values ? fits->fit(ctx, job, fits->user, values) : RB_ERROR_MEMORY;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    struct work *work = user;
    (void)ctx;
    memcpy(work->values + job * work->fits->width, result.data, (size_t)result.size);
    return RB_OK;
}

int many_run(rb_context *ctx, const rb_options *options, const struct many_fits *fits,
             double *values) {
    progress_clock clock = progress_clock_of(isatty(STDERR_FILENO));
    struct work work = {fits, values};
    bool complete;
    rb_jobs jobs = {.count = fits->count,
                    .what = "fit",
                    .key = fits->key,
                    .run = do_job,
                    .take = take,
                    .user = &work,
                    .journal = many_options(options)->checkpoint};
    rb_context_on_progress(ctx, on_progress, &clock);
    rb_error err = rb_jobs_run(ctx, &jobs, &complete);
    if (isatty(STDERR_FILENO)) fputc('\n', stderr);
    if (err) fprintf(stderr, "%s\n", rb_context_error(ctx));
    return !err ? 0 : err == RB_ERROR_STOPPED ? STATUS_INTERRUPTED : STATUS_FAILED;
}

bool many_write(const char *path, void (*write)(FILE *out, const void *what), const void *what) {
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!path) return true;
    if (out) write(out, what);
    if (out && fclose(out) == 0) return true;
    fprintf(stderr, "%s cannot be written\n", path);
    return false;
}

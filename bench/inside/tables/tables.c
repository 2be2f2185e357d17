/* `./run tables`: the tables of the RFN paper (Clevert et al. 2015, supplement, S5 to S10), all
 * methods, beside ours. Exit code 1 when a row is off that should not be. */
#include "tables.h"
#include "../../../tool/blas_choice.h"
#include "../../../tool/progress.h"

#include <rarebit/io.h>

#include <float.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct choice {
    const char *methods, *datasets, *units, *sets, *checkpoint, *output, *page;
    int64_t instances, jobs;
};

static const rb_option option_rows[] = {
    {"instances", 0, RB_OPTION_INTEGER, offsetof(struct choice, instances), "3", 1, 1000, NULL, "N",
     "data sets of each kind, from seeds 1 to N (the paper has 100)", RB_OPTION_COMMON},
    {"methods", 0, RB_OPTION_TEXT, offsetof(struct choice, methods), "all", 0, 0, NULL, "NAMES",
     "some of them, by commas: RFN,FA; 'sparse' is RFN with --preset sparse, to be better than the "
     "paper's row",
     RB_OPTION_COMMON},
    {"datasets", 0, RB_OPTION_TEXT, offsetof(struct choice, datasets), "all", 0, 0, NULL, "NAMES",
     "some of D1 to D9", RB_OPTION_COMMON},
    {"units", 0, RB_OPTION_TEXT, offsetof(struct choice, units), "all", 0, 0, NULL, "NUMBERS",
     "some of 50,100,150", RB_OPTION_COMMON},
    {"sets", 0, RB_OPTION_TEXT, offsetof(struct choice, sets), "all", 0, 0, NULL, "NAMES",
     "some of I,II: sd 0.01 or 0.5 outside of the biclusters", RB_OPTION_COMMON},
    {"jobs", 0, RB_OPTION_INTEGER, offsetof(struct choice, jobs), "0", 0, 1024, NULL, "N",
     "fits side by side (0: as many as processors)", RB_OPTION_COMMON},
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(struct choice, checkpoint), NULL, 0, 0, NULL, "FILE",
     "keep each result; the same command goes on from it", RB_OPTION_COMMON},
    {"output", 'o', RB_OPTION_TEXT, offsetof(struct choice, output), NULL, 0, 0, NULL, "FILE.tsv",
     "the table for programs", RB_OPTION_COMMON},
    {"page", 0, RB_OPTION_TEXT, offsetof(struct choice, page), NULL, 0, 0, NULL, "FILE.html",
     "a page with plots", RB_OPTION_COMMON},
    {0}};
static const rb_option_group group = {sizeof(rb_option), "Tables", option_rows,
                                      sizeof(struct choice), NULL};

enum { STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

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

static void help(void) {
    puts("usage: ./run tables [--OPTION VALUE]...\n\n"
         "The tables of the RFN paper beside ours: docs/tables.md.\n");
    for (const rb_option *row = option_rows; row->name; row++)
        printf("  --%s %s\n        %s\n", row->name, row->argument, row->help);
}

static int fail(const char *message) {
    fprintf(stderr, "tables: %s\n", message);
    return STATUS_USAGE;
}

static rb_error read_words(rb_context *ctx, char **words, rb_options *options) {
    rb_error err = RB_OK;
    for (; *words && !err; words += 2) {
        const char *name = strcmp(*words, "-o") == 0 ? "--output" : *words;
        if (strncmp(name, "--", 2) != 0 || !words[1]) return RB_ERROR_ARGUMENT;
        err = rb_options_set(ctx, options, name + 2, words[1]);
    }
    return err;
}

/* Is the word one of a list by commas, or is that "all"? */
static bool among(const char *list, const char *word) {
    size_t length = strlen(word);
    if (strcmp(list, "all") == 0) return true;
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
    return false;
}

static int words_of(const char *list) {
    int count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* Does every word of a list name something? */
static bool all_found(const char *list, int found) {
    return strcmp(list, "all") == 0 || words_of(list) == found;
}

static bool plan_make(const struct choice *choice, struct plan *plan) {
    static const char *const units[] = {"50", "100", "150"};
    *plan = (struct plan){.instances = choice->instances};
    for (int m = 0; method_at(m); m++)
        if (among(choice->methods, method_at(m)->name))
            plan->methods[plan->n_methods++] = method_at(m);
    for (int d = 0; d < DATASETS; d++)
        if (among(choice->datasets, dataset_name(d))) plan->datasets[plan->n_datasets++] = d;
    for (int u = 0; u < MAX_UNITS; u++)
        if (among(choice->units, units[u])) plan->units[plan->n_units++] = atoll(units[u]);
    for (int s = 0; s < MAX_SETS; s++)
        if (among(choice->sets, set_name(s))) plan->sets[plan->n_sets++] = s;
    return all_found(choice->methods, plan->n_methods) &&
           all_found(choice->datasets, plan->n_datasets) &&
           all_found(choice->units, plan->n_units) && all_found(choice->sets, plan->n_sets);
}

typedef void (*writer)(FILE *out, const struct plan *plan, const struct row *rows, int count);

static bool write_file(const char *path, writer write, const struct plan *plan,
                       const struct row *rows, int count) {
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!path) return true;
    if (!out) return false;
    write(out, plan, rows, count);
    return fclose(out) == 0;
}

/* The exit code: 1 where a row is off that should not be. */
static int tell(const struct plan *plan, const struct row *rows, int count) {
    int known = 0, good = 0, missed = 0;
    for (int i = 0; i < count; i++) {
        enum verdict verdict = row_verdict(&rows[i], plan->instances);
        bool bad = verdict == OFF || verdict == NOT_BETTER;
        known += verdict != UNKNOWN;
        good += verdict == NEAR || verdict == BETTER;
        missed += bad && !rows[i].method->may_miss;
    }
    printf("\n%d of %d rows near the paper's, or better where that is the aim\n", good, known);
    return missed ? 1 : 0;
}

static int run(rb_context *ctx, const struct choice *choice) {
    struct plan plan;
    if (!plan_make(choice, &plan))
        return fail("a name in a list is not known: ./run tables --help");
    double *values = calloc((size_t)plan_jobs(&plan) * METRICS, sizeof *values);
    struct row *rows = calloc((size_t)plan_jobs(&plan) + MAX_METHODS * 6, sizeof *rows);
    progress_clock clock = progress_clock_of(isatty(STDERR_FILENO));
    int status = 1;
    rb_context_on_progress(ctx, on_progress, &clock);
    rb_error err =
        values && rows ? plan_run(ctx, &plan, choice->checkpoint, values) : RB_ERROR_MEMORY;
    if (isatty(STDERR_FILENO)) fputc('\n', stderr);
    if (err) {
        fprintf(stderr, "tables: %s\n", rb_context_error(ctx));
        status = err == RB_ERROR_STOPPED ? STATUS_INTERRUPTED : 1;
    } else {
        int count = rows_make(&plan, values, rows);
        write_markdown(stdout, &plan, rows, count);
        status = tell(&plan, rows, count);
        if (!write_file(choice->output, write_tsv, &plan, rows, count) ||
            !write_file(choice->page, write_page, &plan, rows, count))
            status = fail("--output or --page cannot be written");
    }
    free(rows);
    free(values);
    return status;
}

int main(int argc, char **argv) {
    rb_context *ctx;
    rb_options *options = NULL;
    choose_blas_kernels(argv);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        help();
        return 0;
    }
    if (!paper_read()) return fail("the paper's figures are missing: " TABLES_PAPER);
    if (rb_context_new(&ctx)) return fail("out of memory");
    running = ctx;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    rb_io_use(ctx); /* journals */
    rb_error err = rb_options_new(ctx, NULL, &options);
    err = err ? err : rb_options_add(ctx, options, &group);
    err = err ? err : read_words(ctx, argv + 1, options);
    const struct choice *choice = rb_options_fields(options, &group);
    if (!err && choice->jobs) err = rb_context_set_threads(ctx, (int)choice->jobs);
    int status = err ? fail(*rb_context_error(ctx) ? rb_context_error(ctx) : "usage: --help")
                     : run(ctx, choice);
    rb_options_free(options);
    rb_context_free(ctx);
    return status;
}

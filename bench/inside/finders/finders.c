/* `./run modules-bench`: which method finds modules, on planted ones of many kinds and on data with
 * known classes; all under the same rules. Means with intervals of 95 %. */
#include "finders.h"
#include "../many.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The rules were chosen among test, fabia and nonzero on seeds 1 and 2 of planted data. */
static const struct finder finders[] = {
    {"rfn", "rfn", "", "rule=test"},
    {"rfn biclustering", "rfn", "preset=biclustering", "rule=test"},
    {"rfn consensus", "rfn", "", "rule=test", .consensus = true},
    {"fabia", "fabia", "", "rule=test"},
    {"ica", "ica", "", "rule=test"},
    {"nmf", "nmf", "", "rule=test", .parts = true},
    {"sfa", "sfa", "", "rule=test"},
    {"fa", "fa", "", "rule=test"},
    {"pca", "pca", "", "rule=test"},
    {"kmeans", "kmeans", "", "rule=nonzero"},
    {"dae", "dae", "", "rule=test"},
    {"rbm", "rbm", "", "rule=test"},
    {"fa-laplace", "fa-laplace", "", "rule=test"},
    {"fa-jeffreys", "fa-jeffreys", "", "rule=test"},
    {"linca", "linca", "", "rule=test"},
    {"mca", "mca", "", "rule=test", .parts = true},
    {"nmf-et", "nmf-et", "", "rule=nonzero", .parts = true},
    {"ssc", "ssc", "", "rule=test"},
};

/* As many units as a user would take who expects about so many modules. */
static const struct kind planted_kinds[] = {
    {.name = "fabia", .planted = "generator=fabia", .units = 20},
    {.name = "D1", .planted = "dataset=D1", .units = 20},
    {.name = "D2", .planted = "dataset=D2", .units = 20},
    {.name = "D3", .planted = "dataset=D3", .units = 20},
    {.name = "D4", .planted = "dataset=D4", .units = 20},
    {.name = "D5", .planted = "dataset=D5", .units = 20},
    {.name = "D6", .planted = "dataset=D6", .units = 20},
    {.name = "D7", .planted = "dataset=D7", .units = 20},
    {.name = "D8", .planted = "dataset=D8", .units = 20},
    {.name = "D9", .planted = "dataset=D9", .units = 20},
    {.name = "constant", .planted = "generator=constant", .units = 20},
    {.name = "shift", .planted = "generator=shift", .units = 20},
    {.name = "scale", .planted = "generator=scale", .units = 20},
    {.name = "plaid", .planted = "generator=plaid", .units = 20},
    {.name = "cells 1 %",
     .cells = "samples=1000 features=1000 types=0.5,0.3,0.15,0.04,0.01 de-location=1",
     .preprocessing = "totals=10000 log1p=true",
     .units = 10},
    {.name = "cells 0.1 %",
     .cells = "samples=3000 features=500 types=0.5,0.3,0.199,0.001 de-location=1",
     .preprocessing = "totals=10000 log1p=true",
     .units = 10},
};
enum {
    FINDERS = sizeof finders / sizeof *finders,
    PLANTED = sizeof planted_kinds / sizeof *planted_kinds
};

struct choice {
    const char *methods, *kinds, *data, *reading;
    int64_t instances, first, times, permutations;
};

static const rb_option option_rows[] = {
    {"instances", 0, RB_OPTION_INTEGER, offsetof(struct choice, instances), "3", 1, 1000, NULL, "N",
     "data sets of each kind, and fits to a real one"},
    {"first", 0, RB_OPTION_INTEGER, offsetof(struct choice, first), "1", 0, DBL_MAX, NULL, "SEED",
     "their first seed"},
    {"times", 0, RB_OPTION_INTEGER, offsetof(struct choice, times), "0", 0, 100, NULL, "N",
     "units for each planted module or class; 0: 20 units, 10 for cells and real data"},
    {"reading", 0, RB_OPTION_TEXT, offsetof(struct choice, reading), NULL, 0, 0, NULL, "OPTIONS",
     "of modules, for all methods: \"rule=test level=0.2\"; else each has its own"},
    {"methods", 0, RB_OPTION_TEXT, offsetof(struct choice, methods), "all", 0, 0, NULL, "NAMES",
     "some of them, by commas"},
    {"kinds", 0, RB_OPTION_TEXT, offsetof(struct choice, kinds), "all", 0, 0, NULL, "NAMES",
     "some kinds of planted data, by commas: fabia,D1,plaid; none: only those of --data"},
    {"permutations", 0, RB_OPTION_INTEGER, offsetof(struct choice, permutations), "0", 0, 1000,
     NULL, "N", "also score the modules that are more than noise, by N refits; at least 19"},
    {"data", 0, RB_OPTION_TEXT, offsetof(struct choice, data), NULL, 0, 0, NULL, "FOLDER",
     "of folders, each a real set: expr.tsv.gz and labels.tsv"},
    {0}};
static const rb_option_group group = {sizeof(rb_option), "Finders", option_rows,
                                      sizeof(struct choice), NULL};

struct plan {
    const struct finder *finders[MAX_FINDERS];
    struct kind kinds[MAX_KINDS];
    int n_finders, n_kinds;
    const struct choice *choice;
};

struct result {
    const struct plan *plan;
    const double *values;
};

static rb_error measure(rb_context *ctx, int64_t index, const void *user, double *values) {
    const struct plan *plan = user;
    const struct choice *choice = plan->choice;
    int64_t cell = index / choice->instances;
    struct trial trial = {plan->finders[cell % plan->n_finders],
                          &plan->kinds[cell / plan->n_finders],
                          choice->first + index % choice->instances,
                          choice->permutations,
                          choice->times,
                          choice->reading};
    struct sample_set set;
    rb_error err = set_open(ctx, trial.kind, trial.seed, &set);
    if (!err && trial.finder->parts) err = set_split(ctx, &set);
    err = err ? err : finder_measure(ctx, &trial, &set, values);
    set_close(&set);
    return err;
}

/* ---- the plan ---- */

static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool exists(const char *folder, const char *name) {
    char path[4352];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    return file && fclose(file) == 0;
}

/* A folder with a set; what the plan is given it keeps until the end. */
static void add_folder(const char *parent, const char *name, struct plan *plan) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%s", parent, name);
    if (exists(folder, "expr.tsv.gz") && exists(folder, "labels.tsv") && plan->n_kinds < MAX_KINDS)
        plan->kinds[plan->n_kinds++] =
            (struct kind){.name = strdup(name), .folder = strdup(folder), .units = 10};
}

static void add_folders(const char *parent, struct plan *plan) {
    struct dirent **entries = NULL;
    int count = parent ? scandir(parent, &entries, visible, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        add_folder(parent, entries[i]->d_name, plan);
        free(entries[i]);
    }
    free(entries);
}

static bool make_plan(const struct choice *choice, struct plan *plan) {
    *plan = (struct plan){.choice = choice};
    for (int k = 0; k < PLANTED; k++)
        if (many_among(choice->kinds, planted_kinds[k].name))
            plan->kinds[plan->n_kinds++] = planted_kinds[k];
    for (int f = 0; f < FINDERS; f++)
        if (many_among(choice->methods, finders[f].name))
            plan->finders[plan->n_finders++] = &finders[f];
    bool none = strcmp(choice->kinds, "none") == 0;
    bool known = (none || many_all_found(choice->kinds, plan->n_kinds)) &&
                 many_all_found(choice->methods, plan->n_finders);
    add_folders(choice->data, plan);
    return known;
}

static void key_of(const struct plan *plan, char *key, size_t size) {
    size_t used = (size_t)snprintf(
        key, size, "modules-bench %s, %lld from %lld, %lld times, %lld permutations, %s",
        rb_version(), (long long)plan->choice->instances, (long long)plan->choice->first,
        (long long)plan->choice->times, (long long)plan->choice->permutations,
        plan->choice->reading ? plan->choice->reading : "");
    for (int f = 0; f < plan->n_finders && used < size; f++)
        used += (size_t)snprintf(key + used, size - used, " %s(%s)", plan->finders[f]->name,
                                 plan->finders[f]->options);
    for (int k = 0; k < plan->n_kinds && used < size; k++)
        used += (size_t)snprintf(key + used, size - used, " %s", plan->kinds[k].name);
}

/* ---- the table ---- */

static const char *const measure_names[MEASURES] = {
    "told", "all", "real", "recovery", "relevance", "rarest", "rand", "match", "s"};

struct figure {
    double mean, half; /* of the interval of 95 %, by the normal distribution */
};

static struct figure figure_of(const struct result *r, int kind, int finder, int m) {
    const struct plan *plan = r->plan;
    int64_t count = plan->choice->instances;
    const double *at = r->values + ((int64_t)kind * plan->n_finders + finder) * count * MEASURES;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        mean += at[i * MEASURES + m] / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += pow(at[i * MEASURES + m] - mean, 2);
    double error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : 0;
    return (struct figure){mean, 1.96 * error};
}

static void write_markdown(FILE *out, const void *result) {
    const struct result *r = result;
    fprintf(out,
            "rarebit %s, %lld seeds from %lld; mean +- half of its interval of 95 %%\n\n| kind | "
            "method |",
            rb_version(), (long long)r->plan->choice->instances, (long long)r->plan->choice->first);
    for (int m = 0; m < MEASURES; m++)
        fprintf(out, " %s |", measure_names[m]);
    fprintf(out, "\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < r->plan->n_kinds; k++) {
        for (int f = 0; f < r->plan->n_finders; f++) {
            fprintf(out, "| %s | %s |", r->plan->kinds[k].name, r->plan->finders[f]->name);
            for (int m = 0; m < MEASURES; m++) {
                struct figure figure = figure_of(r, k, f, m);
                if (isnan(figure.mean))
                    fputs(" - |", out);
                else if (m == TOLD)
                    fprintf(out, " %.3f +- %.3f |", figure.mean, figure.half);
                else
                    fprintf(out, " %.*f |", m == SECONDS ? 2 : 3, figure.mean);
            }
            fputc('\n', out);
        }
    }
}

static void write_tsv(FILE *out, const void *result) {
    const struct result *r = result;
    fprintf(out, "# rarebit %s modules-bench, %lld seeds from %lld\nkind\tmethod", rb_version(),
            (long long)r->plan->choice->instances, (long long)r->plan->choice->first);
    for (int m = 0; m < MEASURES; m++)
        fprintf(out, "\t%s\t%s_half", measure_names[m], measure_names[m]);
    fputc('\n', out);
    for (int k = 0; k < r->plan->n_kinds; k++)
        for (int f = 0; f < r->plan->n_finders; f++) {
            fprintf(out, "%s\t%s", r->plan->kinds[k].name, r->plan->finders[f]->name);
            for (int m = 0; m < MEASURES; m++) {
                struct figure figure = figure_of(r, k, f, m);
                if (isnan(figure.mean))
                    fputs("\t\t", out);
                else
                    fprintf(out, "\t%.6g\t%.6g", figure.mean, figure.half);
            }
            fputc('\n', out);
        }
}

static int run(rb_context *ctx, const rb_options *options) {
    static struct plan plan;
    char key[4096];
    if (!make_plan(rb_options_fields(options, &group), &plan)) return 2;
    key_of(&plan, key, sizeof key);
    struct many_fits fits = {(int64_t)plan.n_kinds * plan.n_finders * plan.choice->instances,
                             MEASURES, key, measure, &plan};
    double *values = calloc((size_t)fits.count * MEASURES + 1, sizeof *values);
    int status = values ? many_run(ctx, options, &fits, values) : 1;
    if (!status) {
        struct result result = {&plan, values};
        write_markdown(stdout, &result);
        status = many_write(many_options(options)->output, write_tsv, &result) ? 0 : 1;
    }
    free(values);
    return status;
}

int main(int argc, char **argv) {
    const struct many_program program = {
        "modules-bench", "Which method finds modules: docs/measurements/finders.md.", &group, run};
    return many_main(argc, argv, &program);
}

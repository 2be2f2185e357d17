/* `./run tables`: the tables of the RFN paper (Clevert et al. 2015, supplement, S5 to S10), all
 * methods, beside ours. Exit code 1 when a row is off that should not be. */
#include "tables.h"
#include "../many.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

struct choice {
    const char *methods, *datasets, *units, *sets, *page;
    int64_t instances;
};

static const rb_option option_rows[] = {
    {"instances", 0, RB_OPTION_INTEGER, offsetof(struct choice, instances), "20", 1, 1000, NULL,
     "N", "data sets of each kind, from seeds 1 to N (the paper has 100)"},
    {"methods", 0, RB_OPTION_TEXT, offsetof(struct choice, methods), "RFN,RFNn", 0, 0, NULL,
     "NAMES",
     "by commas: RFN,RFNn,DAE,RBM,FAsp,FAlap,ICA,SFA,FA,PCA, or all; 'sparse' is RFN with --preset "
     "sparse, to be better than the "
     "paper's row"},
    {"datasets", 0, RB_OPTION_TEXT, offsetof(struct choice, datasets), "all", 0, 0, NULL, "NAMES",
     "some of D1 to D9"},
    {"units", 0, RB_OPTION_TEXT, offsetof(struct choice, units), "all", 0, 0, NULL, "NUMBERS",
     "some of 50,100,150"},
    {"sets", 0, RB_OPTION_TEXT, offsetof(struct choice, sets), "all", 0, 0, NULL, "NAMES",
     "some of I,II: sd 0.01 or 0.5 outside of the biclusters"},
    {"page", 0, RB_OPTION_TEXT, offsetof(struct choice, page), NULL, 0, 0, NULL, "FILE.html",
     "a page with plots"},
    {0}};
static const rb_option_group group = {sizeof(rb_option), "Tables", option_rows,
                                      sizeof(struct choice), NULL};

static bool plan_make(const struct choice *choice, struct plan *plan) {
    static const char *const units[] = {"50", "100", "150"};
    *plan = (struct plan){.instances = choice->instances};
    for (int m = 0; method_at(m); m++)
        if (many_among(choice->methods, method_at(m)->name))
            plan->methods[plan->n_methods++] = method_at(m);
    for (int d = 0; d < DATASETS; d++)
        if (many_among(choice->datasets, dataset_name(d))) plan->datasets[plan->n_datasets++] = d;
    for (int u = 0; u < MAX_UNITS; u++)
        if (many_among(choice->units, units[u])) plan->units[plan->n_units++] = atoll(units[u]);
    for (int s = 0; s < MAX_SETS; s++)
        if (many_among(choice->sets, set_name(s))) plan->sets[plan->n_sets++] = s;
    return many_all_found(choice->methods, plan->n_methods) &&
           many_all_found(choice->datasets, plan->n_datasets) &&
           many_all_found(choice->units, plan->n_units) &&
           many_all_found(choice->sets, plan->n_sets);
}

/* The exit code: 1 where a row is off that should not be. */
static int tell(const struct result *result) {
    int known = 0, good = 0, missed = 0;
    for (int i = 0; i < result->count; i++) {
        enum verdict verdict = row_verdict(&result->rows[i]);
        bool bad = verdict == OFF || verdict == NOT_BETTER;
        known += verdict != UNKNOWN;
        good += verdict == NEAR || verdict == BETTER;
        missed += bad && !result->rows[i].method->may_miss;
    }
    printf("\n%d of %d rows near the paper's, or better where that is the aim; %lld of %lld fits "
           "failed and do not count\n",
           good, known, (long long)result->failed, (long long)plan_fits(result->plan));
    return missed ? 1 : 0;
}

static int show(const rb_options *options, const struct result *result) {
    const struct choice *choice = rb_options_fields(options, &group);
    write_markdown(stdout, result);
    write_averages(stdout, result);
    int status = tell(result);
    bool written = many_write(many_options(options)->output, write_tsv, result) &&
                   many_write(choice->page, write_page, result);
    return written ? status : 1;
}

static int run(rb_context *ctx, const rb_options *options) {
    struct plan plan;
    char key[4096];
    if (!paper_read()) {
        fprintf(stderr, "the paper's figures are missing: %s\n", TABLES_PAPER);
        return 1;
    }
    if (!plan_make(rb_options_fields(options, &group), &plan)) return 2;
    plan_key(&plan, key, sizeof key);
    struct many_fits fits = {plan_fits(&plan), METRICS, key, plan_fit, &plan};
    double *values = calloc((size_t)fits.count * METRICS, sizeof *values);
    struct row *rows = calloc((size_t)fits.count * 2, sizeof *rows);
    int status = values && rows ? many_run(ctx, options, &fits, values) : 1;
    if (!status) {
        struct result result = {&plan, rows, rows_make(&plan, values, rows), 0};
        for (int64_t i = 0; i < fits.count; i++)
            result.failed += isnan(values[i * METRICS + SECONDS]);
        status = show(options, &result);
    }
    free(rows);
    free(values);
    return status;
}

int main(int argc, char **argv) {
    const struct many_program program = {
        "tables", "The RFN paper's tables beside ours: docs/measurements/tables.md.", &group, run};
    return many_main(argc, argv, &program);
}

/* rarebit compare: which units of a model another model, or another cohort, has as well. */
#include "tool.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_options {
    const char *output;
    bool json;
} compare_options;

static const rb_option_group *compare_group(void) {
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(compare_options, output), NULL, 0, 0, NULL, "FILE",
         "write a table of all units: .tsv or .json"},
        {"json", 0, RB_OPTION_FLAG, offsetof(compare_options, json), "false", 0, 0, NULL, NULL,
         "print JSON instead of a table"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(compare_options), NULL};
    return &group;
}

/* A table of numbers: what is written in any form. */
enum { MAX_COLUMNS = 16 };
typedef struct table {
    int64_t rows;
    int columns;
    const char *names[MAX_COLUMNS];  /* in files: "p_value" */
    const char *titles[MAX_COLUMNS]; /* on a terminal: "p" */
    double *values;                  /* rows x columns; NaN: there is none */
    json_t *head;                    /* what holds for all rows; owned */
} table;

/* ---- forms of a table ---- */

static void print_terminal(const table *t) {
    for (int c = 0; c < t->columns; c++)
        printf("%s%*s", c ? "  " : "", c ? (int)strlen(t->titles[c]) + 2 : 0, t->titles[c]);
    putchar('\n');
    for (int64_t r = 0; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++) {
            char number[40] = "-";
            double value = t->values[r * t->columns + c];
            int width = (int)strlen(t->titles[c]) + (c ? 2 : 0);
            if (!isnan(value)) snprintf(number, sizeof number, "%.3g", value);
            printf("%s%*s", c ? "  " : "", width, number);
        }
        putchar('\n');
    }
}

static void write_tsv(FILE *file, const table *t) {
    for (int c = 0; c < t->columns; c++)
        fprintf(file, "%s%c", t->names[c], c + 1 < t->columns ? '\t' : '\n');
    for (int64_t r = 0; r < t->rows; r++) {
        for (int c = 0; c < t->columns; c++) {
            double value = t->values[r * t->columns + c];
            if (isnan(value))
                fputs("NA", file);
            else
                fprintf(file, "%.9g", value);
            putc(c + 1 < t->columns ? '\t' : '\n', file);
        }
    }
}

static rb_error write_json(rb_context *ctx, FILE *file, const table *t) {
    json_t *json = json_deep_copy(t->head), *rows = json_array();
    for (int64_t r = 0; r < t->rows; r++) {
        json_t *row = json_object();
        for (int c = 0; c < t->columns; c++) {
            double value = t->values[r * t->columns + c];
            bool whole = value == floor(value) && fabs(value) < 1e15;
            json_add(&row, t->names[c],
                     whole ? json_integer((json_int_t)value) : json_of_number(value));
        }
        json_add(&rows, NULL, row);
    }
    json_add(&json, "units", rows);
    return json_put_from(ctx, file, json, NULL, NULL);
}

static int write_file(const invocation *call, const table *t, const char *target) {
    output out;
    bool json = has_suffix(target, ".json");
    int status = output_begin_own(&out, call->ctx, target, "tsv");
    if (status) return status;
    FILE *file = fopen(out.path, "w");
    rb_error err = RB_OK;
    if (file && json)
        err = write_json(call->ctx, file, t);
    else if (file)
        write_tsv(file, t);
    bool good = file && !ferror(file);
    good = file && fclose(file) == 0 && good;
    if (err) {
        status = report_failure(call->ctx, err);
    } else if (!good) {
        report_error("cannot write '%s'", target);
        status = STATUS_FAILED;
    }
    status = output_end(&out, status);
    if (!status) report("%lld units in %s", (long long)t->rows, target);
    return status;
}

static int deliver(const invocation *call, const table *t) {
    const char *target = option_text(call, "output");
    int status = target ? write_file(call, t, target) : STATUS_DONE;
    if (status) return status;
    if (option_flag(call, "json")) {
        rb_error err = write_json(call->ctx, stdout, t);
        return err ? report_failure(call->ctx, err) : STATUS_DONE;
    }
    if (!target) print_terminal(t);
    return STATUS_DONE;
}

/* A column more; the name of what is to be there. */
static int add_column(table *t, const char *name, const char *title) {
    t->names[t->columns] = name;
    t->titles[t->columns] = title;
    return t->columns++;
}

static bool fill_begin(table *t, int64_t rows) {
    t->rows = rows;
    t->values = calloc((size_t)(rows * t->columns) + 1, sizeof *t->values);
    if (!t->values) report_error("out of memory");
    return t->values != NULL;
}

static void clear(table *t) {
    free(t->values);
    json_decref(t->head);
}

static double index_or_none(int64_t index) {
    return index < 0 ? NAN : (double)index;
}

/* ---- two models ---- */

static int tell_models(const invocation *call, const rb_replication *r) {
    table t = {.head =
                   json_pack("{sI sI sI sI sb sb}", "units_first", (json_int_t)r->n_units,
                             "units_second", (json_int_t)r->n_others, "features",
                             (json_int_t)r->n_features, "permutations", (json_int_t)r->permutations,
                             "by_name", r->by_name, "without_signs", r->no_signs)};
    add_column(&t, "unit", "unit");
    add_column(&t, "partner", "partner");
    add_column(&t, "partner_correlation", "correlation");
    add_column(&t, "p_value", "p-value");
    add_column(&t, "p_value_family", "family-wise");
    add_column(&t, "q_value", "q-value");
    add_column(&t, "best", "best");
    add_column(&t, "best_correlation", "its corr.");
    int status = fill_begin(&t, r->n_units) ? STATUS_DONE : STATUS_FAILED;
    int64_t found = 0;
    for (int64_t j = 0; !status && j < r->n_units; j++) {
        const rb_replicated_unit *u = &r->units[j];
        const double row[] = {(double)j,
                              index_or_none(u->partner),
                              u->partner < 0 ? NAN : u->partner_correlation,
                              u->p_value,
                              u->p_value_family,
                              u->q_value,
                              index_or_none(u->best),
                              u->best < 0 ? NAN : u->best_correlation};
        memcpy(t.values + j * t.columns, row, sizeof row);
        found += u->q_value <= 0.05 && u->partner == u->best;
    }
    if (!status) {
        report("%lld features in common%s", (long long)r->n_features,
               r->no_signs ? "; correlations are compared without signs" : "");
        status = deliver(call, &t);
        report("%lld of %lld units are found in the other model (q-value at most 0.05, and the "
               "most similar unit is the partner)",
               (long long)found, (long long)r->n_units);
    }
    clear(&t);
    return status;
}

/* What is about data does nothing here. */
static int refuse_data_options(const invocation *call) {
    static const option_group groups[] = {coding_group, covariates_group, rb_read_group};
    for (int g = 0; g < 3; g++) {
        for (const rb_option *row = groups[g]()->rows; row->name; row++) {
            if (option_was_given(call, row->name)) {
                report_error("--%s is given, but does nothing for two models; leave it out",
                             row->name);
                return STATUS_USAGE;
            }
        }
    }
    return STATUS_DONE;
}

static int refuse_data(const invocation *call) {
    const char *format = NULL, *path = call->arguments[1];
    if (rb_format_of(call->ctx, path, &format) || strcmp(format, "hdf5") == 0) return STATUS_DONE;
    report_error("'%s' is data (%s): give a second cohort as well, or a second model instead", path,
                 format);
    return STATUS_FAILED;
}

static int compare_models(invocation *call) {
    rb_replication replication = {.size = sizeof replication};
    rb_model *first = NULL, *second = NULL;
    int status = refuse_data(call);
    status = status ? status : refuse_data_options(call);
    if (status) return status;
    rb_error err = rb_model_load(call->ctx, call->arguments[0], &first);
    err = err ? err : rb_model_load(call->ctx, call->arguments[1], &second);
    err = err ? err : rb_compare_models(call->ctx, first, second, call->options, &replication);
    status = err ? report_failure(call->ctx, err) : tell_models(call, &replication);
    rb_replication_clear(&replication);
    rb_model_free(second);
    rb_model_free(first);
    return status;
}

/* ---- two cohorts ---- */

static int tell_cohorts(const invocation *call, const rb_cohorts *r) {
    static const char *const names[2][5] = {
        {"active_a", "explained_a", "correlation_a", "p_value_a", "q_value_a"},
        {"active_b", "explained_b", "correlation_b", "p_value_b", "q_value_b"}};
    static const char *const families[] = {"p_value_family_a", "p_value_family_b"};
    static const char *const titles[2][5] = {{"active A", "explained A", "like A", "p A", "q A"},
                                             {"active B", "explained B", "like B", "p B", "q B"}};
    bool shown = !option_text(call, "output") && !option_flag(call, "json");
    table t = {.head = json_pack("{sI sI sI}", "samples_a", (json_int_t)r->n_samples[0],
                                 "samples_b", (json_int_t)r->n_samples[1], "permutations",
                                 (json_int_t)r->permutations)};
    add_column(&t, "unit", "unit");
    for (int i = 0; i < 2; i++) {
        for (int c = 0; c < 5; c++)
            add_column(&t, names[i][c], titles[i][c]);
        if (!shown) add_column(&t, families[i], "");
    }
    add_column(&t, "correlation", "A like B");
    int status = fill_begin(&t, r->n_units) ? STATUS_DONE : STATUS_FAILED;
    int64_t both = 0;
    for (int64_t j = 0; !status && j < r->n_units; j++) {
        double *to = t.values + j * t.columns;
        *to++ = (double)j;
        for (int i = 0; i < 2; i++) {
            const rb_cohort_unit *u = &r->units[i][j];
            const double row[] = {u->active, u->explained, u->correlation, u->p_value, u->q_value};
            memcpy(to, row, sizeof row);
            to += 5;
            if (!shown) *to++ = u->p_value_family;
        }
        *to = r->correlation[j];
        both += r->units[0][j].q_value <= 0.05 && r->units[1][j].q_value <= 0.05;
    }
    if (!status) {
        status = deliver(call, &t);
        report("%lld of %lld units explain more than chance in both (q-value at most 0.05)",
               (long long)both, (long long)r->n_units);
    }
    clear(&t);
    return status;
}

/* Three files are a model and two cohorts. */
static int refuse_models(const invocation *call) {
    for (int i = 1; i < 3; i++) {
        if (option_was_given(call, "dataset") || !is_model(call->ctx, call->arguments[i])) continue;
        report_error("'%s' is a model, not data: two models are compared without data, one model "
                     "with two cohorts; give MODEL MODEL, or MODEL DATA DATA",
                     call->arguments[i]);
        return STATUS_USAGE;
    }
    return STATUS_DONE;
}

static int compare_cohorts(invocation *call) {
    rb_cohorts cohorts = {.size = sizeof cohorts};
    rb_model *model = NULL;
    rb_source *sources[2] = {NULL, NULL};
    rb_error err = load_model(call, &model);
    for (int i = 0; !err && i < 2; i++) {
        err = open_data(call, model, call->arguments[i + 1], &sources[i]);
        if (!err) err = read_covariates(call, rb_model_attribute(model, "regress"), sources[i]);
    }
    err =
        err ? err
            : rb_compare_cohorts(call->ctx, model, sources[0], sources[1], call->options, &cohorts);
    int status = err ? report_failure(call->ctx, err) : tell_cohorts(call, &cohorts);
    rb_cohorts_clear(&cohorts);
    rb_source_free(sources[1]);
    rb_source_free(sources[0]);
    rb_model_free(model);
    return status;
}

static rb_error check_output(rb_context *ctx, const char *path) {
    if (has_suffix(path, ".tsv") || has_suffix(path, ".json")) return RB_OK;
    char text[512];
    snprintf(text, sizeof text, "cannot write '%.300s': its suffix must be .tsv or .json", path);
    return rb_context_fail(ctx, RB_ERROR_ARGUMENT, text);
}

static int run(invocation *call) {
    if (!call->arguments[2]) return compare_models(call);
    int status = refuse_models(call);
    return status ? status : compare_cohorts(call);
}

const command compare_command = {
    .words = "compare",
    .heading = "Use a model",
    .summary = "match units of two models, or replicate them in other data",
    .description =
        "With two models: the correlations of their loadings over the features that both have, the "
        "partner of each unit in an optimal assignment, and the chance of as good a partner with "
        "permuted features. With a model and two data sets: how many samples of each activate a "
        "unit, what it explains there, and the chance of as much in data whose features are "
        "permuted.",
    .arguments = {{"MODEL", "a model that 'rarebit fit' wrote", false},
                  {"OTHER", "a second model; or the data of the first cohort", false},
                  {"COHORT", "the data of the second cohort", true}},
    .groups = {rb_replication_group, compare_group, coding_group, covariates_group, rb_read_group,
               general_group},
    .examples = {{"Are the modules of one study those of another?",
                  "compare study1.h5 study2.h5 -o replicated.tsv"},
                 {"Do the modules of the training cohort live in the other?",
                  "compare model.h5 train.tsv test.tsv --permutations 200"}},
    .reads = "covariates",
    .check_output = check_output,
    .run = run,
};

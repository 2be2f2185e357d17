/* rarebit select METHOD: how many units are there? And merge: results of several machines. */
#include "tool.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const rb_option select_output_options[] = {
    {OUTPUT_OPTION, "TABLE", "write the table here, as .tsv or .json", RB_OPTION_COMMON},
    {TEXT_OPTION("plot"), "PICTURE", "draw the table as a plot, .png or .svg", RB_OPTION_COMMON},
    {0},
};

/* What was found, and of which data. */
typedef struct answer {
    rb_selection *selection;
    rb_source *source;
    uint32_t checksum;
    bool as_json;
} answer;

/* ---- the table ---- */

/* "picked": the number to fit; or "-". */
static const char *choice_of(const rb_selection *s, int64_t row) {
    return row == rb_selection_row(s) ? "picked" : "-";
}

static bool knows_noise(const rb_selection *s) {
    const char *name;
    for (int64_t c = 0; (name = rb_selection_name(s, c)); c++)
        if (strcmp(name, "beyond_noise") == 0) return true;
    return false;
}

/* "-" where there is no value. */
static void print_cell(double value, int width, int digits, bool fixed) {
    char text[64] = "-";
    if (!isnan(value) && fixed) snprintf(text, sizeof text, "%.*f", digits, value);
    if (!isnan(value) && !fixed) snprintf(text, sizeof text, "%.*g", digits, value);
    printf("%*s", width, text);
}

static void print_table(const rb_selection *s) {
    static const struct {
        const char *name, *label;
        int width, digits;
        bool fixed;
    } columns[] = {
        {"units", "units", 6, 0, true},
        {"stable", "stable", 7, 0, true},
        {"held_out", "held out", 13, 6, false},
        {"held_out_se", "+-", 10, 3, false},
        {"held_out_error", "error", 13, 5, false},
        {"entry_error", "entries", 9, 4, true},
        {"match", "match", 8, 3, true},
        {"shared", "shared", 8, 3, true},
        {"used", "used", 7, 1, true},
        {"beyond_noise", "beyond noise", 14, 1, true},
    };
    int64_t count = sizeof columns / sizeof *columns - !knows_noise(s);
    for (int64_t c = 0; c < count; c++)
        printf("%*s", columns[c].width, columns[c].label);
    puts("  choice");
    for (int64_t r = 0; r < rb_selection_rows(s); r++) {
        for (int64_t c = 0; c < count; c++)
            print_cell(rb_selection_get(s, r, columns[c].name), columns[c].width, columns[c].digits,
                       columns[c].fixed);
        printf("  %s\n", choice_of(s, r));
    }
}

/* The last column says of which data the table is: 'rarebit report' asks. */
static void put_table(const answer *a, FILE *file) {
    const char *name;
    for (int64_t c = 0; (name = rb_selection_name(a->selection, c)); c++)
        fprintf(file, "%s\t", name);
    fputs("choice\tdata\n", file);
    for (int64_t r = 0; r < rb_selection_rows(a->selection); r++) {
        for (int64_t c = 0; (name = rb_selection_name(a->selection, c)); c++)
            fprintf(file, "%.9g\t", rb_selection_get(a->selection, r, name));
        fprintf(file, "%s\tcrc32 %08" PRIx32 "\n", choice_of(a->selection, r), a->checksum);
    }
}

static rb_error put_json(rb_context *ctx, const answer *a, FILE *file) {
    const rb_selection *s = a->selection;
    int64_t units, low, high;
    const char *why = rb_selection_choice(s, &units, &low, &high), *name;
    json_t *rows = json_array(), *json = json_object();
    for (int64_t r = 0; r < rb_selection_rows(s); r++) {
        json_t *row = json_object();
        for (int64_t c = 0; (name = rb_selection_name(s, c)); c++)
            rb_json_add(&row, name, rb_json_number(rb_selection_get(s, r, name)));
        rb_json_add(&row, "choice", rb_json_text(choice_of(s, r)));
        rb_json_add(&rows, NULL, row);
    }
    rb_json_add(&json, "units", units ? json_integer(units) : json_null());
    rb_json_add(&json, "low", units ? json_integer(low) : json_null());
    rb_json_add(&json, "high", units ? json_integer(high) : json_null());
    rb_json_add(&json, "reason", rb_json_text(why));
    rb_json_add(&json, "rows", rows);
    return json_put_from(ctx, file, json, NULL, a->source);
}

static rb_error put_answer(rb_context *ctx, FILE *file, const void *of) {
    const answer *a = of;
    if (a->as_json) return put_json(ctx, a, file);
    put_table(a, file);
    return RB_OK;
}

static int write_table(const invocation *call, answer *a, const char *target) {
    output out;
    a->as_json = has_suffix(target, ".json");
    int status = output_fill(&out, call->ctx, target, "tsv", put_answer, a);
    return status ? status : output_end(&out, STATUS_DONE);
}

static int draw(const invocation *call, const rb_selection *s, rb_source *source,
                const char *target) {
    output out;
    int status = output_begin(&out, target, "png");
    if (status) return status;
    rb_error err = name_origin(call, NULL, source);
    err = err ? err : rb_plot_selection(call->ctx, s, NULL, out.path);
    status = finish_output(call, &out, err);
    if (!status) report("plot in %s", output_shown(target));
    return status;
}

/* ---- the command ---- */

static int deliver(const invocation *call, answer *a) {
    const rb_selection *s = a->selection;
    const char *table = option_text(call, "output"), *plot = option_text(call, "plot");
    int64_t units, low, high;
    int status = plot ? draw(call, s, a->source, plot) : STATUS_DONE;
    if (!status && table) status = write_table(call, a, table);
    if (status) return status;
    if (option_flag(call, "json")) return report_failure(call->ctx, put_json(call->ctx, a, stdout));
    if (!table) print_table(s);
    printf("%s\n", rb_selection_choice(s, &units, &low, &high));
    return STATUS_DONE;
}

static int run(invocation *call) {
    const char *checkpoint = option_text(call, "checkpoint"), *plot = option_text(call, "plot");
    fit_files files = {0};
    answer a = {0};
    rb_error err = plot ? rb_plot_check(call->ctx, plot) : RB_OK;
    err = err ? err : read_fit_files(call->ctx, call->options, &files);
    err = err ? err : rb_select_check(call->ctx, call->options);
    err = err ? err : open_data(call, NULL, call->arguments[0], &a.source);
    if (!err) {
        interrupt_resumable();
        watch_begin(call, NULL, NULL);
        err = rb_select(call->ctx, call->options, a.source, &a.selection);
        watch_end(call);
    }
    if (!err && a.selection) err = rb_source_checksum(call->ctx, a.source, &a.checksum);
    int status = STATUS_DONE;
    if (err)
        status = report_failure(call->ctx, err);
    else if (a.selection && processes_lead())
        status = deliver(call, &a);
    else
        report("part done; results in %s", checkpoint);
    rb_selection_free(a.selection);
    rb_source_free(a.source);
    free_fit_files(&files);
    return status;
}

const command select_command = {
    .words = "select",
    .summary = "choose the number of units",
    .description =
        "Fits each number of units several times, from another start and without a part of the "
        "samples each time. Units that recur in spite of both are stable, and a sentence says how "
        "many there are. The table also shows how well held-out samples are explained, how well "
        "fits match, and how many units are used. --permutations also counts the units beyond "
        "those of permuted data. With --checkpoint an interrupted command resumes; --part divides "
        "the work among machines.",
    .arguments = {DATA_ARGUMENT},
    .options_new = rb_select_options,
    .own = {sizeof(rb_option), "Output", select_output_options},
    .groups = {json_group, rb_read_group, general_group},
    .examples = {{"Choose the number of modules of a gene table",
                  "select METHOD genes.tsv --transpose --plot select.png"},
                 {"A third of the work, on one of three machines",
                  "select METHOD X.npy --part 1/3 --checkpoint part1"},
                 {"The whole result, from the three parts",
                  "merge part1 part2 part3 -o all; rarebit select METHOD X.npy --checkpoint all"}},
    .writes = "output plot checkpoint",
    .run = run,
    .together = true,
};

/* ---- merge ---- */

static int merge(invocation *call) {
    const char *target = option_text(call, "output");
    int64_t found = 0, count = 0;
    output out;
    int status = output_begin(&out, target, "results");
    if (status) return status;
    rb_error err =
        rb_journal_merge(call->ctx, call->arguments, call->n_arguments, out.path, &found, &count);
    status = finish_output(call, &out, err);
    if (!status)
        report("%lld of %lld results in %s", (long long)found, (long long)count,
               output_shown(target));
    return status;
}

const command merge_command = {
    .words = "merge",
    .summary = "merge the results of several machines",
    .description = "With --part a command of many fits does a part of them and keeps the results "
                   "in the file of --checkpoint. This command merges the files of several machines "
                   "into one checkpoint, from which the command without --part resumes.",
    .arguments = {{"CHECKPOINT...", "checkpoints of the same command with different parts", false}},
    .output = "CHECKPOINT",
    .groups = {path_group, general_group},
    .examples = {{"Two machines", "merge part1 part2 -o all"}},
    .run = merge,
};

/* rarebit select METHOD: how many units are there? And merge: results of several machines. */
#include "tool.h"

static const rb_option select_output_options[] = {
    {OUTPUT_OPTION, "TABLE", "write the table here, as .tsv or .json", RB_OPTION_COMMON},
    {TEXT_OPTION("plot"), "PICTURE", "draw the table as a plot, .png or .svg", RB_OPTION_COMMON},
    {0},
};

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

static int deliver(invocation *call, const rb_selection *s, rb_source *source) {
    const char *plot = option_text(call, "plot");
    int64_t units, low, high;
    const char *reason = rb_selection_choice(s, &units, &low, &high);
    int status = plot ? draw(call, s, source, plot) : STATUS_DONE;
    if (status) return status;
    table_answer answer = {.table = rb_selection_table(s),
                           .key = "rows",
                           .head = units
                                       ? json_pack("{sI sI sI}", "units", (json_int_t)units, "low",
                                                   (json_int_t)low, "high", (json_int_t)high)
                                       : json_pack("{sn sn sn}", "units", "low", "high"),
                           .noun = "numbers of units",
                           .shown = "units stable held_out held_out_se held_out_error entry_error "
                                    "match shared used beyond_noise choice"};
    rb_json_add(&answer.head, "reason", rb_json_text(reason));
    status = table_deliver(call, &answer, source);
    if (status || option_flag(call, "json")) return status;
    char text[2048];
    snprintf(text, sizeof text, "%s", reason);
    put_options(text);
    puts(text);
    return status;
}

static int run(invocation *call) {
    const char *checkpoint = option_text(call, "checkpoint"), *plot = option_text(call, "plot");
    fit_files files = {0};
    rb_source *source = NULL;
    rb_selection *found = NULL;
    rb_error err = plot ? rb_plot_check(call->ctx, plot) : RB_OK;
    err = err ? err : read_fit_files(call->ctx, call->options, &files);
    err = err ? err : rb_select_check(call->ctx, call->options);
    err = err ? err : open_data(call, NULL, call->arguments[0], &source);
    if (!err) {
        interrupt_resumable();
        watch_begin(call, NULL, NULL);
        err = rb_select(call->ctx, call->options, source, &found);
        watch_end(call);
    }
    int status = STATUS_DONE;
    if (err)
        status = report_failure(call->ctx, err);
    else if (found && processes_lead())
        status = deliver(call, found, source);
    else
        report("part done; results in %s", checkpoint);
    rb_selection_free(found);
    rb_source_free(source);
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

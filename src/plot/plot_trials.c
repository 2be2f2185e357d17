/* Fits beside the truth (Luecke and Eggert 2010, Figs. 4, 7 and 10): values of all trials over the
 * iterations and at the end; quality and evidences of one of them. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { PANELS = 4, TITLE = 34, HEIGHT = 220, NAME = 48 };

/* ---- all trials ---- */

/* Both classes, with their numbers. */
static const char **take_names(rb_scratch *scratch, const int64_t *classes, int64_t count) {
    static const char *const words[] = {"all causes found", "not all"};
    char(*texts)[NAME] = rb_take(scratch, 2, sizeof *texts);
    const char **names = rb_take(scratch, 2, sizeof *names);
    for (int64_t c = 0; c < 2 && !scratch->err; c++) {
        int64_t of_class = 0;
        for (int64_t t = 0; t < count; t++)
            of_class += classes[t] == c;
        snprintf(texts[c], NAME, "%s: %lld", words[c], (long long)of_class);
        names[c] = of_class ? texts[c] : NULL;
    }
    return names;
}

/* A panel over the iterations, where some trial has them, and one of the last values. */
static int64_t trial_series(rb_scratch *scratch, const rb_plot_trial *trials, int64_t count,
                            const char *up, rb_series_plot panels[2]) {
    int64_t longest = 0, lines = 0;
    for (int64_t t = 0; t < count; t++)
        longest = trials[t].values && trials[t].count > longest ? trials[t].count : longest;
    double *values = rb_take(scratch, count * longest, sizeof *values);
    double *last = rb_take(scratch, count, sizeof *last);
    int64_t *classes = rb_take(scratch, count, sizeof *classes);
    int64_t *of_lines = rb_take(scratch, count, sizeof *of_lines);
    if (scratch->err) return 0;
    for (int64_t t = 0; t < count; t++) {
        const rb_plot_trial *trial = &trials[t];
        classes[t] = !trial->success;
        last[t] = trial->value;
        if (!trial->values) continue;
        of_lines[lines] = classes[t];
        for (int64_t i = 0; i < longest; i++)
            values[lines * longest + i] = i < trial->count ? trial->values[i] : NAN;
        lines++;
    }
    const rb_series_plot all = {
        .cut = NAN, .level = "truth", .height = HEIGHT, .up = up, .n_classes = 2};
    int64_t panel = 0;
    if (lines > 0) {
        panels[panel] = all;
        panels[panel].values = values;
        panels[panel].lines = lines;
        panels[panel].count = longest;
        panels[panel].classes = of_lines;
        panels[panel].class_names = take_names(scratch, of_lines, lines);
        panels[panel].title = "Over the iterations";
        panels[panel++].across = "iteration";
    }
    panels[panel] = all;
    panels[panel].values = last;
    panels[panel].lines = 1;
    panels[panel].count = count;
    panels[panel].classes = classes;
    panels[panel].class_names = take_names(scratch, classes, count);
    panels[panel].crosses = true;
    panels[panel].title = "At the end";
    panels[panel++].across = "trial";
    return panel;
}

/* ---- one of them ---- */

static rb_error keep_evidence(void *user, const rb_state *state) {
    double *evidence = user;
    evidence[state->sample] = state->log_evidence;
    return RB_OK;
}

/* Two scratches: a series takes many arrays. */
static int64_t example_series(rb_scratch scratch[2], const rb_plot_example *x,
                              rb_series_plot panels[2]) {
    rb_context *ctx = scratch->ctx;
    int64_t n = rb_source_samples(x->source), panel = 0;
    double *evidence = rb_take(&scratch[0], n, sizeof *evidence);
    const double *used = rb_model_array(x->model, "used", NULL, NULL);
    rb_error err = scratch[0].err ? scratch[0].err : rb_need_causes(ctx, x->model);
    err = err ? err : rb_states(ctx, x->model, x->source, keep_evidence, evidence);
    scratch[0].err = err;
    if (err) return 0;
    rb_evidence_series(&scratch[0], evidence, n, used ? (int64_t)*used : 0, x->states, &panels[0]);
    panel = 1;
    if (rb_model_array(x->model, "trace_quality", NULL, NULL) && !scratch[0].err) {
        panels[1] = panels[0];
        rb_quality_series(&scratch[1], x->model, x->states, &panels[0]);
        panel = 2;
    }
    return panel;
}

/* ---- the page ---- */

static rb_error draw(rb_context *ctx, const rb_series_plot *panels, int64_t n, const char *title,
                     const rb_plot_options *options, const char *path) {
    double height = TITLE;
    rb_page page;
    for (int64_t p = 0; p < n; p++)
        height += rb_series_height(&panels[p]);
    rb_error err = rb_page_open(ctx, options, path, height, &page);
    if (err) return err;
    rb_page_title(&page, 96, 28, 0, title);
    height = TITLE;
    for (int64_t p = 0; p < n; p++) {
        if (panels[p].title)
            rb_page_text(&page, RB_TEXT_LABEL, 96, height + 24, 0, 0, panels[p].title);
        rb_page_series(&page, &panels[p], height);
        height += rb_series_height(&panels[p]);
    }
    return rb_page_close(&page, RB_OK);
}

rb_error rb_plot_trials(rb_context *ctx, const rb_plot_trial *trials, int64_t count, const char *up,
                        const rb_plot_example *example, const rb_options *given, const char *path) {
    enum { SCRATCHES = 3 };
    rb_plot_options options;
    rb_series_plot panels[PANELS] = {0};
    rb_scratch scratch[SCRATCHES] = {{.ctx = ctx}, {.ctx = ctx}, {.ctx = ctx}};
    char title[RB_TITLE_SIZE];
    int64_t found = 0;
    rb_error err = rb_page_check(ctx, given, &options, path);
    if (!err && example) err = rb_size_check(ctx, "the example", example->size, sizeof *example);
    if (!err && count < 1) err = rb_fail(ctx, RB_ERROR_DATA, "there are no trials to draw");
    if (err) return err;
    for (int64_t t = 0; t < count; t++)
        found += trials[t].success;
    snprintf(title, sizeof title, "%lld of %lld trials found all causes", (long long)found,
             (long long)count);
    int64_t n = trial_series(&scratch[0], trials, count, up, panels);
    if (example && !scratch[0].err) n += example_series(&scratch[1], example, panels + n);
    for (int i = 0; i < SCRATCHES; i++)
        err = err ? err : scratch[i].err;
    for (int64_t p = 0; p < n; p++)
        panels[p].height = HEIGHT;
    err = err ? err : draw(ctx, panels, n, title, &options, path);
    for (int i = 0; i < SCRATCHES; i++)
        (void)rb_scratch_end(&scratch[i]);
    return err;
}

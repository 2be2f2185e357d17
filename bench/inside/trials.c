#include "trials.h"

#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

enum { PANELS = 4, TITLE = 34, ABOVE = 60, HEIGHT = 220, BELOW = 60, NAME = 48 };

/* Lines over 1 .. count in the colours of their classes, or points of one line in those of theirs. */
typedef struct panel {
    rb_series_plot series;
    bool points;
    bool truth; /* a line at 0 */
} panel;

/* ---- one panel ---- */

static const rb_pen truth_pen = {{0.25, 0.25, 0.25}, 1.4, 1};

static void draw_cross(rb_page *page, double x, double y, rb_colour colour) {
    const double radius = 4, width = 1.6;
    rb_page_line(page, x - radius, y - radius, x + radius, y + radius, width, colour);
    rb_page_line(page, x - radius, y + radius, x + radius, y - radius, width, colour);
}

/* Trials that failed are crosses. */
static bool is_cross(const panel *p, int64_t class) {
    return p->truth && p->points && class == 1;
}

static void draw_points(rb_page *page, const panel *p, const rb_chart *c) {
    const rb_series_plot *s = &p->series;
    double small = s->count > 2000 ? 1.2 : 2;
    for (int64_t i = 0; i < s->count; i++) {
        double x = (double)i + 1, y = s->values[i];
        rb_colour colour = rb_class_colour(s->classes[i]);
        if (!isfinite(y)) continue;
        if (is_cross(p, s->classes[i]))
            draw_cross(page, rb_chart_x(c, x), rb_chart_y(c, y), colour);
        else
            rb_chart_dot(page, c, x, y, p->truth ? 2.6 : small, colour);
    }
}

/* Classes that occur, and the truth, in a line above the panel. */
static void draw_names(rb_page *page, const panel *p, const rb_chart *chart) {
    const rb_series_plot *s = &p->series;
    const double y = chart->box.y - 13;
    double x = chart->box.x;
    if (s->legend) {
        rb_page_text(page, RB_TEXT_TICK, x, y, 0, 0, s->legend);
        x += rb_text_width(RB_TEXT_TICK, s->legend) + 8;
    }
    for (int64_t c = 0; c < s->n_classes; c++) {
        if (!s->class_names[c]) continue;
        if (is_cross(p, c))
            draw_cross(page, x + 5, y, rb_class_colour(c));
        else
            rb_page_fill(page, (rb_box){x, y - 5, 10, 10}, rb_class_colour(c));
        rb_page_text(page, RB_TEXT_TICK, x + 15, y, 0, 0, s->class_names[c]);
        x += rb_text_width(RB_TEXT_TICK, s->class_names[c]) + 30;
    }
    if (!p->truth) return;
    rb_chart unit = {{x, y, 24, 1}, {.low = 1, .high = 2}, {.low = 0, .high = 1}};
    rb_chart_line(page, &unit, NULL, (double[]){1, 1}, 2, truth_pen);
    rb_page_text(page, RB_TEXT_TICK, x + 30, y, 0, 0, "truth");
}

static rb_chart make_chart(const panel *p, double top) {
    const rb_series_plot *s = &p->series;
    rb_chart c = {.box = {96, top + ABOVE, 772, HEIGHT},
                  .across = rb_axis_counting(s->across, s->count)};
    if (p->truth && p->points) { /* the first and last stand free */
        c.across.low = 0.5;
        c.across.high = (double)s->count + 0.5;
    }
    c.up = (rb_axis){.low = s->low, .high = s->high};
    if (!(s->low < s->high)) {
        c.up = (rb_axis){.low = INFINITY, .high = -INFINITY};
        for (int64_t i = 0; i < s->lines * s->count; i++)
            rb_axis_cover(&c.up, s->values[i]);
        if (p->truth) rb_axis_cover(&c.up, 0);
        rb_axis_pad(&c.up, 0.04);
    }
    c.up.label = s->up;
    return c;
}

static void draw_panel(rb_page *page, const panel *p, double top) {
    const rb_series_plot *s = &p->series;
    rb_chart c = make_chart(p, top);
    const double ends[] = {c.across.low, c.across.high}, zeros[] = {0, 0};
    rb_page_text(page, RB_TEXT_LABEL, c.box.x, top + 24, 0, 0, s->title);
    rb_chart_axes(page, &c);
    if (isfinite(s->cut)) {
        double x = rb_chart_x(&c, s->cut + 1);
        rb_page_line(page, x, c.box.y, x, c.box.y + c.box.height, 1.2,
                     (rb_colour){0.35, 0.35, 0.35});
    }
    for (int64_t line = 0; !p->points && line < s->lines; line++) {
        rb_pen pen = {rb_class_colour(s->classes[line]), 0.9, 0};
        rb_chart_line(page, &c, NULL, s->values + line * s->count, s->count, pen);
    }
    if (p->truth) rb_chart_line(page, &c, ends, zeros, 2, truth_pen);
    if (p->points) draw_points(page, p, &c);
    draw_names(page, p, &c);
}

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

static panel trials_panel(const double *values, int64_t lines, int64_t count,
                          const int64_t *classes, const char *up) {
    panel p = {.truth = true};
    p.series = (rb_series_plot){.values = values,
                                .lines = lines,
                                .count = count,
                                .cut = NAN,
                                .up = up,
                                .classes = classes,
                                .n_classes = 2};
    return p;
}

/* A panel over the iterations, where some trial has them, and one of the last values. */
static int64_t trial_panels(rb_scratch *scratch, const bench_trial *trials, int64_t count,
                            const char *up, panel panels[2]) {
    int64_t longest = 0, lines = 0, n = 0;
    for (int64_t t = 0; t < count; t++)
        longest = trials[t].values && trials[t].count > longest ? trials[t].count : longest;
    double *values = rb_take(scratch, count * longest, sizeof *values);
    double *last = rb_take(scratch, count, sizeof *last);
    int64_t *classes = rb_take(scratch, count, sizeof *classes);
    int64_t *of_lines = rb_take(scratch, count, sizeof *of_lines);
    if (scratch->err) return 0;
    for (int64_t t = 0; t < count; t++) {
        const bench_trial *trial = &trials[t];
        classes[t] = !trial->success;
        last[t] = trial->value;
        if (!trial->values) continue;
        of_lines[lines] = classes[t];
        for (int64_t i = 0; i < longest; i++)
            values[lines * longest + i] = i < trial->count ? trial->values[i] : NAN;
        lines++;
    }
    if (lines > 0) {
        panels[n] = trials_panel(values, lines, longest, of_lines, up);
        panels[n].series.class_names = take_names(scratch, of_lines, lines);
        panels[n].series.title = "Over the iterations";
        panels[n++].series.across = "iteration";
    }
    panels[n] = trials_panel(last, 1, count, classes, up);
    panels[n].points = true;
    panels[n].series.class_names = take_names(scratch, classes, count);
    panels[n].series.title = "At the end";
    panels[n++].series.across = "trial";
    return n;
}

/* ---- one of them ---- */

static rb_error keep_evidence(void *user, const rb_state *state) {
    double *evidence = user;
    evidence[state->sample] = state->log_evidence;
    return RB_OK;
}

static int64_t count_causes(const rb_matrix *states, int64_t sample) {
    int64_t count = 0;
    for (int64_t c = 0; c < rb_matrix_features(states); c++)
        count += rb_matrix_at(states, sample, c) != 0;
    return count;
}

/* Q of traced samples, which are evenly spread over all, in the colours of whether so few causes
 * were active as states may have. */
static panel quality_panel(rb_scratch *scratch, const bench_example *x, const double *quality,
                           int64_t iterations, int64_t traced) {
    const char *most = rb_model_attribute(x->model, "max-active");
    int64_t max_active = most ? strtoll(most, NULL, 10) : 0, n = rb_matrix_samples(x->states);
    double *values = rb_take(scratch, iterations * traced, sizeof *values);
    int64_t *classes = rb_take(scratch, traced, sizeof *classes);
    char(*texts)[NAME] = rb_take(scratch, 3, sizeof *texts);
    const char **names = rb_take(scratch, 2, sizeof *names);
    if (scratch->err) return (panel){0};
    snprintf(texts[0], NAME, "at most %lld", (long long)max_active);
    snprintf(texts[1], NAME, "more");
    snprintf(texts[2], NAME, "Quality of the truncation for %lld samples", (long long)traced);
    for (int64_t k = 0; k < traced; k++) {
        int64_t sample = k * n / traced;
        classes[k] = count_causes(x->states, sample) > max_active;
        names[classes[k]] = texts[classes[k]];
        for (int64_t t = 0; t < iterations; t++)
            values[k * iterations + t] = quality[t * traced + k];
    }
    return (panel){.series = {.values = values,
                              .lines = traced,
                              .count = iterations,
                              .low = -0.02,
                              .high = 1.02,
                              .cut = NAN,
                              .title = texts[2],
                              .across = "iteration",
                              .up = "Q",
                              .classes = classes,
                              .n_classes = 2,
                              .class_names = names,
                              .legend = "active causes"}};
}

/* Two scratches: a series takes many arrays. */
static int64_t example_panels(rb_scratch scratch[2], const bench_example *x, panel panels[2]) {
    rb_context *ctx = scratch->ctx;
    rb_source *states = NULL;
    int64_t n = rb_source_samples(x->source), count = 0, iterations, traced;
    double *evidence = rb_take(&scratch[0], n, sizeof *evidence);
    const double *used = rb_model_array(x->model, "used", NULL, NULL);
    const double *quality = rb_model_array(x->model, "trace_quality", &iterations, &traced);
    if (!scratch[0].err)
        scratch[0].err = rb_states(ctx, x->model, x->source, keep_evidence, evidence);
    if (!scratch[0].err) scratch[0].err = rb_source_from_matrix(ctx, x->states, &states);
    if (scratch[0].err) return 0;
    if (quality) panels[count++] = quality_panel(&scratch[1], x, quality, iterations, traced);
    panels[count].points = true;
    rb_evidence_series(&scratch[0], evidence, n, used ? (int64_t)*used : 0, states,
                       &panels[count].series);
    rb_source_free(states);
    return count + 1;
}

/* ---- the page ---- */

static rb_error draw(rb_context *ctx, const panel *panels, int64_t n, const char *title,
                     const rb_plot_options *options, const char *path) {
    const double each = ABOVE + HEIGHT + BELOW;
    rb_page page;
    rb_error err = rb_page_open(ctx, options, path, TITLE + (double)n * each, &page);
    if (err) return err;
    rb_page_title(&page, 96, 28, 0, title);
    for (int64_t p = 0; p < n; p++)
        draw_panel(&page, &panels[p], TITLE + (double)p * each);
    return rb_page_close(&page, RB_OK);
}

rb_error bench_draw_trials(rb_context *ctx, const bench_trial *trials, int64_t count,
                           const char *up, const bench_example *example, int width,
                           const char *path) {
    enum { SCRATCHES = 3 };
    rb_plot_options options;
    panel panels[PANELS] = {0};
    rb_scratch scratch[SCRATCHES] = {{.ctx = ctx}, {.ctx = ctx}, {.ctx = ctx}};
    char title[RB_TITLE_SIZE];
    int64_t found = 0;
    rb_error err = rb_page_check(ctx, NULL, &options, path);
    options.width = width;
    for (int64_t t = 0; t < count; t++)
        found += trials[t].success;
    snprintf(title, sizeof title, "%lld of %lld trials found all causes", (long long)found,
             (long long)count);
    int64_t n = err ? 0 : trial_panels(&scratch[0], trials, count, up, panels);
    if (n && example) n += example_panels(&scratch[1], example, panels + n);
    for (int i = 0; i < SCRATCHES; i++)
        err = err ? err : scratch[i].err;
    err = err ? err : draw(ctx, panels, n, title, &options, path);
    for (int i = 0; i < SCRATCHES; i++)
        (void)rb_scratch_end(&scratch[i]);
    return err;
}

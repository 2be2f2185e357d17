/* The tables as a page: for each of them the three metrics by data set, the paper's mean as a ring,
 * ours as a dot. */
#include "tables.h"

#include <math.h>

enum { WIDTH = 460, HEIGHT = 250, LEFT = 46, RIGHT = 10, TOP = 26, BOTTOM = 26 };

static const char *const colours[MAX_METHODS] = {
    "#1b6ca8", "#63a7d8", "#c0392b", "#e08e7f", "#2e8b57", "#8cc9a1", "#8e5ea2", "#c5a3d4",
    "#b8860b", "#e0c26a", "#444444", "#999999", "#d6408a", "#00808a", "#7a5230", "#000000"};

/* Sparseness from 0 to 100; errors by their logarithms, from 0.1 to 1000. */
static double height_of(int metric, double value) {
    double share = metric == SP ? value / 100 : (log10(fmin(fmax(value, 0.1), 1000)) + 1) / 4;
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
}

static double place_of(int dataset, int method, int methods) {
    double step = (WIDTH - LEFT - RIGHT) / (double)DATASETS;
    return LEFT + step * (dataset + 0.15 + 0.7 * (method + 0.5) / methods);
}

static void axes(FILE *out, int metric) {
    static const char *const titles[] = {"sparseness of codes, %", "reconstruction error",
                                         "covariance error"};
    static const double ticks[2][5] = {{0, 25, 50, 75, 100}, {0.1, 1, 10, 100, 1000}};
    fprintf(out,
            "<svg viewBox='0 0 %d %d' role='img' aria-label='%s'><text x='%d' y='15'>%s</text>\n",
            WIDTH, HEIGHT, titles[metric], LEFT, titles[metric]);
    for (int t = 0; t < 5; t++) {
        double y = height_of(metric, ticks[metric != SP][t]);
        fprintf(
            out,
            "<path class='grid' d='M%d %.1fH%d'/><text class='tick' x='%d' y='%.1f'>%g</text>\n",
            LEFT, y, WIDTH - RIGHT, LEFT - 5, y + 4, ticks[metric != SP][t]);
    }
    for (int d = 0; d < DATASETS; d++)
        fprintf(out, "<text class='name' x='%.1f' y='%d'>D%d</text>\n",
                LEFT + (WIDTH - LEFT - RIGHT) * (d + 0.5) / DATASETS, HEIGHT - 8, d + 1);
}

static int method_place(const struct plan *plan, const struct method *method) {
    int place = 0;
    while (plan->methods[place] != method)
        place++;
    return place;
}

static void marks(FILE *out, const struct plan *plan, const struct row *row, int metric) {
    int m = method_place(plan, row->method);
    double x = place_of(row->dataset, m, plan->n_methods);
    double ours = row->ours[metric].mean, paper = row->paper[metric].mean;
    if (!isnan(ours) && row->dataset < DATASETS)
        fprintf(
            out,
            "<circle cx='%.1f' cy='%.1f' r='2.6' fill='%s'><title>%s, D%d: %.3g</title></circle>\n",
            x, height_of(metric, ours), colours[m], row->method->name, row->dataset + 1, ours);
    if (!isnan(paper) && row->dataset < DATASETS)
        fprintf(out,
                "<circle cx='%.1f' cy='%.1f' r='4.6' fill='none' stroke='%s'><title>%s, D%d, the "
                "paper: %.0f</title></circle>\n",
                x, height_of(metric, paper), colours[m], row->method->name, row->dataset + 1,
                paper);
}

static void plots(FILE *out, const struct plan *plan, const struct row *rows, int count) {
    fprintf(out, "<h2>Set %s, %lld units</h2><div class='plots'>\n", set_name(rows->set),
            (long long)rows->units);
    for (int k = 0; k < PAPER_METRICS; k++) {
        axes(out, k);
        for (int i = 0; i < count; i++)
            marks(out, plan, &rows[i], k);
        fputs("</svg>\n", out);
    }
    fputs("</div>\n", out);
}

static void legend(FILE *out, const struct plan *plan) {
    fputs("<p class='legend'>", out);
    for (int m = 0; m < plan->n_methods; m++)
        fprintf(out, "<span><i style='background:%s'></i>%s</span>\n", colours[m],
                plan->methods[m]->name);
    fputs("</p>\n", out);
}

static void cells(FILE *out, const struct figure *figures, int count) {
    for (int k = 0; k < count; k++)
        if (isnan(figures[k].mean))
            fputs("<td></td>", out);
        else
            fprintf(out, "<td>%.*f (%.*f)</td>", figures[k].mean < 10, figures[k].mean,
                    figures[k].mean < 10, figures[k].sd);
}

static void table(FILE *out, const struct row *rows, int count) {
    fputs("<details><summary>Figures: mean (sd)</summary><table><thead><tr><th>data<th>method<th>SP"
          "<th>ER<th>CO<th>SP paper<th>ER<th>CO<th></tr></thead>\n",
          out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "<tr><td>%s</td><td>%s</td>", dataset_name(rows[i].dataset),
                rows[i].method->name);
        cells(out, rows[i].ours, PAPER_METRICS);
        cells(out, rows[i].paper, PAPER_METRICS);
        fprintf(out, "<td>%s</td></tr>\n", verdict_text(row_verdict(&rows[i])));
    }
    fputs("</table></details>\n", out);
}

void write_page(FILE *out, const void *result) {
    const struct plan *plan = ((const struct result *)result)->plan;
    const struct row *rows = ((const struct result *)result)->rows;
    int count = ((const struct result *)result)->count;
    fprintf(out,
            "<!doctype html><html lang='en'><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width'>"
            "<title>The tables of the RFN paper beside ours</title><style>"
            "body{font:15px/1.4 system-ui,sans-serif;max-width:1420px;margin:auto;padding:1em}"
            ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(20em,1fr))}"
            ".grid{stroke:#ddd}text{font-size:12px}.tick{text-anchor:end;fill:#555}"
            ".name{text-anchor:middle}.legend span{margin-right:1em}"
            ".legend i{display:inline-block;width:.8em;height:.8em;margin-right:.3em}"
            "table{border-collapse:collapse}td,th{padding:.1em .6em;text-align:right}"
            "</style><h1>The tables of the RFN paper beside ours</h1>"
            "<p>rarebit %s, seeds 1 to %lld. Dots: our mean; rings: the paper's.</p>\n",
            rb_version(), (long long)plan->instances);
    legend(out, plan);
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1;
             to < count && rows[to].set == rows[from].set && rows[to].units == rows[from].units;
             to++) {
        }
        plots(out, plan, rows + from, to - from);
        table(out, rows + from, to - from);
    }
    fputs("</html>\n", out);
}

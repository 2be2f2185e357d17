/* The tables as text: for the terminal and docs, and for programs. */
#include "tables.h"

#include <math.h>
#include <string.h>

static void cell(FILE *out, struct figure figure, int digits) {
    if (isnan(figure.mean))
        fputs(" - |", out);
    else
        fprintf(out, " %.*f (%.*f) |", digits, figure.mean, digits, figure.sd);
}

static void paper_cell(FILE *out, struct figure figure) {
    if (isnan(figure.mean))
        fputs(" - |", out);
    else
        fprintf(out, " %.0f |", figure.mean);
}

void write_markdown(FILE *out, const void *result) {
    const struct plan *plan = ((const struct result *)result)->plan;
    const struct row *rows = ((const struct result *)result)->rows;
    int count = ((const struct result *)result)->count;
    fprintf(out,
            "rarebit %s, seeds 1 to %lld; mean (sd), then the paper's\n\n"
            "| set | units | data | method | SP | ER | CO | below 0.01 | recovery | s | SP paper | "
            "ER | CO "
            "| |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            rb_version(), (long long)plan->instances);
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        fprintf(out, "| %s | %lld | %s | %s |", set_name(row->set), (long long)row->units,
                dataset_name(row->dataset), row->method->name);
        for (int k = 0; k < PAPER_METRICS; k++)
            cell(out, row->ours[k], k == CO && row->ours[k].mean < 10 ? 2 : 1);
        fprintf(out, " %.1f | %.2f | %.2f |", row->ours[SMALL].mean, row->ours[RECOVERY].mean,
                row->ours[SECONDS].mean);
        for (int k = 0; k < PAPER_METRICS; k++)
            paper_cell(out, row->paper[k]);
        fprintf(out, " %s |\n", verdict_text(row_verdict(row)));
    }
}

static void number(FILE *out, double value) {
    if (isnan(value))
        fputc('\t', out);
    else
        fprintf(out, "\t%.6g", value);
}

void write_tsv(FILE *out, const void *result) {
    const struct plan *plan = ((const struct result *)result)->plan;
    const struct row *rows = ((const struct result *)result)->rows;
    int count = ((const struct result *)result)->count;
    static const char *const names[] = {"sp", "er", "co", "below_001", "recovery", "seconds"};
    fprintf(out, "# rarebit %s tables, seeds 1 to %lld\nset\tunits\tdata\tmethod", rb_version(),
            (long long)plan->instances);
    for (int k = 0; k < METRICS; k++)
        fprintf(out, "\t%s\t%s_sd", names[k], names[k]);
    for (int k = 0; k < PAPER_METRICS; k++)
        fprintf(out, "\tpaper_%s\tpaper_%s_sd", names[k], names[k]);
    fputs("\tverdict\n", out);
    for (int i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        fprintf(out, "%s\t%lld\t%s\t%s", set_name(row->set), (long long)row->units,
                dataset_name(row->dataset), row->method->name);
        for (int k = 0; k < METRICS + PAPER_METRICS; k++) {
            struct figure f = k < METRICS ? row->ours[k] : row->paper[k - METRICS];
            number(out, f.mean);
            number(out, f.sd);
        }
        fprintf(out, "\t%s\n", verdict_text(row_verdict(row)));
    }
}

static void average_cells(FILE *out, const struct figure *figures, int digits) {
    for (int k = 0; k < PAPER_METRICS; k++)
        if (isnan(figures[k].mean))
            fputs(" - |", out);
        else
            fprintf(out, " %.*f±%.*f |", digits, figures[k].mean, digits, figures[k].sd);
}

/* Nothing where none of the averages is there. */
static void average_line(FILE *out, const struct result *result, const char *method, bool ours) {
    struct row rows[MAX_UNITS];
    bool there[MAX_UNITS], any = !ours;
    for (int u = 0; u < MAX_UNITS; u++) {
        there[u] = rows_average(result->rows, result->count, method, 50 * (u + 1), &rows[u]);
        any = any || there[u];
    }
    if (!any) return;
    fprintf(out, "| %s | %s |", method, ours ? "here" : "paper");
    for (int u = 0; u < MAX_UNITS; u++)
        if (ours && !there[u])
            fputs(" - | - | - |", out);
        else
            average_cells(out, ours ? rows[u].ours : rows[u].paper, ours);
    fputc('\n', out);
}

void write_averages(FILE *out, const void *result) {
    fputs("\nTable 1 of the paper: means over D1 to D9 of set I\n\n"
          "| method | | SP, 50 units | ER | CO | SP, 100 | ER | CO | SP, 150 | ER | CO |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|\n",
          out);
    for (int m = 0; method_at(m); m++) {
        const char *name = method_at(m)->name;
        if (strcmp(name, method_at(m)->paper) != 0) continue; /* another fit for a row */
        average_line(out, result, name, true);
        average_line(out, result, name, false);
    }
}

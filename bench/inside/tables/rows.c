/* Rows of tables: means over instances, averages over data sets, how near to the paper's. */
#include "tables.h"

#include <math.h>
#include <string.h>

const char *set_name(int set) {
    return set ? "II" : "I";
}

const char *dataset_name(int dataset) {
    static const char *const names[] = {"D1", "D2", "D3", "D4", "D5",
                                        "D6", "D7", "D8", "D9", "average"};
    return names[dataset];
}

/* Of the instances whose fit did not fail. */
static struct figure figure_of(const double *values, int64_t instances) {
    double sum = 0, squares = 0, count = 0;
    for (int64_t i = 0; i < instances; i++) {
        bool there = !isnan(values[i * METRICS]);
        count += there;
        sum += there ? values[i * METRICS] : 0;
    }
    double mean = count > 0 ? sum / count : NAN;
    for (int64_t i = 0; i < instances; i++)
        if (!isnan(values[i * METRICS])) squares += pow(values[i * METRICS] - mean, 2);
    return (struct figure){mean, count > 1 ? sqrt(squares / (count - 1)) : 0};
}

/* The average over the data sets, whose rows of this method are `methods` apart; its sd is the mean
 * of theirs, as the paper's seems to be. */
static void average(const struct row *first, int methods, struct row *row) {
    *row = *first;
    row->dataset = DATASETS;
    for (int k = 0; k < METRICS; k++) {
        row->ours[k] = (struct figure){0};
        for (int d = 0; d < DATASETS; d++) {
            row->ours[k].mean += first[d * methods].ours[k].mean / DATASETS;
            row->ours[k].sd += first[d * methods].ours[k].sd / DATASETS;
        }
    }
    paper_find(row);
}

int rows_make(const struct plan *p, const double *values, struct row *rows) {
    int count = 0;
    for (int block = 0; block < p->n_sets * p->n_units; block++) {
        struct row *first = rows + count;
        for (int r = 0; r < p->n_datasets * p->n_methods; r++, values += METRICS * p->instances) {
            struct row *row = &rows[count++];
            *row = (struct row){.method = p->methods[r % p->n_methods],
                                .set = p->sets[block / p->n_units],
                                .dataset = p->datasets[r / p->n_methods],
                                .units = p->units[block % p->n_units]};
            for (int k = 0; k < METRICS; k++)
                row->ours[k] = figure_of(values + k, p->instances);
            paper_find(row);
        }
        for (int m = 0; m < p->n_methods && p->n_datasets == DATASETS; m++)
            average(first + m, p->n_methods, &rows[count++]);
    }
    return count;
}

bool rows_average(const struct row *rows, int count, const char *paper, int64_t units,
                  struct row *row) {
    for (int i = 0; i < count; i++) {
        *row = rows[i];
        if (strcmp(row->method->name, paper) == 0 && row->units == units && row->set == 0 &&
            row->dataset == DATASETS)
            return true;
    }
    const struct method method = {.paper = paper};
    *row = (struct row){.method = &method, .units = units, .dataset = DATASETS};
    paper_find(row);
    row->method = NULL;
    return false;
}

/* The published figures look truncated (those of PCA do, which has no free choice): 5 is anything
 * in [5, 6). Near: SP within 2 points; ER and CO within 5 %, 2, or 3 standard errors of the paper's
 * mean. What is near does not depend on how many instances we have. */
static bool near(const struct row *row, int k) {
    enum { PAPER_INSTANCES = 100 };
    double paper = row->paper[k].mean, ours = row->ours[k].mean;
    double distance = fmax(fmax(paper - ours, ours - (paper + 1)), 0);
    double instances = PAPER_INSTANCES * (row->dataset == DATASETS ? DATASETS : 1);
    double error = 3 * row->paper[k].sd / sqrt(instances);
    return distance <= (k == SP ? 2 : fmax(0.05 * paper, fmax(2, error)));
}

enum verdict row_verdict(const struct row *row) {
    const struct figure *paper = row->paper, *ours = row->ours;
    if (isnan(paper[SP].mean)) return UNKNOWN;
    if (row->method->better) {
        bool sparse = ours[SP].mean >= paper[SP].mean - 1;
        bool error = ours[ER].mean < fmax(paper[ER].mean, 1);
        bool covariance = ours[CO].mean < fmax(paper[CO].mean, 1);
        return sparse && error && covariance ? BETTER : NOT_BETTER;
    }
    for (int k = 0; k < PAPER_METRICS; k++)
        if (!isnan(paper[k].mean) && !near(row, k)) return OFF;
    return NEAR;
}

const char *verdict_text(enum verdict verdict) {
    static const char *const texts[] = {"", "near", "OFF", "better", "NOT BETTER"};
    return texts[verdict];
}

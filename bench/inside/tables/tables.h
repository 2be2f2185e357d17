/* The paper's tables beside ours: what the parts of `./run tables` share. */
#ifndef TABLES_H
#define TABLES_H

#include <rarebit/rarebit.h>

#include <stdio.h>

enum { DATASETS = 9, MAX_METHODS = 16, MAX_UNITS = 3, MAX_SETS = 2 };

/* The paper measures three things of a fit; we add the share of codes below 0.01, in percent, which
 * is its SP of methods that are not rectified, and how well the planted modules are found again. */
enum { SP, ER, CO, PAPER_METRICS, SMALL = PAPER_METRICS, RECOVERY, SECONDS, METRICS };

/* A method of the paper, and what we fit for it. */
struct method {
    const char *name;    /* of the row: "RFN" */
    const char *paper;   /* whose row of the paper stands beside it */
    const char *fit;     /* the registry's name */
    const char *options; /* Table S3, and what it leaves open */
    bool rectified;      /* SP counts zeros; of the others it is SMALL (section 4) */
    bool capped;         /* has no more units than samples */
    bool better;         /* wants to be better than the paper's row, not near it */
    bool may_miss;       /* docs/measurements/tables.md says why it is not near */
};

struct figure {
    double mean, sd; /* NaN: none */
};

/* What is run: every method on every data set with every number of units. */
struct plan {
    const struct method *methods[MAX_METHODS];
    int sets[MAX_SETS]; /* 0: set I, 1: set II */
    int64_t units[MAX_UNITS];
    int datasets[DATASETS]; /* 0: D1 */
    int n_methods, n_sets, n_units, n_datasets;
    int64_t instances;
};

/* A row of a table; data set DATASETS is the average over all. */
struct row {
    const struct method *method;
    int set, dataset;
    int64_t units;
    struct figure ours[METRICS], paper[PAPER_METRICS];
};

enum verdict { UNKNOWN, NEAR, OFF, BETTER, NOT_BETTER };

/* methods.c: NULL past the last. */
const struct method *method_at(int index);

/* paper.c: reads the figures once; false: the file is not there. Fills row->paper; a method that is
 * not in the paper has none. */
bool paper_read(void);
void paper_find(struct row *row);

/* fit.c: how many fits, in the order of the tables: sets, units, data sets, methods, instances; all
 * that results depend on, as text; the METRICS values of one fit of a plan. */
int64_t plan_fits(const struct plan *plan);
void plan_key(const struct plan *plan, char *key, size_t size);
rb_error plan_fit(rb_context *ctx, int64_t index, const void *plan, double *values);

/* rows.c: means over instances, those over data sets behind each block of them; the number of rows
 * is at most twice plan_fits. */
int rows_make(const struct plan *plan, const double *values, struct row *rows);
/* The average over all data sets of set I with so many units; false: those were not all run. */
bool rows_average(const struct row *rows, int count, const char *paper, int64_t units,
                  struct row *row);
enum verdict row_verdict(const struct row *row);
const char *verdict_text(enum verdict verdict);
const char *set_name(int set);
const char *dataset_name(int dataset);

/* write.c, page.c: a table for the terminal, one for programs, and a page with plots. */
struct result {
    const struct plan *plan;
    const struct row *rows;
    int count;
    int64_t failed; /* fits */
};
void write_markdown(FILE *out, const void *result);
void write_tsv(FILE *out, const void *result);
/* Table 1 of the paper: averages over the data sets of set I, ours above the paper's. */
void write_averages(FILE *out, const void *result);
void write_page(FILE *out, const void *result);

#endif

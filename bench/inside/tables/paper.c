/* The paper's figures: a line of paper.csv for each row of its Tables S5 to S10. */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000, COLUMNS = 11 };

static struct paper_row {
    int set, dataset;
    int64_t units;
    char method[16];
    struct figure figures[PAPER_METRICS];
} paper[MOST_ROWS];
static int count;

/* Cuts a line at its commas. */
static int cut(char *line, char *cells[COLUMNS]) {
    int n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++) {
        cells[n] = at;
        at = strchr(at, ',');
        if (at) *at++ = 0;
    }
    return n;
}

static double number(const char *cell) {
    return *cell ? atof(cell) : NAN;
}

static void keep(char *cells[COLUMNS], struct paper_row *row) {
    row->set = strcmp(cells[1], "II") == 0;
    row->units = atoll(cells[2]);
    row->dataset = cells[3][0] == 'D' ? atoi(cells[3] + 1) - 1 : DATASETS;
    snprintf(row->method, sizeof row->method, "%s", cells[4]);
    for (int k = 0; k < PAPER_METRICS; k++)
        row->figures[k] = (struct figure){number(cells[5 + 2 * k]), number(cells[6 + 2 * k])};
}

bool paper_read(void) {
    char line[256], *cells[COLUMNS];
    FILE *file = fopen(TABLES_PAPER, "r");
    bool head = true;
    while (file && count < MOST_ROWS && fgets(line, sizeof line, file)) {
        if (!head && cut(line, cells) == COLUMNS) keep(cells, &paper[count++]);
        head = false;
    }
    if (file) fclose(file);
    return count > 0;
}

void paper_find(struct row *row) {
    for (int k = 0; k < PAPER_METRICS; k++)
        row->paper[k] = (struct figure){NAN, NAN};
    for (int i = 0; i < count; i++) {
        const struct paper_row *p = &paper[i];
        if (p->set == row->set && p->dataset == row->dataset && p->units == row->units &&
            strcmp(p->method, row->method->paper) == 0)
            memcpy(row->paper, p->figures, sizeof row->paper);
    }
}

/* Optimal assignment: n rows to m >= n columns, one to one, with the largest sum of gains.
 *
 * Shortest augmenting paths with potentials: H. W. Kuhn, "The Hungarian method for the assignment
 * problem" (1955), doi:10.1002/nav.3800020109, in the O(n^2 m) form of R. Jonker and A. Volgenant
 * (1987), doi:10.1007/BF02278710. With cost c_rc = -gain_rc and potentials u_r, v_c, every reduced
 * cost c_rc - u_r - v_c stays >= 0 and is 0 for pairs that are matched. For each row:
 *   1. grow a tree of shortest reduced paths from the row, one column at a time, until a free
 * column is reached; the potentials of the tree follow the distance, so that its edges keep reduced
 * cost 0;
 *   2. along the path that reached it, every row moves on to the next column.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

/* The problem, turned so that there are no more rows than columns, and the state of the search.
 * Column `columns` is the root: it stands for the row that is being placed. */
typedef struct assignment {
    int64_t rows, columns;
    const double *gain;
    int64_t row_stride, column_stride;
    double *u, *v;    /* potentials: rows; columns + 1 */
    double *distance; /* columns: least reduced cost of an edge from the tree */
    int64_t *before;  /* columns: where in the tree that edge starts */
    int64_t *row_of;  /* columns + 1: the row matched, -1 for a free column */
    bool *in_tree;    /* columns + 1 */
} assignment;

static double reduced_cost(const assignment *a, int64_t row, int64_t column) {
    return -a->gain[row * a->row_stride + column * a->column_stride] - a->u[row] - a->v[column];
}

/* Measures the edges from the row of a column that has joined the tree; returns the nearest column
 * outside, whose distance is the next step. */
static int64_t extend(assignment *a, int64_t joined) {
    int64_t row = a->row_of[joined], nearest = -1;
    a->in_tree[joined] = true;
    for (int64_t c = 0; c < a->columns; c++) {
        if (a->in_tree[c]) continue;
        double cost = reduced_cost(a, row, c);
        if (cost < a->distance[c]) {
            a->distance[c] = cost;
            a->before[c] = joined;
        }
        if (nearest < 0 || a->distance[c] < a->distance[nearest]) nearest = c;
    }
    return nearest;
}

static void shift_potentials(assignment *a, double step) {
    for (int64_t c = 0; c <= a->columns; c++) {
        if (a->in_tree[c]) {
            a->u[a->row_of[c]] += step;
            a->v[c] -= step;
        } else {
            a->distance[c] -= step;
        }
    }
}

static void place(assignment *a, int64_t row) {
    int64_t root = a->columns, column = root;
    a->row_of[root] = row;
    memset(a->in_tree, 0, (size_t)(root + 1) * sizeof *a->in_tree);
    for (int64_t c = 0; c < a->columns; c++)
        a->distance[c] = INFINITY;
    while (a->row_of[column] >= 0) {
        column = extend(a, column);
        shift_potentials(a, a->distance[column]);
    }
    while (column != root) {
        int64_t previous = a->before[column];
        a->row_of[column] = a->row_of[previous];
        column = previous;
    }
}

int64_t rb_assign_size(int64_t rows, int64_t columns) {
    int64_t longer = (rows > columns ? rows : columns) + 1;
    return longer * (int64_t)(3 * sizeof(double) + 3 * sizeof(int64_t)); /* and room to align */
}

void rb_assign_in(void *memory, int64_t rows, int64_t columns, const double *gain,
                  int64_t *column_of) {
    bool turned = rows > columns;
    int64_t longer = (turned ? rows : columns) + 1;
    double *numbers = memory;
    int64_t *indices = (int64_t *)(numbers + 3 * longer);
    assignment a = {
        .rows = turned ? columns : rows,
        .columns = turned ? rows : columns,
        .gain = gain,
        .row_stride = turned ? 1 : columns,
        .column_stride = turned ? columns : 1,
        .u = numbers,
        .v = numbers + longer,
        .distance = numbers + 2 * longer,
        .before = indices,
        .row_of = indices + longer,
        .in_tree = (bool *)(indices + 2 * longer),
    };
    for (int64_t c = 0; c < longer; c++) {
        a.u[c] = a.v[c] = 0;
        a.row_of[c] = -1;
    }
    for (int64_t r = 0; r < a.rows; r++)
        place(&a, r);
    for (int64_t c = 0; c < a.columns; c++)
        if (turned)
            column_of[c] = a.row_of[c];
        else if (a.row_of[c] >= 0)
            column_of[a.row_of[c]] = c;
}

rb_error rb_assign(rb_context *ctx, int64_t rows, int64_t columns, const double *gain,
                   int64_t *column_of) {
    void *memory = rb_alloc(ctx, rb_assign_size(rows, columns), 1);
    if (!memory) return RB_ERROR_MEMORY;
    rb_assign_in(memory, rows, columns, gain, column_of);
    rb_free(memory);
    return RB_OK;
}

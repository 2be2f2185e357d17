/* Posteriors of causes that are there or not, and their sums (kernels.cl): codes, and energies of
 * single causes in the place of Q, lie as sample after sample. Products are CLBlast's; all else is
 * summed over `walks` slices of the samples, which are then added up. */
#include "cl.h"

enum { MOST_WALKS = 64 };
static const double MOST_BYTES = 1 << 26; /* of sums of all slices */

size_t cl_walks(const cl_work *w) {
    size_t wide = w->m > w->l ? w->m : w->l;
    double fit = MOST_BYTES / (sizeof(float) * (double)wide * (double)w->l);
    size_t walks = fit < MOST_WALKS ? (size_t)fit : MOST_WALKS;
    walks = walks < w->n ? walks : w->n;
    return walks > w->slices ? walks : w->slices;
}

void cl_take_states(cl_work *w) {
    if (w->shape.states.count == 0) return;
    cl_up(w, CL_SETS, (size_t)w->shape.states.count * sizeof(uint64_t), w->shape.states.sets);
}

rb_error cl_fields(rb_device_work *work, const rb_device_fields *fields) {
    cl_work *w = (cl_work *)work;
    size_t unit = w->l * sizeof(float);
    cl_up(w, CL_WEIGHTS, w->m * unit, fields->fields);
    cl_up(w, CL_OFFSET, unit, fields->offset);
    cl_up(w, CL_PRIOR, unit, fields->prior);
    cl_up(w, CL_DEAD, w->l, fields->empty);
    if (!w->shape.states.maximum) cl_up(w, CL_SQUARE, w->l * unit, fields->overlap);
    w->scale = fields->scale;
    w->exponent = fields->exponent;
    return w->err;
}

/* ---- posteriors ---- */

static void energies(cl_work *w) {
    size_t count = (size_t)w->shape.states.count, top = (size_t)w->shape.states.candidates;
    const cl_argument sum[] = {
        num(w->n),          num(w->l),      num(count),     num(top),        buf(CL_SETS),
        buf(CL_CANDIDATES), buf(CL_LINEAR), buf(CL_SQUARE), buf(CL_CHANCES), {0}};
    const cl_argument max[] = {num(w->n),       num(w->l),
                               num(w->m),       num(count),
                               num(top),        real(w->scale),
                               buf(CL_SETS),    buf(CL_CANDIDATES),
                               buf(CL_LINEAR),  buf(CL_SAMPLES),
                               buf(CL_WEIGHTS), buf(CL_PRIOR),
                               buf(CL_CHANCES), {0}};
    if (w->shape.states.maximum)
        cl_run(w, CL_MAX_ENERGIES, w->n * count, 1, max);
    else
        cl_run(w, CL_SUM_ENERGIES, w->n * count, 1, sum);
}

rb_error cl_posteriors(rb_device_work *work, const uint8_t *used) {
    cl_work *w = (cl_work *)work;
    const rb_device_states *states = &w->shape.states;
    size_t count = (size_t)states->count, top = (size_t)states->candidates;
    cl_take_next(w);
    const cl_argument choose[] = {
        num(w->l), num(top), buf(CL_OFFSET), buf(CL_DEAD), buf(CL_LINEAR), buf(CL_CANDIDATES), {0}};
    const cl_argument weigh[] = {num(w->n),
                                 num(w->l),
                                 num(count),
                                 num(top),
                                 num(states->singles),
                                 buf(CL_SETS),
                                 buf(CL_CANDIDATES),
                                 buf(CL_LINEAR),
                                 buf(CL_CHANCES),
                                 buf(CL_TARGET),
                                 buf(CL_CHANGES),
                                 buf(CL_ALIVE),
                                 {0}};
    const cl_argument codes[] = {
        num(w->l),    num(count),     num(top),        buf(CL_SETS),  buf(CL_CANDIDATES),
        buf(CL_USED), buf(CL_LINEAR), buf(CL_CHANCES), buf(CL_CODES), buf(CL_PAIRS),
        {0}};
    cl_clear_bytes(w, CL_ALIVE, w->l);
    if (used) cl_clear_bytes(w, CL_USED, w->ld); /* of samples that were there before */
    if (used) cl_up(w, CL_USED, w->n, used);
    cl_multiply(w, w->ld, w->l, w->m, w->scale, (cl_matrix){CL_SAMPLES, false, 0, w->m},
                (cl_matrix){CL_WEIGHTS, true, 0, w->m}, 0, (cl_matrix){CL_LINEAR, false, 0, w->l});
    cl_run_groups(w, CL_CHOOSE, w->ld, choose);
    energies(w);
    cl_run_groups(w, CL_WEIGH, w->ld, weigh);
    if (used) cl_run_groups(w, CL_TAKE_CODES, w->ld, codes);
    return w->err;
}

/* ---- sums ---- */

static void take_columns(cl_work *w, int rows, int sums, float *to) {
    const cl_argument a[] = {num(w->n), num(w->l), num(w->walks), buf(rows), buf(sums), {0}};
    cl_run(w, CL_SUM_COLUMNS, w->l, w->walks, a);
    cl_take_sum(w, sums, w->walks, w->l, to);
}

static void take_pairs(cl_work *w, float *to) {
    const cl_argument a[] = {num(w->n),
                             num(w->l),
                             num((size_t)w->shape.states.candidates),
                             num(w->walks),
                             buf(CL_CANDIDATES),
                             buf(CL_PAIRS),
                             buf(CL_S),
                             {0}};
    cl_run_groups(w, CL_SUM_PAIRS, w->walks, a);
    cl_take_sum(w, CL_S, w->walks, w->l * w->l, to);
}

static void sum_shares(cl_work *w) {
    const cl_argument a[] = {num(w->n),
                             num(w->l),
                             num(w->m),
                             num((size_t)w->shape.states.count),
                             num((size_t)w->shape.states.candidates),
                             num(w->walks),
                             real(w->exponent),
                             buf(CL_SETS),
                             buf(CL_CANDIDATES),
                             buf(CL_CHANCES),
                             buf(CL_SAMPLES),
                             buf(CL_WEIGHTS),
                             buf(CL_S),
                             buf(CL_U),
                             {0}};
    cl_run(w, CL_SUM_SHARES, w->m, w->walks, a);
}

/* Where the largest field counts, causes alone are a product, and sets come to it. */
rb_error cl_posterior_sums(rb_device_work *work, const rb_device_posteriors *to) {
    cl_work *w = (cl_work *)work;
    bool maximum = w->shape.states.maximum;
    if (to->evidence) cl_down(w, CL_TARGET, w->n * sizeof(float), to->evidence);
    if (to->energy) cl_down(w, CL_CHANGES, w->n * sizeof(float), to->energy);
    if (to->likeliest) cl_down(w, CL_ALIVE, w->l, to->likeliest);
    if (to->causes) take_columns(w, CL_CODES, CL_SUMS, to->causes);
    if (to->alone) take_columns(w, CL_LINEAR, CL_LARGEST, to->alone);
    if (to->second) take_pairs(w, to->second);
    if (to->products) {
        if (maximum) sum_shares(w);
        cl_sum_products(w, (cl_matrix){maximum ? CL_LINEAR : CL_CODES, true, 0, w->l}, w->l,
                        (cl_matrix){CL_SAMPLES, false, 0, w->m}, w->m, maximum, CL_U);
        cl_take_sum(w, CL_U, maximum ? w->walks : w->slices, w->l * w->m, to->products);
    }
    if (to->weights) cl_take_sum(w, CL_S, w->walks, w->l * w->m, to->weights);
    return w->err;
}

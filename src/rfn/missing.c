/* A fit to samples that lack values.
 *
 * Missing values are hidden, as the codes are, and integrated out (Ghahramani and Jordan 1994, for
 * factor analysis; the posterior means are then projected as those of complete samples are,
 * Clevert et al. 2015). With o_i the features of sample i, Sigma_i its posterior covariance
 * (patterns.c), mu_i its codes and w_k, psi_k from before the M-step, what the M-step takes is what
 * complete samples would be expected to give:
 *
 *     U_k  = 1/n [ sum over i that have k of v_ik mu_i + sum over the others of (mu_i mu_i' +
 *            Sigma_i) w_k ]
 *     S    = 1/n sum over i of (mu_i mu_i' + Sigma_i)
 *     C_kk = 1/n [ sum over i that have k of v_ik^2 + sum over the others of (w_k' (mu_i mu_i' +
 *            Sigma_i) w_k + psi_k) ]
 *
 * so that no M-step knows of what is missing, and none lowers the objective that would not lower
 * it for complete samples: the objective is that of complete samples, plus the entropy of what is
 * missing given the codes. It is a lower bound of the mean log-likelihood of what is there less
 * O / 2, and equal to it with the parameters of the E-step.
 *
 * An E-step is two passes. The first has P and Q of the samples; then codes get better, sample by
 * sample with their own P; the second adds up the sums above.
 */
#include "missing.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- memory ---- */

enum { COVARIANCE_CELLS = 1 << 22 };

static int64_t samples_of_piece(const rb_problem *problem) {
    int64_t samples = rfn_piece_samples(problem->n_features);
    return samples < problem->block_samples ? samples : problem->block_samples;
}

static int64_t covariances_at_once(int64_t samples, int64_t units) {
    int64_t count = COVARIANCE_CELLS / rfn_packed(units);
    count = count < 16 ? 16 : count;
    return count < samples ? count : samples;
}

rb_error rfn_missing_new(rb_context *ctx, const rfn_setup *setup, rfn_missing *f) {
    const rb_problem *problem = &setup->problem;
    rb_scratch *s = &f->scratch;
    int64_t m = problem->n_features, l = setup->options.units, n = samples_of_piece(problem);
    *f = (rfn_missing){.setup = setup, .scratch = {.ctx = ctx}};
    f->on = problem->missing;
    f->engine = problem->engine ? (const rfn_engine *)problem->engine : &rfn_engine_cpu;
    if (!f->on) return RB_OK;
    f->patterns.of = rb_take(s, problem->own, sizeof *f->patterns.of);
    f->patterns.curvature = rb_take(s, l, sizeof *f->patterns.curvature);
    f->scale = rb_take(s, l, sizeof *f->scale);
    f->positive = rb_take(s, l, sizeof *f->positive);
    f->second = rb_take(s, m, sizeof *f->second);
    f->log_dets = rb_take(s, n, sizeof *f->log_dets);
    f->order = rb_take(s, n, sizeof *f->order);
    f->starts = rb_take(s, n + 1, sizeof *f->starts);
    f->constants = rb_take(s, n, sizeof *f->constants);
    f->squares = rb_take(s, rb_context_threads(ctx), (size_t)(l * (l + n)) * sizeof *f->squares);
    rb_dense_take(s, problem->type, n, m, &f->masks);
    rb_dense_take(s, problem->type, n, m, &f->filled);
    rb_dense_take(s, problem->type, n, l, &f->linear);
    rb_dense_take(s, problem->type, covariances_at_once(n, l), rfn_packed(l), &f->covariances);
    rfn_piece_take(s, problem->type, n, m, &f->piece);
    rfn_pattern_work_take(s, problem->type, m, l, &f->work);
    return s->err;
}

/* ---- the patterns ---- */

void rfn_missing_free(rfn_missing *f) {
    rb_free(f->keyed);
    rb_scratch_end(&f->scratch);
}

double rfn_missing_bytes(const rb_problem *problem, int64_t units) {
    double m = (double)problem->n_features, l = (double)units, packed = (double)rfn_packed(units);
    double n = (double)samples_of_piece(problem), own = (double)problem->own;
    double values =
        own * packed + n * (4 * m + l) + (double)covariances_at_once((int64_t)n, units) * packed;
    return (double)rb_type_size(problem->type) * values + 20 * own;
}

/* Rows of values as a block. */
static rb_block block_of(rb_dense rows) {
    return (rb_block){.n_samples = rows.rows, .n_features = rows.cols, .dense = rows};
}

rb_error rfn_missing_survey(rb_context *ctx, rfn_missing *f, const rb_block *block,
                            rfn_survey *survey) {
    int64_t size = f->piece.rows.rows;
    if (!f->keyed) f->keyed = rb_alloc(ctx, f->setup->problem.own, sizeof *f->keyed);
    if (!f->keyed) return RB_ERROR_MEMORY;
    for (int64_t first = 0; first < block->n_samples; first += size) {
        rfn_piece piece = rfn_piece_load(
            ctx, block, first, rb_smaller(block->n_samples - first, size), true, &f->piece);
        rb_block rows = block_of(piece.rows), there = block_of(piece.there);
        rb_block_feature_squares(ctx, &rows, survey->second);
        rb_block_feature_squares(ctx, &there, survey->observed);
        for (int64_t i = 0; i < piece.rows.rows; i++) {
            int64_t own = block->own + first + i;
            f->keyed[own] = (rfn_keyed){{piece.keys[i][0], piece.keys[i][1]}, own};
        }
    }
    return RB_OK;
}

/* Samples by pattern, patterns by their first sample: a pattern's key becomes that sample. */
static void sort_by_first(rfn_keyed *list, int64_t count) {
    rfn_sort_keyed(list, count);
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !rfn_key_begins(list, end);)
            end++;
        for (int64_t first = list[i].sample, e = i; e < end; e++)
            list[e].key[0] = list[e].key[1] = (uint64_t)first;
    }
    rfn_sort_keyed(list, count);
}

rb_error rfn_missing_survey_end(rfn_missing *f) {
    const rb_problem *problem = &f->setup->problem;
    int64_t n = problem->own, end = problem->first_group + problem->own_groups;
    rfn_keyed *list = f->keyed;
    for (int64_t g = problem->first_group; g < end; g++) {
        int64_t first = rb_group_first(problem, g), after = rb_group_first(problem, g + 1);
        sort_by_first(list + first - problem->first, after - first);
    }
    for (int64_t i = 0; i < n; i++) {
        f->count += rfn_key_begins(list, i);
        f->patterns.of[list[i].sample] = (int32_t)(f->count - 1);
    }
    f->firsts = rb_take(&f->scratch, f->count, sizeof *f->firsts);
    f->sizes = rb_take(&f->scratch, f->count, sizeof *f->sizes);
    rb_dense_take(&f->scratch, f->setup->problem.type, f->count,
                  rfn_packed(f->setup->options.units), &f->patterns.precisions);
    for (int64_t i = 0; !f->scratch.err && i < n; i++) {
        int32_t pattern = f->patterns.of[list[i].sample];
        if (f->sizes[pattern]++ == 0) f->firsts[pattern] = list[i].sample;
    }
    rb_free(list);
    f->keyed = NULL;
    return f->scratch.err;
}

/* Patterns whose first samples are in the piece: they follow each other. Their masks: what the
 * samples have, or as many as there are samples that lack a feature. */
static int64_t first_pattern(rfn_missing *f, int64_t own, const rfn_piece *piece, bool lacks,
                             int64_t *count) {
    int64_t begin = -1;
    *count = 0;
    for (int64_t i = 0; i < piece->rows.rows; i++) {
        int64_t pattern = f->patterns.of[own + i];
        if (f->firsts[pattern] != own + i) continue;
        begin = begin < 0 ? pattern : begin;
        rb_dense mask = rb_dense_rows(f->masks, *count, 1);
        rb_dense_copy(rb_dense_rows(piece->there, i, 1), mask);
        for (int64_t k = 0; lacks && k < mask.cols; k++) {
            double there = rb_dense_get(mask, 0, k);
            rb_dense_set(mask, 0, k, (double)f->sizes[pattern] * (1 - there));
        }
        (*count)++;
    }
    return begin < 0 ? 0 : begin;
}

/* ---- the first pass ---- */

void rfn_missing_begin(rfn_missing *f) {
    f->constant = 0;
    for (int64_t j = 0; f->on && j < f->setup->options.units; j++)
        f->patterns.curvature[j] = 0;
}

struct solving {
    rfn_missing *f;
    int64_t own; /* of the first sample of the piece */
    const int64_t *order, *starts;
    rb_dense linear, means; /* samples of the piece x l; l x the same, or of no rows */
    atomic_bool failed;
};

/* The samples of a pattern in the piece: mu_p = P^-1 Q. */
static void solve_pattern(void *arg, int64_t index, int worker) {
    struct solving *s = arg;
    rfn_missing *f = s->f;
    int64_t l = s->linear.cols, room = l * (l + f->piece.rows.rows);
    double *square = f->squares + worker * room, *sides = square + l * l;
    const int64_t *order = s->order + s->starts[index];
    int64_t count = s->starts[index + 1] - s->starts[index];
    rfn_unpack(f->patterns.precisions, f->patterns.of[s->own + order[0]], l, false, square, l);
    for (int64_t e = 0; e < count * l; e++)
        sides[e] = rb_dense_get(s->linear, order[e / l], e % l);
    if (!rb_solve_small(l, square, count, sides)) s->failed = true;
    for (int64_t i = 0; i < count; i++) {
        f->constants[order[i]] = 0;
        for (int64_t j = 0; j < l; j++) {
            double mean = sides[i * l + j];
            f->constants[order[i]] += mean * rb_dense_get(s->linear, order[i], j);
            if (s->means.rows > 0) rb_dense_set(s->means, j, order[i], mean);
        }
    }
}

/* Samples in the order of their patterns, each in its own; where the patterns begin. */
static int64_t sort_samples(rfn_missing *f, int64_t own, int64_t n, int64_t *order,
                            int64_t *starts) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        for (; at > 0 && f->patterns.of[own + order[at - 1]] > f->patterns.of[own + i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || f->patterns.of[own + order[i]] != f->patterns.of[own + order[i - 1]])
            starts[count++] = i;
    starts[count] = n;
    return count;
}

static rb_error solve_piece(rb_context *ctx, rfn_missing *f, int64_t own, rb_dense linear,
                            rb_dense means) {
    struct solving s = {
        .f = f, .own = own, .order = f->order, .starts = f->starts, .linear = linear};
    if (means.rows > 0) s.means = rb_dense_part(means, 0, means.rows, own, linear.rows);
    int64_t count = sort_samples(f, own, linear.rows, f->order, f->starts);
    rb_parallel(ctx, count, solve_pattern, &s);
    for (int64_t i = 0; i < linear.rows; i++)
        f->constant += f->constants[i];
    return s.failed ? rfn_fail_indefinite(ctx) : RB_OK;
}

static void note_curvature(rfn_missing *f, rb_dense precisions) {
    for (int64_t g = 0; g < precisions.rows; g++) {
        for (int64_t j = 0; j < f->setup->options.units; j++) {
            double value = rb_dense_get(precisions, g, rfn_packed(j + 1) - 1);
            f->patterns.curvature[j] = fmax(f->patterns.curvature[j], value);
        }
    }
}

void rfn_missing_collected(rb_context *ctx, rfn_missing *f, const rfn_sums *sums) {
    f->constant = sums->constant;
    rb_comm_max(ctx, f->setup->options.units, f->patterns.curvature);
}

rb_error rfn_missing_collect(rb_context *ctx, rfn_missing *f, const rfn_parameters *parameters,
                             const rb_block *block, rb_dense weighted, rb_dense linear,
                             rb_dense means) {
    if (f->engine->collect) return f->engine->collect(ctx, f, parameters, block, linear, means);
    int64_t size = f->piece.rows.rows, l = linear.rows;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < block->n_samples; first += size) {
        int64_t own = block->own + first, count;
        rfn_piece piece = rfn_piece_load(
            ctx, block, first, rb_smaller(block->n_samples - first, size), false, &f->piece);
        rb_dense q = rb_dense_rows(f->linear, 0, piece.rows.rows);
        int64_t pattern = first_pattern(f, own, &piece, false, &count);
        rb_dense precisions = rb_dense_rows(f->patterns.precisions, pattern, count);
        if (count > 0) {
            rfn_precisions(ctx, parameters, rb_dense_rows(f->masks, 0, count), &f->work,
                           precisions);
            note_curvature(f, precisions);
        }
        rfn_linear_part(ctx, &parameters->prior, piece.rows, weighted, q);
        rb_dense_transpose(q, rb_dense_part(linear, 0, l, own, q.rows));
        if (means.rows > 0 || f->setup->problem.fit->trace)
            err = solve_piece(ctx, f, own, q, means);
    }
    return err;
}

/* ---- newton ---- */

struct projecting {
    rfn_missing *f;
    const rfn_slices *slices;
    rb_dense codes;
    double *parts; /* l x (sum, sum of squares) x groups */
};

static void add_unit(void *arg, int64_t j, int worker) {
    const struct projecting *p = arg;
    const rfn_slices *s = p->slices;
    double *sums = p->parts + 2 * j * s->groups, *squares = sums + s->groups;
    for (int64_t g = 0; g < s->groups; g++) {
        sums[g] = squares[g] = 0;
        for (int64_t i = s->bounds[g]; i < s->bounds[g + 1]; i++) {
            double code = fmax(0, rb_dense_get(p->codes, j, i));
            sums[g] += code;
            squares[g] += code * code;
        }
    }
}

static void project_unit(void *arg, int64_t j, int worker) {
    const struct projecting *p = arg;
    for (int64_t i = 0; i < p->codes.cols; i++)
        rb_dense_set(p->codes, j, i, fmax(0, rb_dense_get(p->codes, j, i)) / p->f->scale[j]);
}

rb_error rfn_missing_project(rb_context *ctx, rfn_missing *f, const rfn_slices *slices,
                             rb_dense codes, bool last) {
    const rb_rfn_options *options = &f->setup->options;
    int64_t l = codes.rows;
    double n = (double)f->setup->problem.n_samples;
    rb_scratch scratch = {.ctx = ctx};
    struct projecting p = {f, slices, codes,
                           rb_take(&scratch, 2 * l * slices->groups, sizeof(double))};
    double *sums = rb_take(&scratch, 2 * l, sizeof *sums);
    rb_error err = rb_comm_agree(ctx, scratch.err);
    if (!err) {
        rb_parallel(ctx, l, add_unit, &p);
        rb_add_groups(ctx, 2 * l, slices->groups, p.parts, sums);
    }
    for (int64_t j = 0; !err && j < l; j++) {
        rb_dense row = rb_dense_rows(codes, j, 1);
        f->positive[j] = sums[2 * j + 1] > 0;
        f->scale[j] = rfn_unit_scale(options, sums[2 * j] / n, sums[2 * j + 1] / n);
        bool placed = !f->positive[j] && options->normalize == RB_RFN_NORMALIZE_RMS && !last;
        /* as dead.c has */
        int64_t place = placed ? rfn_largest(ctx, slices, 0, row, row.data) : -1;
        if (placed) rb_dense_zero(row);
        if (place >= 0) rb_dense_set(row, 0, place, f->scale[j] * sqrt(n));
    }
    if (!err) rb_parallel(ctx, l, project_unit, &p);
    rb_error end = rb_scratch_end(&scratch);
    return err ? err : end;
}

/* ---- the second pass ---- */

enum { BAND = 256 };

struct filling {
    rb_context *ctx;
    rfn_piece piece;
    rb_dense filled; /* W mu */
    double *squares; /* m */
};

static void fill_band(void *arg, int64_t band, int worker) {
    const struct filling *f = arg;
    int64_t first = band * BAND, count = rb_smaller(f->filled.cols - first, BAND);
    for (int64_t i = 0; i < f->filled.rows; i++) {
        rb_kernels_of(f->ctx)->of[f->filled.type].fill_row(
            count, rb_dense_part(f->piece.there, i, 1, first, count).data,
            rb_dense_part(f->filled, i, 1, first, count).data,
            rb_dense_part(f->piece.rows, i, 1, first, count).data, f->squares + first);
    }
}

/* What the covariances of patterns first .. add: sum Sigma, its logarithms, and what missing values
 * are expected to have in common with the codes. */
static rb_error add_covariances(rb_context *ctx, rfn_missing *f, const rfn_parameters *parameters,
                                int64_t first, int64_t count, rfn_sums *sums) {
    int64_t size = f->covariances.rows, l = parameters->loadings.cols;
    rb_error err = RB_OK;
    for (int64_t at = 0; !err && at < count; at += size) {
        int64_t part = rb_smaller(count - at, size);
        rb_dense sigma = rb_dense_rows(f->covariances, 0, part);
        err = rfn_covariances(ctx, rb_dense_rows(f->patterns.precisions, first + at, part),
                              &f->work, sigma, f->log_dets);
        for (int64_t g = 0; !err && g < part; g++) {
            double samples = (double)f->sizes[first + at + g];
            sums->log_det += samples * f->log_dets[g];
            for (int64_t j = 0, e = 0; j < l; j++)
                for (int64_t c = 0; c <= j; c++, e++) {
                    double sum = rb_dense_get(sums->sigma, j, c);
                    rb_dense_set(sums->sigma, j, c, sum + samples * rb_dense_get(sigma, g, e));
                }
        }
        if (!err) {
            rfn_add_lacking(ctx, parameters->loadings, rb_dense_rows(f->masks, at, part), sigma,
                            &f->work, sums->lacking);
        }
    }
    return err;
}

rb_error rfn_missing_add(rb_context *ctx, rfn_missing *f, const rfn_parameters *parameters,
                         const rb_block *block, rb_dense codes, rfn_sums *sums) {
    if (f->engine->add) return f->engine->add(ctx, parameters, block, codes, sums);
    int64_t size = f->piece.rows.rows;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < block->n_samples; first += size) {
        int64_t count;
        rfn_piece piece = rfn_piece_load(
            ctx, block, first, rb_smaller(block->n_samples - first, size), false, &f->piece);
        int64_t pattern = first_pattern(f, block->own + first, &piece, true, &count);
        rb_dense mu = rb_dense_rows(codes, first, piece.rows.rows);
        struct filling fill = {ctx, piece, rb_dense_rows(f->filled, 0, mu.rows), sums->imputed};
        rb_gemm_parallel(ctx, 1, mu, RB_PLAIN, parameters->loadings, RB_TRANSPOSED, 0, fill.filled);
        rb_parallel(ctx, (fill.filled.cols + BAND - 1) / BAND, fill_band, &fill);
        rb_moments_parallel(ctx, 1, piece.rows, mu, sums->u, sums->s);
        err = add_covariances(ctx, f, parameters, pattern, count, sums);
    }
    sums->weight += (double)block->n_samples;
    return err;
}

/* ---- what follows from the sums ---- */

void rfn_missing_moments(rfn_missing *f, const rfn_parameters *parameters, const rfn_survey *survey,
                         const rfn_sums *sums, rfn_moments *moments, rfn_posterior *posterior) {
    rb_dense w = parameters->loadings, u = moments->u;
    double n = sums->weight;
    f->entropy = f->expected = 0;
    for (int64_t k = 0; k < w.rows; k++) {
        double lacking = n - survey->observed[k], common = 0, noise = parameters->noise[k];
        for (int64_t j = 0; j < w.cols; j++) {
            double sum = rb_dense_get(sums->lacking, j, k);
            rb_dense_set(u, k, j, rb_dense_get(u, k, j) + sum / n);
            common += sum * rb_dense_get(w, k, j);
        }
        double there = survey->observed[k] * survey->second[k];
        double expected = sums->imputed[k] + common;
        f->second[k] = (there + expected + lacking * noise) / n;
        f->expected += expected / n / noise;
        f->entropy += lacking / n * (log(2 * M_PI * noise) + 1) / 2;
    }
    for (int64_t j = 0; j < w.cols; j++)
        for (int64_t c = 0; c <= j; c++) {
            double value = rb_dense_get(sums->sigma, j, c) / n;
            rb_dense_set(posterior->sigma, j, c, value);
            rb_dense_set(posterior->sigma, c, j, value);
        }
    posterior->log_det = sums->log_det / n;
}

/* Where time goes: a clock that runs for one phase at a time, while the calling thread works. What
 * the other threads do in products is counted, but not timed. */
#include "base.h"

#include <stdlib.h>

struct rb_profile {
    pthread_t caller;
    atomic_int now; /* rb_phase; others read it */
    double since;
    double seconds[RB_PHASES];
    atomic_llong flops[RB_PHASES], bytes[RB_PHASES];
};

rb_error rb_context_profile(rb_context *ctx, bool on) {
    free(ctx->profile);
    ctx->profile = on ? calloc(1, sizeof *ctx->profile) : NULL;
    if (on && !ctx->profile) return rb_fail(ctx, RB_ERROR_MEMORY, "out of memory");
    if (on) {
        ctx->profile->caller = pthread_self();
        ctx->profile->now = RB_PHASE_ELSEWHERE;
        ctx->profile->since = rb_seconds();
    }
    return RB_OK;
}

/* Gives the phase before. */
static rb_phase turn_to(struct rb_profile *p, rb_phase phase) {
    double now = rb_seconds();
    rb_phase before = (rb_phase)p->now;
    p->seconds[before] += now - p->since;
    p->since = now;
    p->now = (int)phase;
    return before;
}

static bool is_timed(const rb_context *ctx) {
    return ctx->profile && pthread_equal(ctx->profile->caller, pthread_self());
}

rb_phase rb_phase_begin(const rb_context *ctx, rb_phase phase) {
    return is_timed(ctx) ? turn_to(ctx->profile, phase) : RB_PHASE_ELSEWHERE;
}

void rb_phase_end(const rb_context *ctx, rb_phase before) {
    if (is_timed(ctx)) turn_to(ctx->profile, before);
}

static rb_phase phase_of_products(const struct rb_profile *p) {
    rb_phase now = (rb_phase)p->now;
    return now == RB_PHASE_ESTEP ? RB_PHASE_PRODUCTS : now;
}

void rb_phase_add(const rb_context *ctx, double flops, double bytes) {
    struct rb_profile *p = ctx->profile;
    if (!p) return;
    rb_phase phase = phase_of_products(p);
    atomic_fetch_add(&p->flops[phase], (long long)flops);
    atomic_fetch_add(&p->bytes[phase], (long long)bytes);
}

rb_phase rb_phase_product(const rb_context *ctx, int64_t rows, int64_t inner, int64_t cols,
                          size_t size) {
    if (!ctx->profile) return RB_PHASE_ELSEWHERE;
    double n = (double)rows, k = (double)inner, m = (double)cols;
    rb_phase_add(ctx, 2 * n * k * m, (n * k + k * m + n * m) * (double)size);
    return rb_phase_begin(ctx, phase_of_products(ctx->profile));
}

rb_phase rb_phase_sparse(const rb_context *ctx, int64_t entries, int moves, int64_t cols,
                         size_t size) {
    if (!ctx->profile) return RB_PHASE_ELSEWHERE;
    double n = (double)entries, m = (double)cols;
    rb_phase_add(ctx, 2 * n * m, n * ((double)sizeof(int32_t) + (1 + moves * m) * (double)size));
    return rb_phase_begin(ctx, phase_of_products(ctx->profile));
}

const char *rb_context_phase(const rb_context *ctx, int index, double *seconds, double *flops,
                             double *bytes) {
    static const char *const names[] = {
        [RB_PHASE_READING] = "reading",
        [RB_PHASE_PREPROCESSING] = "preprocessing",
        [RB_PHASE_PRODUCTS] = "products of the E-step",
        [RB_PHASE_ESTEP] = "E-step besides",
        [RB_PHASE_MSTEP] = "M-step",
        [RB_PHASE_LAST] = "last E-step",
        [RB_PHASE_CHECK] = "check of codes",
        [RB_PHASE_STORING] = "storing",
        [RB_PHASE_ELSEWHERE] = "elsewhere",
        [RB_PHASE_WAITING] = "waiting for processes",
    };
    struct rb_profile *p = ctx->profile;
    int phases = rb_ranks(ctx) > 1 ? RB_PHASES : RB_PHASE_WAITING;
    if (!p || index < 0 || index >= phases) return NULL;
    if (is_timed(ctx)) turn_to(p, (rb_phase)p->now);
    *seconds = p->seconds[index];
    *flops = (double)p->flops[index];
    *bytes = (double)p->bytes[index];
    return names[index];
}

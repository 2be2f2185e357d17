/* Values below 0, for methods whose causes and fields are not: how many, how much of the data they
 * are, and where the first one is. */
#include "data.h"

#include <math.h>

/* Noise around 0 is below it too: so small a share of the sum of squares is taken for that. */
static const double noise_share = 0.1;

static void add_row(rb_below *below, int64_t sample, int64_t count, const double *row) {
    for (int64_t k = 0; k < count; k++) {
        if (isnan(row[k])) continue;
        double square = row[k] * row[k];
        below->values++;
        below->all_squares += square;
        if (row[k] < 0) {
            if (below->count++ == 0) {
                below->sample = sample;
                below->feature = k;
            }
            below->squares += square;
        }
    }
}

rb_error rb_below_add(rb_context *ctx, rb_below *below, const rb_block *block) {
    rb_dense row;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, 1, block->n_features, &row);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_block_rows(block, i, row);
        add_row(below, block->first + i, block->n_features, row.data);
    }
    rb_dense_free(&row);
    return err;
}

static void join(int64_t count, void *mine, const void *theirs) {
    rb_below *own = mine;
    const rb_below *other = theirs;
    bool first = other->count > 0 && (own->count == 0 || other->sample < own->sample);
    own->sample = first ? other->sample : own->sample;
    own->feature = first ? other->feature : own->feature;
    own->count += other->count;
    own->values += other->values;
    own->squares += other->squares;
    own->all_squares += other->all_squares;
}

void rb_below_join(rb_context *ctx, rb_below *below) {
    rb_comm_combine(ctx, below, 1, sizeof *below, join);
}

void rb_below_tell(rb_context *ctx, const rb_below *below, const rb_preprocess *p,
                   const rb_source *source, const char *method, const char *others) {
    if (below->count == 0) return;
    int64_t k = below->feature;
    double share = below->all_squares > 0 ? below->squares / below->all_squares : 0;
    bool noise = share < noise_share;
    const char *name = rb_source_sample_name(source, below->sample);
    const char *feature = p->names ? p->names->text[k] : NULL;
    const char *advice = p->options.centre != RB_CENTRE_NONE
                             ? " can explain none of them; leave `centre` out, or fit "
                             : " can explain none of them; take data that are not centred, or fit ";
    rb_log(ctx, noise ? RB_LOG_INFO : RB_LOG_WARNING,
           "%lld of %lld values are below 0, %.2g %% of the sum of squares, the first in sample "
           "%lld%s%s%s, feature %lld%s%s%s%s: %s%s%s",
           (long long)below->count, (long long)below->values, 100 * share,
           (long long)rb_nth(ctx, below->sample), name ? " (" : "", name ? name : "",
           name ? ")" : "", (long long)rb_nth(ctx, p->selected ? p->selected[k] : k),
           feature ? " (" : "", feature ? feature : "", feature ? ")" : "",
           rb_counted(ctx, name && feature), method, noise ? " takes them for noise" : advice,
           noise ? "" : others);
}

/* The E-steps newton and cyclic, and codes, on a device (rarebit/device.h). Private to src/rfn.
 *
 * After a call has failed all others do nothing, until rfn_device_end says why. */
#ifndef RB_RFN_DEVICE_H
#define RB_RFN_DEVICE_H

#include "engine.h"

struct rfn_persistent;
struct rfn_fit;
struct rfn_quadratic;

typedef struct rfn_device {
    rb_context *ctx;
    const rb_device *table;
    rb_device_work *work;
    rb_error err;
    bool streams;      /* samples come and go, block by block */
    int64_t there;     /* samples that it has; where they stream, of the block at hand */
    int64_t first;     /* the number of the first of them */
    bool begun;        /* weights are there, where samples stream */
    rb_dense u, s;     /* moments of samples that stream */
    double data_bytes; /* moved by the last of them */
    int64_t n_units;
    rb_device_units units;
    rb_dense rows; /* samples on their way up or down */
    float *codes;  /* of a sample: l */
} rfn_device;

/* RB_ERROR_UNSUPPORTED: what a device does not do. */
rb_error rfn_device_check(rb_context *ctx, const rb_problem *problem,
                          const rb_rfn_options *options);
/* *device is NULL where the fit has none. */
rb_error rfn_device_new(rb_context *ctx, const rfn_setup *setup, rfn_device **device);
/* The same for codes of blocks of a model, by multipliers or by the closed form. */
rb_error rfn_device_for_codes(rb_context *ctx, const rb_model *model, const rb_rfn_options *options,
                              int64_t block_samples, bool exact, rfn_device **device);
void rfn_device_free(rfn_device *device);
rb_error rfn_device_end(rfn_device *device); /* of a group of calls: what went wrong in them */

/* A block goes up, unless it is there, or in place of the one before; are all samples there? */
void rfn_device_put(rfn_device *device, const rb_block *block);
void rfn_device_take(rfn_device *device, const rb_block *block);
bool rfn_device_is_filled(const rfn_device *device, const rb_problem *problem);

/* Q, or with the filter of a posterior that is not factored mu_p. */
void rfn_device_linear(rfn_device *device, rb_dense weights, const void *offset);
/* exact codes: a step of one unit after the other, unscaled; of each sample the largest code and
 * change. */
void rfn_device_descend(rfn_device *device, const struct rfn_quadratic *problem, float *largest,
                        float *changes);
/* newton: codes from there, and what they add to the sums. */
void rfn_device_newton(rfn_device *device, struct rfn_fit *fit);
/* The same where samples stream: of a block; what is left at the end of a group. */
rb_error rfn_device_block(rfn_device *device, struct rfn_fit *fit, const rb_block *block);
rb_error rfn_device_group_end(rfn_device *device, struct rfn_fit *fit);
/* codes from Q; a step from those at hand; what they are worth; their sums. */
void rfn_device_first(rfn_device *device, rb_dense sigma, bool scaled);
void rfn_device_sweep(rfn_device *device, struct rfn_persistent *persistent, double *change);
double rfn_device_largest_code(rfn_device *device);
void rfn_device_look(rfn_device *device, struct rfn_persistent *persistent, double *multipliers);
void rfn_device_moments(rfn_device *device, rfn_sums *sums);

/* mu'mu, lower triangle; the codes of a unit become 0, on the device or (NULL) where they are. */
void rfn_device_products(rfn_device *device, rb_dense products);
void rfn_clear_codes(rfn_device *device, rb_dense codes, int64_t unit);
/* In how many samples each unit is active; of the samples, as rb_device.occupied counts them. */
void rfn_device_count_positive(rfn_device *device, int64_t *positive);
void rfn_device_occupied(rfn_device *device, const uint8_t *marks, int64_t least, int64_t *empty,
                         int64_t *full);
/* Puts the bytes of the samples, and those moved per iteration, into the model. */
rb_error rfn_device_report(rfn_device *device, rb_model *model);
/* rb_method.device */
void rfn_device_codes(rfn_device *device, rb_device_codes what, rb_dense codes);

#endif

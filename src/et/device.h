/* Posteriors on a device (rarebit/device.h): of binary causes with Gaussian noise. Private to
 * src/et. */
#ifndef RB_ET_DEVICE_H
#define RB_ET_DEVICE_H

#include "fit.h"

typedef struct et_device et_device;

/* In place of the processor's engine, where the problem has a device: et_engine_cpu says what it is
 * given. */
extern const rb_engine et_engine_device;
/* RB_ERROR_UNSUPPORTED: what a device does not do. */
rb_error et_device_check(rb_context *ctx, const rb_problem *problem, const et_setup *setup);
/* Are all samples there, so that none need be read? */
bool et_device_is_filled(const et_device *device);
/* Puts the bytes of the samples, and those moved per iteration, into the model. */
rb_error et_device_report(const et_device *device, rb_model *model);

/* Codes of blocks of at most so many samples, n x H, by an engine that is prepared. */
rb_error et_device_for_codes(rb_context *ctx, const et_engine *engine, int64_t block_samples,
                             et_device **device);
rb_error et_device_encode(et_device *device, const rb_block *block, float *codes);
void et_device_free(et_device *device);

#endif

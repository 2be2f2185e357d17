/* rarebit: finds the few hidden causes behind data. All public headers of the library librarebit.
 *
 * Files are a library of their own, librarebit-io: rarebit/io.h, rarebit/denoise.h,
 * rarebit/patches.h, rarebit/segments.h. So are plots, librarebit-plot: rarebit/plot.h. */
#ifndef RAREBIT_RAREBIT_H
#define RAREBIT_RAREBIT_H

#include <rarebit/compare.h>
#include <rarebit/context.h>
#include <rarebit/et.h>
#include <rarebit/fields.h>
#include <rarebit/fit.h>
#include <rarebit/matrix.h>
#include <rarebit/method.h>
#include <rarebit/model.h>
#include <rarebit/modules.h>
#include <rarebit/options.h>
#include <rarebit/preprocess.h>
#include <rarebit/rfn.h>
#include <rarebit/simulate.h>
#include <rarebit/version.h>

#endif

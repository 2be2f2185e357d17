/* rarebit: finds the few hidden causes behind data. All public headers. */
#ifndef RAREBIT_RAREBIT_H
#define RAREBIT_RAREBIT_H

#include <rarebit/compare.h>
#include <rarebit/context.h>
#include <rarebit/denoise.h>
#include <rarebit/et.h>
#include <rarebit/fields.h>
#include <rarebit/fit.h>
#include <rarebit/io.h>
#include <rarebit/matrix.h>
#include <rarebit/method.h>
#include <rarebit/model.h>
#include <rarebit/modules.h>
#include <rarebit/options.h>
#include <rarebit/patches.h>
#include <rarebit/plot.h>
#include <rarebit/preprocess.h>
#include <rarebit/rfn.h>
#include <rarebit/segments.h>
#include <rarebit/simulate.h>
#include <rarebit/version.h>

#endif

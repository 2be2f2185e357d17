/* rarebit: finds the few hidden causes behind data. All public headers of the library librarebit.
 *
 * Libraries of their own are files, librarebit-io: rarebit/io.h; plots, librarebit-plot:
 * rarebit/plot.h; nets, librarebit-nets: rarebit/deep.h, rarebit/grid.h, rarebit/stack.h; samples
 * cut out of pictures and sounds, librarebit-media: rarebit/denoise.h, rarebit/patches.h,
 * rarebit/segments.h.
 *
 * What holds for all of them:
 *
 * NULL. A pointer may be NULL where the header says so, and nowhere else. Said once for all, it may
 * be what a function frees or abandons, the `user` of a callback, which is handed on, and the
 * options of a call that takes defaults (rarebit/options.h).
 *
 * Structs. Those that the library makes, such as rb_progress, and those that carry a size, which
 * the program sets to that of its header (rb_method, rb_option_group), get new fields at their end.
 * All others that a program fills, that are filled in its memory, or that stand in an array keep
 * their layout: what is to be added comes as another function. */
#pragma once

#include <rarebit/check.h>
#include <rarebit/consensus.h>
#include <rarebit/context.h>
#include <rarebit/covariates.h>
#include <rarebit/device.h>
#include <rarebit/document.h>
#include <rarebit/enrichment.h>
#include <rarebit/et.h>
#include <rarebit/fields.h>
#include <rarebit/fit.h>
#include <rarebit/matrix.h>
#include <rarebit/method.h>
#include <rarebit/methods.h>
#include <rarebit/model.h>
#include <rarebit/modules.h>
#include <rarebit/options.h>
#include <rarebit/preprocess.h>
#include <rarebit/regress.h>
#include <rarebit/replication.h>
#include <rarebit/rerun.h>
#include <rarebit/rfn.h>
#include <rarebit/sample.h>
#include <rarebit/select.h>
#include <rarebit/significance.h>
#include <rarebit/simulate.h>
#include <rarebit/states.h>
#include <rarebit/table.h>
#include <rarebit/version.h>
#include <rarebit/view.h>

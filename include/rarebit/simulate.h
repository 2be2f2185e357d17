/* Data with planted causes, for experiments and tests. */
#pragma once

#include <rarebit/matrix.h>
#include <rarebit/modules.h>
#include <rarebit/options.h>

/* The options of rb_simulate_biclusters, for rb_options_add:
 *   generator  rfn: the RFN paper's D1-D9; fabia: FABIA's makeFabiaData; constant, shift, scale,
 *              plaid: what comparisons of biclustering methods plant (docs/howto/modules.md)
 *   dataset    "D1".."D9" (RFN generator)
 *   rest-sd    sd of the entries outside of a bicluster: 0.01 (set I) or 0.5 (set II)
 *   samples    0: as the generator's paper has it (100); of patterns 200
 *   features   0: as the generator's paper has it (100; FABIA 1000); of patterns 500
 *   noise      sd of the noise; below 0: as the data set has it
 *   seed */
RB_API const rb_option_group *rb_biclusters_group(void);

/* Makes a float64 matrix that owns its numbers, not centred, and the planted modules, all weights 1
 * (truth may be NULL). NULL options: the defaults. Biclusters hold the papers' shares of the
 * samples and features, whatever their numbers. The same options give the same bits on every
 * machine of the same kind. */
RB_API rb_error rb_simulate_biclusters(rb_context *context, const rb_options *options,
                                       rb_matrix **matrix, rb_modules **truth);

/* The options of rb_simulate_cells, for rb_options_add:
 *   samples         cells
 *   features        genes
 *   types           shares of the types of cells, by commas: "0.5,0.4,0.1"; the first has what the
 *                   others leave, each of which has one cell at least
 *   counts          of a cell, on average
 *   de-probability, de-location, de-scale
 *                   how likely a gene differs in a type, mean and sd of the logarithm of its factor
 *   seed */
RB_API const rb_option_group *rb_cells_group(void);

/* Makes counts as single-cell sequencing gives them, by the model of Splat (Zappia et al. 2017):
 * float64, samples x features, owning its numbers; and a module per type (truth may be NULL): its
 * cells, and the genes of which it has more than the others, all weights 1. NULL options: the
 * defaults. RB_ERROR_ARGUMENT: types. */
RB_API rb_error rb_simulate_cells(rb_context *context, const rb_options *options,
                                  rb_matrix **matrix, rb_modules **truth);

/* The options of rb_simulate_bars, for rb_options_add:
 *   style        linear: value each and summed; max: value each, the largest counts; signed: every
 *                second bar (the 2nd, 4th, ...) with -value, summed
 *   size         pictures are size x size pixels
 *   width        of a bar, in pixels; from 2 on, neighbours overlap
 *   bars         0, or 2 (size - width + 1): there are no others
 *   value        of a bar's pixels; the others are 0
 *   heights      a bar in a sample has 1, 2, ... or heights times the value, all as likely
 *   probability  of each bar to be in a sample, independently
 *   noise        sd of the Gaussian noise of each pixel
 *   samples, seed */
RB_API const rb_option_group *rb_bars_group(void);

/* Makes the data of a bars test: float64 matrices that own their numbers. matrix: samples x pixels,
 * row by row of the picture; fields: bars x pixels, what each bar alone adds, the horizontal bars
 * from top to bottom and then the vertical ones from left to right; states: samples x bars, the
 * height (1 unless there are heights) where the bar is in the sample, else 0. fields and states may
 * be NULL. NULL options: the defaults. A sample depends on the seed and its number alone: more
 * samples go on where fewer end, and another noise leaves the bars as they are. */
RB_API rb_error rb_simulate_bars(rb_context *context, const rb_options *options, rb_matrix **matrix,
                                 rb_matrix **fields, rb_matrix **states);

/* Linear component analysis: fields of either sign add up. The prior is not annealed: hot, fields
 * and their complements would look alike. */
#include "fit.h"

#include <math.h>

const et_model et_linca = {
    .name = "linca",
    .least = -HUGE_VAL,
    .most = HUGE_VAL,
    .end_temperature = 1,
    .keep = ET_KEEP_PAIRS,
    .superpose = et_superpose_sum,
    .energies = et_linear_energies,
    .add = et_linear_add,
    .mstep = et_mstep_solve,
};

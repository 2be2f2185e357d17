/* Linear component analysis: fields of either sign add up. The prior is not annealed: hot, fields
 * and their complements would look alike. */
#include "fit.h"

const et_model et_linca = {
    .name = "linca",
    .end_temperature = 1,
    .energies = et_linear_energies,
    .add = et_linear_add,
    .mstep = et_mstep_solve,
    .decode = et_linear_decode,
};

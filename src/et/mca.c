/* Maximal causes analysis: the largest of fields that are not negative counts. The E-step uses the
 * maximum itself, the M-step a soft one whose exponent rho = T / (T - 1) sharpens as it cools:
 * hence an end temperature above 1. */
#include "fit.h"

const et_model et_mca = {
    .name = "mca",
    .non_negative = true,
    .floor = 1e-4,
    .anneal_prior = true,
    .end_temperature = 1.05,
    .max = true,
    .energies = et_max_energies,
    .add = et_max_add,
    .mstep = et_mstep_max,
    .decode = et_max_decode,
};

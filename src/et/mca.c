/* Maximal causes analysis: the largest of fields that are not negative counts. The E-step uses the
 * maximum itself, the M-step a soft one whose exponent rho = T / (T - 1) sharpens as it cools:
 * hence an end temperature above 1. */
#include "fit.h"

#include <math.h>

const et_model et_mca = {
    .name = "mca",
    .non_negative = true,
    .least = 1e-4,
    .most = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1.05,
    .keep = ET_KEEP_STATES,
    .max = true,
    .superpose = et_superpose_max,
    .energies = et_general_energies,
    .add = et_max_add,
    .mstep = et_mstep_shares,
};

/* Poisson noise changes the E-step alone. */
static const rb_et_model poisson = {
    .name = "mca",
    .log_likelihood = et_poisson_log_likelihood,
    .constant = et_poisson_constant,
    .refuse = et_poisson_refuse,
};

const et_model et_mca_poisson = {
    .name = "mca",
    .general = &poisson,
    .non_negative = true,
    .least = 1e-4,
    .most = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1.05,
    .keep = ET_KEEP_STATES,
    .max = true,
    .superpose = et_superpose_max,
    .energies = et_general_energies,
    .add = et_max_add,
    .mstep = et_mstep_shares,
};

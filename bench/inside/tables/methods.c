/* The methods of the paper, with the hyperparameters of its Table S3; what that leaves open is in
 * docs/measurements/tables.md. */
#include "tables.h"

static const struct method methods[] = {
    {"RFN", "RFN", "rfn", "preset=paper iterations=1000 normalize=sd", .rectified = true},
    {"RFNn", "RFNn", "rfn", "preset=paper iterations=1000 normalize=none", .rectified = true},
    {"DAE", "DAE", "dae", "preset=paper", .may_miss = true},
    {"RBM", "RBM", "rbm", "preset=paper batch-size=8", .may_miss = true},
    {"FAsp", "FAsp", "fa-jeffreys", "iterations=500 noise-min=0.01", .may_miss = true},
    {"FAlap", "FAlap", "fa-laplace", "iterations=500 noise-min=0.01", .may_miss = true},
    {"ICA", "ICA", "ica", "", .capped = true},
    {"SFA", "SFA", "sfa", "iterations=500 noise-min=0.01 normalize=rms"},
    {"FA", "FA", "fa", "solver=em iterations=500 noise-min=0.01 normalize=rms"},
    {"PCA", "PCA", "pca", "", .capped = true},
    {"sparse", "RFN", "rfn", "preset=sparse", .rectified = true, .better = true},
};

const struct method *method_at(int index) {
    return index < (int)(sizeof methods / sizeof *methods) ? &methods[index] : NULL;
}

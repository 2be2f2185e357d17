/* The methods of the paper, with the hyperparameters of its Table S3; what that leaves open is in
 * docs/tables.md. */
#include "tables.h"

static const struct method methods[] = {
    {"RFN", "RFN", "rfn", "preset=paper iterations=1000 normalize=sd", .rectified = true},
    {"RFNn", "RFNn", "rfn", "preset=paper iterations=1000 normalize=none", .rectified = true},
    {"sparse", "RFN", "rfn", "preset=sparse", .rectified = true, .better = true},
};

const struct method *method_at(int index) {
    return index < (int)(sizeof methods / sizeof *methods) ? &methods[index] : NULL;
}

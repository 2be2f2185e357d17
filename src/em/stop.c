/* Stopping rules. */
#include "em.h"

#include <math.h>

bool rb_converged(double tolerance, double before, double now) {
    return tolerance > 0 && fabs(now - before) < tolerance * fabs(now);
}

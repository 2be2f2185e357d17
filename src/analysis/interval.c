/* How sure a rate of successes is. */
#include <rarebit/fields.h>

#include <math.h>

/* E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927. */
void rb_success_interval(int64_t successes, int64_t trials, double *low, double *high) {
    const double z = 1.959963984540054;
    double n = (double)trials, p = n > 0 ? (double)successes / n : 0;
    if (!(n > 0)) {
        *low = 0;
        *high = 1;
        return;
    }
    double centre = p + z * z / (2 * n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    *low = successes == 0 ? 0 : (centre - half) / (1 + z * z / n);
    *high = successes == trials ? 1 : (centre + half) / (1 + z * z / n);
}

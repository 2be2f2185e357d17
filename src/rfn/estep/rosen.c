/* Rosen's gradient projection (J. SIAM 9, 1961; Clevert et al. 2015, S9.4.1): a step along the
 * tangent space, then back to the sphere along its normal, which for spheres about 0 is a scaling.
 *
 * The step begins with the least O along the tangent and is halved. Codes that it would make
 * negative become 0: Rosen stops the step at the first of them, of which there are thousands here.
 * O falls for short steps, unless the codes are stationary.
 */
#include "estep.h"

bool rfn_try_rosen(rb_context *ctx, rfn_search *s) {
    double step = rfn_aim_along_tangent(ctx, s);
    for (int t = 0; t <= RFN_HALVINGS && step > 0; t++, step /= 2) {
        if (rfn_search_try(ctx, s, s->direction, step, 1)) {
            return true;
        }
    }
    return false;
}

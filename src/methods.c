/* The registry: the only place that knows all methods of librarebit. */
#include "base/base.h"
#include "et/et.h"
#include "factors/factors.h"
#include "linalg/linalg.h"
#include "rfn/rfn.h"

static const struct rb_method *const built_in[] = {
    &rb_method_rfn,        &rb_method_linca,       &rb_method_nmf_et,
    &rb_method_mca,        &rb_method_ssc,         &rb_method_pca,
    &rb_method_ica,        &rb_method_fa,          &rb_method_sfa,
    &rb_method_fa_laplace, &rb_method_fa_jeffreys, &rb_method_fabia,
    &rb_method_nmf,        &rb_method_kmeans,      NULL,
};

rb_error rb_context_new(rb_context **context) {
    rb_error err = rb_context_create(context);
    if (!err) {
        (*context)->methods = built_in;
        (*context)->kernels = rb_kernels_best();
    }
    return err;
}

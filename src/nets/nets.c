/* What a context learns of librarebit-nets. */
#include "nets.h"

/* Models of these are put together, and not fitted in one piece. */
static const rb_method *const made[] = {&rb_method_stack, &rb_method_net, NULL};

rb_error rb_nets_use(rb_context *ctx) {
    if (ctx->made_methods) return RB_OK;
    rb_error err = rb_context_add_method(ctx, &rb_method_dae);
    if (err) return err;
    err = rb_context_add_method(ctx, &rb_method_rbm);
    const rb_method **last = ctx->added_methods;
    while (last[1])
        last++;
    if (err)
        *last = NULL; /* all or nothing, so that it can be called again */
    else
        ctx->made_methods = made;
    return err;
}

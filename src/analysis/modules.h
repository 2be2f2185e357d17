/* The modules' part of the face of src/analysis. */
#ifndef RB_MODULES_H
#define RB_MODULES_H

#include "model/model.h"
#include <rarebit/modules.h>

struct rb_modules {
    rb_module *list;
    int64_t count;
};

/* A list of empty modules; their members are filled in with rb_alloc'ed arrays, which it owns. */
rb_error rb_modules_new(rb_context *ctx, int64_t count, rb_modules **modules);

/* Members of the given indices, all of weight 1; NULL and a sentence when memory is out. */
rb_member *rb_members_from_indices(rb_context *ctx, const int64_t *indices, int64_t count);

#endif

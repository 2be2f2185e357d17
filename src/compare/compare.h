/* The face of src/compare: methods of others, to compare with. */
#ifndef RB_COMPARE_INTERNAL_H
#define RB_COMPARE_INTERNAL_H

#include "model/model.h"
#include "net_options.h"

extern const rb_method rb_method_dae, rb_method_rbm;

#endif

/* The face of src/rfn: rectified factor networks. */
#ifndef RB_RFN_INTERNAL_H
#define RB_RFN_INTERNAL_H

#include "model/model.h"
#include "options.h"

extern const rb_method rb_method_rfn;

#endif

/* The face of src/et: expectation truncation. */
#ifndef RB_ET_INTERNAL_H
#define RB_ET_INTERNAL_H

#include "model/model.h"
#include "options.h"

extern const rb_method rb_method_linca, rb_method_mca, rb_method_nmf_et; /* method.c */
extern const rb_method rb_method_ssc;                                    /* ssc.c */

#endif

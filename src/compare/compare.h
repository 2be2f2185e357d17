/* The face of src/compare: the methods of others. */
#ifndef RB_COMPARE_INTERNAL_H
#define RB_COMPARE_INTERNAL_H

#include "model/model.h"

extern const rb_method rb_method_nmf;    /* nmf.c */
extern const rb_method rb_method_kmeans; /* kmeans.c */

#endif

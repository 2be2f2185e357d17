/* The layout of a model file, shared by what saves and what loads; docs/model-format.md explains
 * it. */
#ifndef RB_STORE_H
#define RB_STORE_H

#include <stdint.h>

#define RB_STORE_FORMAT "rarebit-model"
enum { RB_STORE_VERSION = 1 };

/* Words for precision and status, by their enum. */
static const char *const rb_store_precisions[] = {"float32", "float64"};
static const char *const rb_store_statuses[] = {"iterations", "converged", "stopped"};

#endif

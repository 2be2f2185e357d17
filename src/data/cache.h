/* Blocks that a feed keeps. Private to src/data. */
#ifndef RB_CACHE_H
#define RB_CACHE_H

#include "data.h"

/* Blocks of `size` samples each, the first of them sample 0; zero-initialise. */
typedef struct rb_cache {
    int64_t size, count;
    double left;      /* bytes that may still be taken */
    rb_block *blocks; /* count; without samples: not kept */
} rb_cache;

/* A block of these samples, or NULL. */
const rb_block *rb_cache_find(const rb_cache *cache, int64_t first, int64_t count);
/* Keeps a copy of a block, which becomes that copy, if there is memory for it and it is one of
 * these blocks. */
void rb_cache_add(rb_context *ctx, rb_cache *cache, rb_block *block);
void rb_cache_clear(rb_cache *cache);

#endif

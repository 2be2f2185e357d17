/* Blocks that stay in memory once they are made, so that later passes need not make them anew. */
#include "cache.h"

static void free_block(rb_block *block) {
    rb_free(block->dense.data);
    rb_free((void *)block->csr.starts);
    rb_free((void *)block->csr.columns);
    rb_free((void *)block->csr.values);
    *block = (rb_block){0};
}

void rb_cache_clear(rb_cache *cache) {
    for (int64_t k = 0; k < cache->count; k++)
        free_block(&cache->blocks[k]);
    rb_free(cache->blocks);
    *cache = (rb_cache){0};
}

static rb_block *slot_of(const rb_cache *cache, int64_t first) {
    bool one_of_them = cache->size > 0 && first % cache->size == 0;
    return one_of_them && first / cache->size < cache->count ? &cache->blocks[first / cache->size]
                                                             : NULL;
}

const rb_block *rb_cache_find(const rb_cache *cache, int64_t first, int64_t count) {
    const rb_block *slot = slot_of(cache, first);
    return slot && count > 0 && slot->n_samples == count ? slot : NULL;
}

double rb_block_bytes(const rb_block *block) {
    double value = (double)rb_type_size(block->sparse ? block->csr.type : block->dense.type);
    if (!block->sparse) return (double)block->n_samples * (double)block->n_features * value;
    double entries = (double)(block->csr.starts[block->csr.rows] - block->csr.starts[0]);
    return entries * (value + sizeof(int32_t)) + (double)(block->n_samples + 1) * sizeof(int64_t);
}

static bool copy_sparse(rb_context *ctx, rb_csr from, rb_csr *to) {
    int64_t skipped = from.starts[0], entries = from.starts[from.rows] - skipped;
    *to = from;
    to->starts = rb_copy(ctx, from.starts, from.rows + 1, sizeof *from.starts);
    to->columns = rb_copy(ctx, from.columns, entries, sizeof *from.columns);
    to->values = rb_copy(ctx, from.values, entries, rb_type_size(from.type));
    return to->starts && to->columns && to->values;
}

static bool copy_dense(rb_context *ctx, rb_dense from, rb_dense *to) {
    *to = from;
    to->ld = from.cols;
    to->data = rb_alloc(ctx, from.rows, (size_t)from.cols * rb_type_size(from.type));
    if (to->data) rb_dense_copy(from, *to);
    return to->data != NULL;
}

void rb_cache_add(rb_context *ctx, rb_cache *cache, rb_block *block) {
    rb_block *slot = slot_of(cache, block->first), copy = *block;
    double bytes = rb_block_bytes(block);
    if (!slot || slot->n_samples > 0 || bytes > cache->left) return;
    copy.dense = (rb_dense){0};
    copy.csr = (rb_csr){0};
    bool copied = block->sparse ? copy_sparse(ctx, block->csr, &copy.csr)
                                : copy_dense(ctx, block->dense, &copy.dense);
    if (!copied) {
        free_block(&copy);
        cache->left = 0; /* memory is out: others need it more */
        return;
    }
    cache->left -= bytes;
    *slot = *block = copy;
    slot->lost = NULL; /* the feed forgets it */
}

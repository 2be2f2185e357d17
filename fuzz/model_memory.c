/* Fuzz target: models as bytes, whose checksum is made right. What loads is used, and written again
 * says the same. */
#include "driver/read.h"

#include "model/model.h"
#include <rarebit/deep.h>

#include <rarebit/rarebit.h>

#include <stdlib.h>
#include <string.h>

/* One sample of zeros, as wide as the model wants it, unless it wants very much. */
static void use(rb_context *ctx, const rb_model *model) {
    enum { WIDE = 1 << 12 };
    static const double values[WIDE];
    static double rows[WIDE], codes[WIDE];
    rb_matrix *matrix;
    rb_source *source;
    rb_coder *coder;
    int64_t features = rb_model_features(model), units = rb_model_units(model);
    if (features > WIDE || units > WIDE) return;
    fuzz_expect(!rb_matrix_dense(ctx, RB_FLOAT64, 1, features, values, features, 1, &matrix));
    fuzz_expect(!rb_source_from_matrix(ctx, matrix, &source));
    if (!rb_coder_open(ctx, model, &coder)) {
        rb_coder_encode(ctx, coder, matrix, RB_FLOAT64, codes, units, 1);
        rb_coder_free(coder);
    }
    rb_reconstruct_into(ctx, model, source, RB_FLOAT64, rows, features, 1);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void write_again(rb_context *ctx, const rb_model *model) {
    void *once, *twice;
    size_t size, size_twice;
    rb_model *copy;
    fuzz_expect(!rb_model_save_memory(ctx, model, &once, &size));
    fuzz_expect(!rb_model_load_memory(ctx, once, size, &copy));
    fuzz_expect(!rb_model_save_memory(ctx, copy, &twice, &size_twice));
    fuzz_expect(size == size_twice && memcmp(once, twice, size) == 0);
    rb_free_memory(once);
    rb_free_memory(twice);
    rb_model_free(copy);
}

/* A copy, in which the third word is the checksum where the second says version 3. */
static unsigned char *mended(const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    fuzz_expect(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= 24 && bytes[8] == 3) {
        uint64_t sum = (uint64_t)rb_model_bytes_sum(bytes, size);
        for (int i = 0; i < 8; i++)
            bytes[16 + i] = (unsigned char)(sum >> 8 * i);
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rb_context *ctx;
    rb_model *model;
    unsigned char *bytes = mended(data, size);
    fuzz_expect(!rb_context_new(&ctx));
    fuzz_expect(!rb_nets_use(ctx));
    if (rb_model_load_memory(ctx, bytes, size, &model)) {
        fuzz_expect(!model && rb_context_error(ctx)[0] != '\0');
    } else {
        use(ctx, model);
        write_again(ctx, model);
    }
    rb_model_free(model);
    rb_context_free(ctx);
    free(bytes);
    return 0;
}

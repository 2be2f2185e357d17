/* What the targets share: an input becomes a file, and a reader reads it. */
#include "read.h"
#include "../../tests/options.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_expect(bool promise) {
    if (!promise) abort();
}

int fuzz_take(fuzz_input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->data++;
}

void fuzz_temporary(char path[FUZZ_PATH]) {
    snprintf(path, FUZZ_PATH, "/tmp/rarebit-fuzz-XXXXXX");
    int file = mkstemp(path);
    fuzz_expect(file >= 0);
    close(file);
}

/* An error comes with a message and without a result. */
static void expect_refused(const rb_context *ctx, const void *result) {
    fuzz_expect(rb_context_error(ctx)[0] != '\0');
    fuzz_expect(result == NULL);
}

static void walk(rb_context *ctx, rb_source *source) {
    rb_description description = {.size = sizeof description};
    fuzz_expect(source->n_samples > 0 && source->n_features > 0);
    rb_error err = rb_describe(ctx, source, &description);
    fuzz_expect(err == RB_OK || rb_context_error(ctx)[0] != '\0');
    rb_source_free(source);
}

static void read_whole(rb_context *ctx, const rb_format *format, const char *path,
                       const rb_read_options *options) {
    rb_matrix *matrix = NULL;
    rb_source *source;
    if (format->read(ctx, path, options, &matrix)) {
        expect_refused(ctx, matrix);
        return;
    }
    if (rb_matrix_transpose(ctx, &matrix)) { /* too many samples to become features */
        rb_matrix_free(matrix);
        return;
    }
    if (rb_source_own_matrix(ctx, matrix, &source) == RB_OK) walk(ctx, source);
}

static void read_blocks(rb_context *ctx, const rb_format *format, const char *path,
                        const rb_read_options *options) {
    rb_source *source = NULL;
    if (!format->open) return;
    if (format->open(ctx, path, options, &source)) {
        expect_refused(ctx, source);
        return;
    }
    walk(ctx, source);
}

void fuzz_read_path(const rb_format *format, const char *path) {
    rb_context *ctx;
    rb_read_options options;
    if (rb_context_create(&ctx)) return;
    fixture_default(rb_read_group(), &options);
    read_whole(ctx, format, path, &options);
    read_blocks(ctx, format, path, &options);
    rb_context_free(ctx);
}

int fuzz_read(const rb_format *format, const uint8_t *data, size_t size) {
    char path[64];
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fuzz_read_path(format, path);
    close(file);
    return 0;
}

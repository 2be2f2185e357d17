/* Denoising: each pixel is the mean of all rebuilt patches over it, by brute force. */
#include "../errors.h"
#include "../options.h"
#include "io/io.h"

#include "media/media.h"
#include <rarebit/rfn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEIGHT = 7, WIDTH = 9, CELLS = HEIGHT * WIDTH * 3 };

static rb_context *ctx;
static char folder[64];
static const char *const files[] = {"in.png", "out.npy", "out.png"};

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit-denoise-XXXXXX");
    return rb_context_new(&ctx) || !mkdtemp(folder) || chdir(folder);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    if (chdir(folder)) return -1; /* it was not made: nothing here is the test's */
    for (int f = 0; f < 3; f++)
        remove(files[f]);
    return chdir("/") || rmdir(folder);
}

static void check(rb_error err) {
    if (err) fail_msg("%s", rb_context_error(ctx));
}

/* A picture of colours; kept in in.png. */
static void make_picture(float values[CELLS]) {
    for (int i = 0; i < CELLS; i++)
        values[i] = (float)(20 + (i * 37 + i * i * 11) % 200);
    rb_image image = {HEIGHT, WIDTH, 3, values, 255};
    check(rb_picture_write(ctx, "in.png", &image));
}

/* Every patch of height x width, values as the options scale them; every place. */
static rb_source *all_patches(int64_t height, int64_t width, const char *scale) {
    const char *path = "in.png";
    char size[32];
    rb_patches_options o;
    rb_source *source;
    fixture_default(rb_patches_group(), &o);
    snprintf(size, sizeof size, "%lldx%lld", (long long)height, (long long)width);
    o.size = size;
    o.scale = scale;
    o.count = (HEIGHT - height + 1) * (WIDTH - width + 1);
    check(rb_patches(ctx, &path, 1, fixture_of(rb_patches_group(), &o), &source));
    return source;
}

static rb_model *fit(int64_t height, int64_t width, const char *scale) {
    rb_rfn_options options;
    rb_fit_options how;
    rb_model *model;
    rb_rfn_options_default(&options);
    fixture_preset("paper", &options, NULL);
    options.units = 3;
    rb_fit_options_default(&how);
    how.iterations = 10;
    how.seed = 1;
    rb_source *source = all_patches(height, width, scale);
    check(rb_fit(ctx, fixture_options(ctx, "rfn", &options, &how, NULL), source, NULL, &model));
    rb_source_free(source);
    return model;
}

static rb_error keep_row(void *user, int64_t first, const rb_matrix *rows) {
    (void)first;
    for (int64_t d = 0; d < rb_matrix_features(rows); d++)
        ((double *)user)[d] = rb_matrix_at(rows, 0, d);
    return RB_OK;
}

/* Rebuilds the patch at a place, one alone. */
static void rebuild(const rb_model *model, const float *picture, int64_t top, int64_t left,
                    int64_t height, int64_t width, double stretch, double shift, double *rebuilt) {
    float patch[CELLS];
    rb_matrix *matrix;
    rb_source *source;
    for (int64_t d = 0; d < height * width * 3; d++) {
        int64_t y = top + d / (width * 3), x = left * 3 + d % (width * 3);
        patch[d] = (float)((double)picture[y * WIDTH * 3 + x] * stretch + shift);
    }
    check(rb_matrix_dense(ctx, RB_FLOAT32, 1, height * width * 3, patch, height * width * 3, 1,
                          &matrix));
    check(rb_source_from_matrix(ctx, matrix, &source));
    check(rb_reconstruct(ctx, model, source, keep_row, rebuilt));
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* One shape of a patch, with and without scaling: out.npy, out.png and the ratio. */
static void compare(int64_t height, int64_t width, bool scaled) {
    float picture[CELLS];
    double sums[CELLS] = {0}, counts[CELLS] = {0}, rebuilt[CELLS], min = 1e9, max = 0;
    make_picture(picture);
    for (int i = 0; i < CELLS; i++) {
        min = fmin(min, (double)picture[i]);
        max = fmax(max, (double)picture[i]);
    }
    double stretch = scaled ? 4 / (max - min) : 1, shift = scaled ? -1 - min * stretch : 0;
    rb_model *model = fit(height, width, scaled ? "-1:3" : NULL);
    for (int64_t top = 0; top + height <= HEIGHT; top++) {
        for (int64_t left = 0; left + width <= WIDTH; left++) {
            rebuild(model, picture, top, left, height, width, stretch, shift, rebuilt);
            for (int64_t d = 0; d < height * width * 3; d++) {
                int64_t e = (top + d / (width * 3)) * WIDTH * 3 + left * 3 + d % (width * 3);
                sums[e] += (rebuilt[d] - shift) / stretch;
                counts[e]++;
            }
        }
    }
    char size[32];
    snprintf(size, sizeof size, "%lldx%lld", (long long)height, (long long)width);
    rb_denoise_options o = {size, scaled ? "-1:3" : NULL, "in.png"};
    rb_denoising result = {.size = sizeof result};
    check(rb_denoise(ctx, model, "in.png", fixture_of(rb_denoise_group(), &o), "out.npy", &result));
    check(rb_denoise(ctx, model, "in.png", fixture_of(rb_denoise_group(), &o), "out.png", NULL));
    rb_model_free(model);
    rb_matrix *out;
    rb_image levels;
    double squares = 0;
    check(rb_read(ctx, "out.npy", NULL, &out));
    check(rb_picture_read(ctx, "out.png", &levels));
    for (int i = 0; i < CELLS; i++) {
        double value = rb_matrix_at(out, i / (WIDTH * 3), i % (WIDTH * 3));
        assert_true(fabs(value - sums[i] / counts[i]) < 1e-3);
        assert_true(fabs((double)levels.values[i] - value) < 0.501);
        squares += (value - (double)picture[i]) * (value - (double)picture[i]);
    }
    assert_true(fabs(result.psnr_after - 10 * log10(255 * 255 * CELLS / squares)) < 1e-4);
    assert_true(isinf(result.psnr_before)); /* the picture is its own truth */
    assert_int_equal(result.patches, (HEIGHT - height + 1) * (WIDTH - width + 1));
    assert_int_equal(result.channels, 3);
    rb_free(levels.values);
    rb_matrix_free(out);
}

static void means_of_patches(void **state) {
    (void)state;
    compare(3, 2, false);
    compare(2, 4, true);
    compare(HEIGHT, 1, false);
    compare(HEIGHT - 1, WIDTH, false);
}

static void no_memory(void **state) {
    (void)state;
    float picture[CELLS];
    make_picture(picture);
    rb_model *model = fit(3, 3, NULL);
    rb_denoise_options o = {"3x3", NULL, "in.png"};
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_denoise(ctx, model, "in.png", fixture_of(rb_denoise_group(), &o), "out.npy", NULL);
        assert_int_equal(access("out.npy", F_OK) == 0, err == RB_OK);
    }
    assert_true(n > 10);
    rb_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(means_of_patches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

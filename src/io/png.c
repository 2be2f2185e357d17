/* PNG by libpng. Read: grey, colour or palette, 8 or 16 bits; fewer bits are spread to 0..255,
 * transparency is dropped. Written: grey or colour, 8 or 16 bits.
 *
 * libpng reports an error by a long jump out of the call. All that happens between setjmp and a
 * jump lives in a struct behind a pointer that does not change, so that nothing is lost in a
 * register.
 */
#include "image.h"

#include <png.h>
#include <string.h>

enum { MAX_SIDE = 1 << 20, MAX_CHUNK = 8 << 20 };

typedef struct decoder {
    rb_context *ctx;
    rb_file_bytes file;
    int64_t offset; /* of the next byte of the file */
    png_structp png;
    png_infop info;
    png_bytep pixels; /* as libpng gives them */
    int passes;       /* over all rows */
    rb_image *image;
    rb_error err;
} decoder;

static void on_error(png_structp png, png_const_charp message) {
    decoder *d = png_get_error_ptr(png);
    d->err =
        rb_fail(d->ctx, RB_ERROR_FORMAT, "%s: the PNG image is damaged: %s", d->file.path, message);
    png_longjmp(png, 1);
}

/* What libpng can live with, so can we. */
static void on_warning(png_structp png, png_const_charp message) {
}

static void on_read(png_structp png, png_bytep bytes, size_t count) {
    decoder *d = png_get_io_ptr(png);
    if ((int64_t)count > d->file.count - d->offset) png_error(png, "it ends too early");
    memcpy(bytes, d->file.bytes + d->offset, count);
    d->offset += (int64_t)count;
}

/* Asks libpng for plain channels of 8 or 16 bits. */
static void ask_for_channels(decoder *d) {
    png_set_expand(d->png); /* palette to RGB, few bits to 8, transparent colour to alpha */
    png_set_strip_alpha(d->png);
    d->passes = png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
}

static rb_error allocate(decoder *d, int64_t pixel_bits) {
    int64_t height = png_get_image_height(d->png, d->info);
    int64_t row_bytes = (int64_t)png_get_rowbytes(d->png, d->info);
    *d->image = (rb_image){.height = height,
                           .width = png_get_image_width(d->png, d->info),
                           .channels = png_get_channels(d->png, d->info),
                           .max = png_get_bit_depth(d->png, d->info) == 16 ? 65535 : 255};
    rb_error err = rb_image_allocate(d->ctx, d->file, pixel_bits, RB_DEFLATE_LIMIT, d->image);
    if (err) return err;
    d->pixels = rb_alloc(d->ctx, height * row_bytes, 1);
    return d->pixels ? RB_OK : RB_ERROR_MEMORY;
}

static void to_floats(decoder *d) {
    bool wide = d->image->max > 255;
    for (int64_t i = 0; i < rb_image_cells(d->image); i++) {
        const png_byte *b = d->pixels + (wide ? 2 * i : i);
        d->image->values[i] = (float)(wide ? b[0] << 8 | b[1] : b[0]);
    }
}

/* Everything that may jump. */
static void decode(decoder *d) {
    if (setjmp(png_jmpbuf(d->png))) return;
    png_set_user_limits(d->png, MAX_SIDE, MAX_SIDE);
    png_set_chunk_malloc_max(d->png, MAX_CHUNK);
    png_set_read_fn(d->png, d, on_read);
    png_read_info(d->png, d->info);
    int64_t pixel_bits = (int64_t)png_get_bit_depth(d->png, d->info) *
                         png_get_channels(d->png, d->info); /* in the file */
    ask_for_channels(d);
    d->err = allocate(d, pixel_bits);
    if (d->err) return;
    size_t row_bytes = png_get_rowbytes(d->png, d->info);
    for (int64_t row = 0; row < d->passes * d->image->height; row++)
        png_read_row(d->png, d->pixels + (size_t)(row % d->image->height) * row_bytes, NULL);
    png_read_end(d->png, NULL);
    to_floats(d);
}

rb_error rb_png_decode(rb_context *ctx, rb_file_bytes file, rb_image *image) {
    decoder d = {.ctx = ctx, .file = file, .image = image};
    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
    d.info = d.png ? png_create_info_struct(d.png) : NULL;
    if (!d.info) {
        d.err =
            rb_fail(ctx, RB_ERROR_MEMORY, "%s: out of memory while decoding the image", file.path);
    } else {
        decode(&d);
    }
    png_destroy_read_struct(&d.png, &d.info, NULL);
    rb_free(d.pixels);
    return d.err;
}

/* ---- writing ---- */

static void on_failure(png_structp png, png_const_charp message) {
    png_longjmp(png, 1);
}

struct encoder {
    const rb_image *image;
    png_byte *row;    /* room for one */
    png_text *origin; /* NULL: it is not known */
};

/* Everything that may jump. */
static bool encode(png_structp png, png_infop info, FILE *file, const struct encoder *e) {
    const rb_image *image = e->image;
    if (setjmp(png_jmpbuf(png))) return false;
    png_init_io(png, file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height,
                 image->max > 255 ? 16 : 8,
                 image->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (e->origin) png_set_text(png, info, e->origin, 1);
    png_write_info(png, info);
    for (int64_t y = 0; y < image->height; y++) {
        rb_image_levels(image, y, e->row);
        png_write_row(png, e->row);
    }
    png_write_end(png, NULL);
    return true;
}

rb_error rb_png_write(rb_context *ctx, FILE *file, void *arg) {
    const rb_image *image = arg;
    const char *json = rb_context_provenance(ctx);
    char none[] = "", key[] = "provenance";
    png_text origin = {.compression = PNG_ITXT_COMPRESSION_NONE,
                       .key = key,
                       .text = (char *)json,
                       .lang = none,
                       .lang_key = none};
    unsigned char *row = rb_alloc(ctx, 2 * image->width * image->channels, 1);
    struct encoder e = {image, row, json ? &origin : NULL};
    if (!row) return RB_ERROR_MEMORY;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_failure, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool done = info && encode(png, info, file, &e);
    png_destroy_write_struct(&png, &info);
    rb_free(row);
    return done ? RB_OK
                : rb_fail(ctx, RB_ERROR_MEMORY, "out of memory while compressing the image");
}

const char *rb_io_png(void) {
    return png_get_libpng_ver(NULL);
}

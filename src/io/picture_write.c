/* Pictures as files: PNG, PGM and PPM of whole grey levels, or .npy of any values.
 *
 * PNG (W3C, Portable Network Graphics, second edition): a signature and chunks, each of length,
 * type, data and CRC-32. Rows are not filtered. The file is made in memory, so that libpng's jumps
 * are not needed for what is three chunks.
 */
#include "io.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcasecmp(path + length - tail, suffix) == 0;
}

rb_error rb_picture_check_suffix(rb_context *ctx, const char *path) {
    static const char *const suffixes[] = {".png", ".pgm", ".ppm", ".npy"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (has_suffix(path, suffixes[i])) {
            return RB_OK;
        }
    }
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "cannot write %s: a picture goes to .png, .pgm, .ppm or .npy", path);
}

rb_error rb_picture_check(rb_context *ctx, const char *path, int64_t channels, int64_t most) {
    if (has_suffix(path, ".npy")) {
        return RB_OK;
    }
    const char *pnm = channels == 1 ? ".pgm" : ".ppm";
    bool fits = has_suffix(path, ".png") || has_suffix(path, pnm);
    if (!fits || (channels != 1 && channels != 3)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: a picture of %lld channel%s goes to %s.npy", path,
                       (long long)channels, channels == 1 ? "" : "s",
                       channels == 1   ? ".png, .pgm or "
                       : channels == 3 ? ".png, .ppm or "
                                       : "");
    }
    if (most < 1) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cannot write %s: an array has no whole levels of grey; write .npy", path);
    }
    return RB_OK;
}

/* ---- levels as bytes ---- */

/* Rows of levels, the larger byte first; each row after `margin` bytes that are 0. */
static void put_levels(const rb_image *image, int64_t margin, unsigned char *bytes) {
    int64_t line = image->width * image->channels;
    for (int64_t y = 0; y < image->height; y++) {
        memset(bytes, 0, (size_t)margin);
        bytes += margin;
        for (int64_t x = 0; x < line; x++) {
            double value = fmin(fmax((double)image->values[y * line + x], 0), (double)image->most);
            long level = lround(value);
            if (image->most > 255) {
                *bytes++ = (unsigned char)(level >> 8);
            }
            *bytes++ = (unsigned char)(level & 255);
        }
    }
}

/* Bytes of all rows, with a margin before each; 0 when there are too many. */
static int64_t count_bytes(const rb_image *image, int64_t margin) {
    int64_t line, all;
    bool fits = rb_multiply(image->width, image->channels * (image->most > 255 ? 2 : 1), &line) &&
                rb_multiply(line + margin, image->height, &all);
    return fits ? all : 0;
}

/* ---- PNG ---- */

static void put_number(unsigned char *bytes, uint32_t number) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
    }
}

static bool write_chunk(FILE *file, const char *type, const unsigned char *data, uint32_t count) {
    unsigned char length[4], sum[4];
    uLong crc = crc32(crc32(0, (const Bytef *)type, 4), data, count);
    put_number(length, count);
    put_number(sum, (uint32_t)crc);
    return fwrite(length, 4, 1, file) == 1 && fwrite(type, 4, 1, file) == 1 &&
           (count == 0 || fwrite(data, count, 1, file) == 1) && fwrite(sum, 4, 1, file) == 1;
}

static bool write_png(FILE *file, const rb_image *image, const unsigned char *pixels,
                      uint32_t count) {
    unsigned char header[13] = {0};
    put_number(header, (uint32_t)image->width);
    put_number(header + 4, (uint32_t)image->height);
    header[8] = image->most > 255 ? 16 : 8;
    header[9] = image->channels == 3 ? 2 : 0;
    return fwrite("\x89PNG\r\n\x1a\n", 8, 1, file) == 1 && write_chunk(file, "IHDR", header, 13) &&
           write_chunk(file, "IDAT", pixels, count) && write_chunk(file, "IEND", header, 0);
}

/* The rows as IDAT has them. *pixels is to be freed. */
static rb_error deflate_rows(rb_context *ctx, const rb_image *image, unsigned char **pixels,
                             uint32_t *count) {
    int64_t size = count_bytes(image, 1);
    uLong room = size > 0 && size < INT32_MAX / 2 ? compressBound((uLong)size) : 0;
    if (!room) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%lld x %lld pixels are too many for PNG",
                       (long long)image->width, (long long)image->height);
    }
    unsigned char *rows = rb_alloc(ctx, size, 1);
    *pixels = rb_alloc(ctx, (int64_t)room, 1);
    rb_error err = rows && *pixels ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        put_levels(image, 1, rows);
        if (compress2(*pixels, &room, rows, (uLong)size, Z_DEFAULT_COMPRESSION) != Z_OK) {
            err = rb_fail(ctx, RB_ERROR_MEMORY, "there is no memory to compress the picture");
        }
    }
    *count = (uint32_t)room;
    rb_free(rows);
    return err;
}

/* ---- files ---- */

/* What a file is made of: a header of text (PGM, PPM) or none (PNG), and bytes. */
static rb_error write_bytes(rb_context *ctx, const char *path, const rb_image *image,
                            const unsigned char *bytes, int64_t count) {
    rb_output output;
    rb_error err = rb_output_begin(ctx, path, &output);
    if (err) {
        return err;
    }
    FILE *file = fopen(output.path, "wb");
    bool written = file != NULL;
    if (written && has_suffix(path, ".png")) {
        written = write_png(file, image, bytes, (uint32_t)count);
    } else if (written) {
        written = fprintf(file, "P%c\n%lld %lld\n%lld\n", image->channels == 3 ? '6' : '5',
                          (long long)image->width, (long long)image->height,
                          (long long)image->most) > 0 &&
                  fwrite(bytes, 1, (size_t)count, file) == (size_t)count;
    }
    int code = errno;
    if (file && fclose(file)) {
        code = written ? errno : code;
        written = false;
    }
    if (!written) {
        err = rb_fail(ctx, RB_ERROR_FILE, "cannot write %s: %s", path, strerror(code));
        rb_output_abandon(&output);
        return err;
    }
    return rb_output_commit(ctx, &output);
}

/* An array of height x (width x channels). */
static rb_error write_array(rb_context *ctx, const char *path, const rb_image *image) {
    rb_matrix *matrix;
    rb_source *source = NULL;
    int64_t line = image->width * image->channels;
    rb_error err =
        rb_matrix_dense(ctx, RB_FLOAT32, image->height, line, image->values, line, 1, &matrix);
    if (err) {
        return err;
    }
    err = rb_source_own_matrix(ctx, matrix, &source);
    err = err ? err : rb_write(ctx, source, path);
    rb_source_free(source);
    return err;
}

rb_error rb_picture_write(rb_context *ctx, const char *path, const rb_image *image) {
    rb_error err = rb_picture_check(ctx, path, image->channels, image->most);
    if (err || has_suffix(path, ".npy")) {
        return err ? err : write_array(ctx, path, image);
    }
    unsigned char *bytes = NULL;
    int64_t count = count_bytes(image, 0);
    uint32_t packed = 0;
    if (has_suffix(path, ".png")) {
        err = deflate_rows(ctx, image, &bytes, &packed);
        count = packed;
    } else {
        bytes = rb_alloc(ctx, count, 1);
        err = bytes ? RB_OK : RB_ERROR_MEMORY;
        if (!err) {
            put_levels(image, 0, bytes);
        }
    }
    err = err ? err : write_bytes(ctx, path, image, bytes, count);
    rb_free(bytes);
    return err;
}

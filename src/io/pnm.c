/* PGM and PPM: grey and colour pictures, as text (P2, P3) or bytes (P5, P6).
 *
 * P5 WIDTH HEIGHT LARGEST, one white space, then rows from the top; above 255 two bytes per value,
 * the larger first. White space may hold comments, from # to the end of the line.
 */
#include "image.h"

static bool is_space(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

/* What is left to read. */
typedef struct cursor {
    const unsigned char *next, *end;
} cursor;

static void skip_space(cursor *c) {
    bool comment = false;
    for (; c->next < c->end; c->next++)
        if (*c->next == '#')
            comment = true;
        else if (*c->next == '\n' || *c->next == '\r')
            comment = false;
        else if (!comment && !is_space(*c->next))
            return;
}

/* A whole number of at most nine digits after white space, or -1. */
static int64_t next_number(cursor *c) {
    skip_space(c);
    int64_t value = 0;
    int digits = 0;
    for (; c->next < c->end && is_digit(*c->next); c->next++) {
        value = 10 * value + (*c->next - '0');
        if (++digits > 9) return -1;
    }
    bool whole = c->next == c->end || is_space(*c->next) || *c->next == '#';
    return digits > 0 && whole ? value : -1;
}

/* A table whose first column is called "P2" is none: a number must follow. */
bool rb_pnm_recognise(const unsigned char *bytes, int64_t count) {
    if (count < 4 || bytes[0] != 'P' || bytes[1] < '2' || bytes[1] > '6' || bytes[1] == '4')
        return false;
    cursor c = {bytes + 2, bytes + count};
    if (!is_space(*c.next) && *c.next != '#') return false;
    skip_space(&c);
    return c.next < c.end && is_digit(*c.next);
}

static bool is_text(rb_file_bytes file) {
    return file.bytes[1] < '4';
}

static rb_error read_header(rb_context *ctx, rb_file_bytes file, cursor *c, rb_image *image) {
    image->channels = file.bytes[1] == '3' || file.bytes[1] == '6' ? 3 : 1;
    c->next += 2;
    image->width = next_number(c);
    image->height = next_number(c);
    image->max = next_number(c);
    if (image->width < 1 || image->height < 1) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s: the header must say width and height, whole numbers of at least 1",
                       file.path);
    }
    if (image->max < 1 || image->max > 65535)
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: the largest value must be 1 to 65535", file.path);
    if (c->next == c->end || !is_space(*c->next))
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: the image ends after its header", file.path);
    c->next++;
    return RB_OK;
}

/* The next value, of so many bytes or, with 0, as text; -1 where there is none. */
static int64_t next_value(cursor *c, int size) {
    if (size == 0) return next_number(c);
    if (c->end - c->next < size) return -1;
    int64_t value = size == 2 ? c->next[0] << 8 | c->next[1] : c->next[0];
    c->next += size;
    return value;
}

static rb_error read_values(rb_context *ctx, rb_file_bytes file, cursor *c, rb_image *image) {
    int size = is_text(file) ? 0 : image->max > 255 ? 2 : 1;
    int64_t cells = rb_image_cells(image);
    for (int64_t i = 0; i < cells; i++) {
        long long row = i / (image->width * image->channels) + 1;
        long long column = i / image->channels % image->width + 1;
        int64_t value = next_value(c, size);
        if (value < 0) {
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           c->next == c->end ? "%s: the image ends in row %lld, column %lld"
                                             : "%s: row %lld, column %lld is not a whole number",
                           file.path, row, column);
        }
        if (value > image->max) {
            return rb_fail(
                ctx, RB_ERROR_FORMAT,
                "%s: row %lld, column %lld is %lld, but the header says that the largest "
                "`value` is %lld",
                file.path, row, column, (long long)value, (long long)image->max);
        }
        image->values[i] = (float)value;
    }
    return RB_OK;
}

rb_error rb_pnm_decode(rb_context *ctx, rb_file_bytes file, rb_image *image) {
    cursor c = {file.bytes, file.bytes + file.count};
    rb_error err = read_header(ctx, file, &c, image);
    int64_t value_bits = image->max > 255 && !is_text(file) ? 16 : 8;
    err = err ? err : rb_image_allocate(ctx, file, image->channels * value_bits, 1, image);
    err = err ? err : read_values(ctx, file, &c, image);
    if (err) return err;
    while (c.next < c.end && is_space(*c.next))
        c.next++;
    if (c.next < c.end) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s: %lld bytes follow after the last pixel",
                       file.path, (long long)(c.end - c.next));
    }
    return RB_OK;
}

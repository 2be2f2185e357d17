/* The header of an .npy file: a Python dictionary, read by a small parser that knows what may be in
 * it. */
#include "npy.h"

#include <string.h>

static rb_error damaged(rb_context *ctx, const char *path, const char *what) {
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s has a damaged .npy header: %s", path, what);
}

rb_error rb_npy_prefix(rb_context *ctx, const char *path, const char *bytes, int64_t count,
                       int64_t file_bytes, rb_npy_header *header) {
    const unsigned char *b = (const unsigned char *)bytes;
    if (count >= 2 && b[0] == 0x1F && b[1] == 0x8B) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED, "%s is compressed: unpack it with gunzip first",
                       path);
    }
    if (count < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return damaged(ctx, path, "it ends too early");
    if (b[6] < 1 || b[6] > 3) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "%s has .npy version %d, but only 1 to 3 are read", path, b[6]);
    }
    bool wide = b[6] > 1;
    if (wide && count < 12) return damaged(ctx, path, "it ends too early");
    int64_t length = b[8] | b[9] << 8;
    if (wide) length |= (int64_t)b[10] << 16 | (int64_t)b[11] << 24;
    header->text_offset = wide ? 12 : 10;
    header->data_offset = header->text_offset + length;
    if (header->data_offset > file_bytes) return damaged(ctx, path, "it is longer than the file");
    return RB_OK;
}

/* ---- the dictionary ---- */

enum { TYPE = 32 }; /* bytes for the text of one */

static void skip_blanks(const char **p) {
    *p += strspn(*p, " \t\r\n");
}

static bool take(const char **p, char c) {
    skip_blanks(p);
    if (**p != c) return false;
    (*p)++;
    return true;
}

static bool take_word(const char **p, const char *word) {
    skip_blanks(p);
    size_t length = strlen(word);
    if (strncmp(*p, word, length) != 0) return false;
    *p += length;
    return true;
}

/* A text in single or double quotes, without escapes; long ones are cut. */
static bool take_text(const char **p, char *text, size_t size) {
    skip_blanks(p);
    char quote = **p;
    if (quote != '\'' && quote != '"') return false;
    size_t length = 0;
    for ((*p)++; **p && **p != quote; (*p)++)
        if (length + 1 < size) text[length++] = **p;
    text[length] = '\0';
    return take(p, quote);
}

static bool take_size(const char **p, int64_t *value) {
    skip_blanks(p);
    if (**p < '0' || **p > '9') return false;
    for (*value = 0; **p >= '0' && **p <= '9'; (*p)++)
        if (!rb_multiply(*value, 10, value) ||
            __builtin_add_overflow(*value, (int64_t)(**p - '0'), value))
            return false;
    *p += **p == 'L'; /* as Python 2 wrote long integers */
    return true;
}

/* "(3, 4)", "(3,)", "()" */
static bool take_shape(const char **p, rb_npy_header *header) {
    if (!take(p, '(')) return false;
    for (header->dimensions = 0; !take(p, ')'); header->dimensions++) {
        if (header->dimensions == RB_NPY_DIMENSIONS ||
            !take_size(p, &header->shape[header->dimensions]))
            return false;
        if (!take(p, ',')) {
            header->dimensions++;
            return take(p, ')');
        }
    }
    return true;
}

/* "<f8": byte order, kind, bytes. */
static rb_error take_type(rb_context *ctx, const char *path, const char *word,
                          rb_npy_header *header) {
    static const char *const known[] = {"f2", "f4", "f8", "i1", "i2", "i4", "i8",
                                        "u1", "u2", "u4", "u8", "b1", NULL};
    char order = word[0];
    const char *type = word + (order && strchr("<>=|", order) != NULL);
    for (const char *const *name = known; *name; name++) {
        if (strcmp(*name, type) == 0) {
            bool big = order == '>' || (order != '<' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
            header->item = rb_item_of(type[0], type[1] - '0', big);
            return RB_OK;
        }
    }
    return rb_fail(
        ctx, RB_ERROR_UNSUPPORTED,
        "%s holds values of type '%s', but must hold real numbers: float, integer or bool", path,
        word);
}

/* The value of a key, which must be one of three; NULL, or what is wrong with it. */
static const char *take_value(const char **p, const char *key, char type[TYPE],
                              rb_npy_header *header) {
    if (strcmp(key, "descr") == 0) return take_text(p, type, TYPE) ? NULL : "'descr' is not a type";
    if (strcmp(key, "fortran_order") == 0) {
        header->by_features = take_word(p, "True");
        return header->by_features || take_word(p, "False")
                   ? NULL
                   : "'fortran_order' is neither True nor False";
    }
    if (strcmp(key, "shape") == 0)
        return take_shape(p, header) ? NULL : "'shape' is not a list of sizes";
    return "it has an unknown key";
}

static rb_error parse_dictionary(rb_context *ctx, const char *path, const char *text,
                                 char type[TYPE], rb_npy_header *header) {
    char key[32];
    unsigned there = 0; /* which keys */
    const char *p = text, *problem = take(&p, '{') ? NULL : "it is not a dictionary";
    while (!problem && !take(&p, '}')) {
        if (!take_text(&p, key, sizeof key) || !take(&p, ':'))
            return damaged(ctx, path, "a key is missing");
        problem = take_value(&p, key, type, header);
        if (problem && strcmp(key, "descr") == 0 && take(&p, '[')) {
            return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                           "%s holds records, but must hold plain numbers", path);
        }
        there |= key[0] == 'd' ? 1 : key[0] == 'f' ? 2 : 4;
        if (!problem && !take(&p, ',')) {
            problem = take(&p, '}') ? NULL : "it does not end";
            break;
        }
    }
    if (!problem && there != 7) problem = "'descr', 'fortran_order' or 'shape' is missing";
    return problem ? damaged(ctx, path, problem) : RB_OK;
}

/* ---- what it means ---- */

static rb_error set_shape(rb_context *ctx, const char *path, int64_t file_bytes, rb_npy_header *h) {
    int64_t cells, bytes, there = file_bytes - h->data_offset;
    if (h->dimensions == 0)
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s holds a single number, not an array", path);
    bool fits = true;
    h->n_samples = h->shape[0];
    h->n_features = 1;
    for (int i = 1; i < h->dimensions; i++)
        fits = fits && rb_multiply(h->n_features, h->shape[i], &h->n_features);
    if (!fits || !rb_multiply(h->n_samples, h->n_features, &cells) ||
        !rb_multiply(cells, h->item.bytes, &bytes))
        return damaged(ctx, path, "its shape is too large");
    if (cells == 0) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "%s is empty: its shape is %lld x %lld", path,
                       (long long)h->n_samples, (long long)h->n_features);
    }
    return bytes <= there
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_FORMAT,
                         "%s is truncated: its shape %lld x %lld needs %lld bytes, but %lld are "
                         "there",
                         path, (long long)h->n_samples, (long long)h->n_features, (long long)bytes,
                         (long long)there);
}

rb_error rb_npy_parse(rb_context *ctx, const char *path, const char *text, int64_t file_bytes,
                      rb_npy_header *header) {
    char type[TYPE];
    rb_error err = parse_dictionary(ctx, path, text, type, header);
    err = err ? err : take_type(ctx, path, type, header);
    return err ? err : set_shape(ctx, path, file_bytes, header);
}

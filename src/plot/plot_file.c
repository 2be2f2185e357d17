/* The file of a picture, and where the picture comes from in it: cairo has no place for that. */
#include "plot.h"

#include <stdio.h>
#include <string.h>

struct rb_page_file {
    FILE *file;
    bool svg;
    const char *origin; /* what is still to be put in; NULL: nothing */
    int64_t seen;       /* PNG: bytes so far; SVG: of those of "<svg", the last ones in a row */
};

rb_error rb_page_file_open(rb_context *ctx, const char *path, bool svg, rb_page_file **out) {
    rb_page_file *file = rb_alloc_zero(ctx, 1, sizeof *file);
    *out = file;
    if (!file) return RB_ERROR_MEMORY;
    *file = (rb_page_file){fopen(path, "wb"), svg, rb_context_provenance(ctx), 0};
    return RB_OK;
}

/* Does the byte end what comes before the place: the header of a PNG, the first tag of an SVG? */
static bool is_place(rb_page_file *f, unsigned char byte) {
    enum { PNG_HEADER = 33 };
    static const char tag[] = "<svg";
    if (!f->svg) return ++f->seen == PNG_HEADER;
    if (f->seen == sizeof tag - 1) return byte == '>';
    f->seen = byte == (unsigned char)tag[f->seen] ? f->seen + 1 : byte == '<';
    return false;
}

static void put_metadata(FILE *file, const char *json) {
    fputs("\n<metadata>", file);
    for (const char *c = json; *c; c++)
        if (*c == '<')
            fputs("&lt;", file);
        else if (*c == '&')
            fputs("&amp;", file);
        else
            putc(*c, file);
    fputs("</metadata>", file);
}

static void put_number(FILE *file, size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
        putc((int)(number >> shift & 255), file);
}

/* Type, keyword, then: not compressed, no language, no translated keyword. */
static void put_chunk(FILE *file, const char *json) {
    static const char head[] = "iTXtprovenance\0\0\0\0";
    enum { TYPE = 4 };
    size_t length = strlen(json);
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    put_number(file, sizeof head - TYPE + length);
    fwrite(head, 1, sizeof head, file);
    fwrite(json, 1, length, file);
    put_number(file, rb_crc32_add(&crc, rb_crc32_add(&crc, 0, head, sizeof head), json, length));
}

cairo_status_t rb_page_file_write(void *closure, const unsigned char *bytes, unsigned count) {
    rb_page_file *f = closure;
    if (!f->file) return CAIRO_STATUS_WRITE_ERROR;
    unsigned done = 0;
    while (f->origin && done < count) {
        unsigned char byte = bytes[done++];
        putc(byte, f->file);
        if (!is_place(f, byte)) continue;
        (f->svg ? put_metadata : put_chunk)(f->file, f->origin);
        f->origin = NULL;
    }
    fwrite(bytes + done, 1, count - done, f->file);
    return ferror(f->file) ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

bool rb_page_file_close(rb_page_file *f) {
    bool bad = !f->file || ferror(f->file);
    bad = (f->file && fclose(f->file) != 0) || bad;
    rb_free(f);
    return !bad;
}

const char *rb_plot_cairo(void) {
    return cairo_version_string();
}

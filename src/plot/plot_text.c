/* Text of the pictures, in the sans serif face that the system has. */
#include "plot.h"

#include <string.h>

enum { MOST_BYTES = 256 };

typedef struct text_style {
    double size;
    cairo_font_weight_t weight;
    double grey;
} text_style;

static const text_style styles[] = {
    [RB_TEXT_TITLE] = {17, CAIRO_FONT_WEIGHT_BOLD, 0.1},
    [RB_TEXT_LABEL] = {12.5, CAIRO_FONT_WEIGHT_NORMAL, 0.15},
    [RB_TEXT_TICK] = {11, CAIRO_FONT_WEIGHT_NORMAL, 0.3},
    [RB_TEXT_SMALL] = {9, CAIRO_FONT_WEIGHT_NORMAL, 0.15},
};

double rb_text_size(rb_text_style style) {
    return styles[style].size;
}

/* Bytes of the UTF-8 character that begins here, or 0 when none does. */
static int character_length(const unsigned char *b) {
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (int length = 1; length <= 4; length++) {
        if ((b[0] & kinds[length - 1].mask) != kinds[length - 1].lead) {
            continue;
        }
        uint32_t code = b[0] & (unsigned char)~kinds[length - 1].mask;
        for (int i = 1; i < length; i++) {
            if ((b[i] & 0xC0) != 0x80) {
                return 0;
            }
            code = code << 6 | (b[i] & 0x3F);
        }
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        return code >= kinds[length - 1].least && code <= 0x10FFFF && !surrogate ? length : 0;
    }
    return 0;
}

/* Copies at most `most` characters, '?' for what cannot be drawn; how many characters there
 * were. */
static int copy_clean(const char *text, int most, char clean[MOST_BYTES]) {
    int characters = 0, used = 0;
    while (*text && characters < most && used + 8 < MOST_BYTES) {
        int length = character_length((const unsigned char *)text);
        bool drawable = length > 0 && (unsigned char)*text >= ' ' && *text != 127;
        if (drawable) {
            memcpy(clean + used, text, (size_t)length);
        } else {
            clean[used] = '?';
        }
        used += drawable ? length : 1;
        text += length > 0 ? length : 1;
        characters++;
    }
    clean[used] = '\0';
    return characters;
}

double rb_text_room(rb_text_style style, const char *text) {
    char clean[MOST_BYTES];
    return 0.64 * styles[style].size * copy_clean(text, MOST_BYTES, clean);
}

static void use_style(rb_page *page, rb_text_style style) {
    cairo_select_font_face(page->cairo, "sans", CAIRO_FONT_SLANT_NORMAL, styles[style].weight);
    cairo_set_font_size(page->cairo, styles[style].size);
    cairo_set_source_rgb(page->cairo, styles[style].grey, styles[style].grey, styles[style].grey);
}

static double advance(rb_page *page, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(page->cairo, text, &extents);
    return extents.x_advance;
}

/* The text as it will be drawn, cut to the room; gives its width. */
static double fit(rb_page *page, const char *text, double room, char clean[MOST_BYTES]) {
    static const char dots[] = "\xE2\x80\xA6";
    int characters = copy_clean(text, MOST_BYTES, clean);
    double width = advance(page, clean);
    while (room > 0 && width > room && characters > 1) {
        copy_clean(text, --characters, clean);
        memcpy(clean + strlen(clean), dots, sizeof dots);
        width = advance(page, clean);
    }
    return width;
}

void rb_page_text(rb_page *page, rb_text_style style, double x, double y, double align, double room,
                  const char *text) {
    char clean[MOST_BYTES];
    use_style(page, style);
    double width = fit(page, text, room, clean);
    /* Half the height of a capital letter below the middle. */
    cairo_move_to(page->cairo, x - align * width, y + 0.36 * styles[style].size);
    cairo_show_text(page->cairo, clean);
    cairo_new_path(page->cairo);
}

void rb_page_text_up(rb_page *page, rb_text_style style, double x, double y, const char *text) {
    cairo_save(page->cairo);
    cairo_translate(page->cairo, x, y);
    cairo_rotate(page->cairo, -1.5707963267948966);
    rb_page_text(page, style, 0, 0, 0.5, 0, text);
    cairo_restore(page->cairo);
}

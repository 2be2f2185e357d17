/* Pictures in memory, and the formats of their files: for image.c, picture.c, png.c and pnm.c. */
#ifndef RB_IO_IMAGE_H
#define RB_IO_IMAGE_H

#include "io/io.h"

/* A whole file in memory. */
typedef struct rb_file_bytes {
    const char *path;
    const unsigned char *bytes;
    int64_t count;
} rb_file_bytes;

/* Asks for the memory of an image whose size is set, if the file can hold as many pixels of so many
 * bits each: a header cannot ask for more. expansion: how many bits a bit of the file may stand
 * for. */
rb_error rb_image_allocate(rb_context *ctx, rb_file_bytes file, int64_t pixel_bits,
                           int64_t expansion, rb_image *image);

bool rb_pnm_recognise(const unsigned char *bytes, int64_t count);
rb_error rb_pnm_decode(rb_context *ctx, rb_file_bytes file, rb_image *image);

bool rb_png_recognise(const unsigned char *bytes, int64_t count); /* image.c */
rb_error rb_png_decode(rb_context *ctx, rb_file_bytes file, rb_image *image);

/* A row of levels as bytes, the larger byte first where there are two. */
void rb_image_levels(const rb_image *image, int64_t row, unsigned char *bytes);
/* Fills a file with a picture, as rb_output_file asks for it. */
rb_error rb_png_write(rb_context *ctx, FILE *file, void *image);

/* Reads a picture. On failure image->values is NULL. */
rb_error rb_image_decode(rb_context *ctx, const char *path, rb_image *image);

#endif

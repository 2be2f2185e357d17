/* Sounds in memory. Private to src/io. */
#ifndef RB_IO_SOUND_H
#define RB_IO_SOUND_H

#include "io/io.h"

/* Reads a recording; several channels become their mean. On failure sound->values is NULL. */
rb_error rb_sound_decode(rb_context *ctx, const char *path, rb_sound *sound);

#endif

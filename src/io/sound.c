/* Sounds by libsndfile: WAV, AIFF, AU, FLAC and what else it reads, plain or gzip.
 *
 * libsndfile is given the file's bytes in memory, so that reading the disk, and what can fail
 * there, is ours. A header cannot ask for memory: values are taken until there are no more.
 */
#include "sound.h"

#include <math.h>
#include <sndfile.h>
#include <string.h>

enum { CHUNK = 1 << 14 };

typedef struct reader {
    const unsigned char *bytes;
    sf_count_t count, offset;
} reader;

static sf_count_t on_length(void *user) {
    return ((const reader *)user)->count;
}

static sf_count_t on_seek(sf_count_t offset, int whence, void *user) {
    reader *r = user;
    sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? r->offset : r->count;
    if (offset < -base || offset > r->count - base) {
        return -1;
    }
    r->offset = base + offset;
    return r->offset;
}

static sf_count_t on_read(void *to, sf_count_t count, void *user) {
    reader *r = user;
    sf_count_t left = r->count - r->offset;
    count = count < left ? count : left;
    if (count <= 0) {
        return 0;
    }
    memcpy(to, r->bytes + r->offset, (size_t)count);
    r->offset += count;
    return count;
}

/* The file is opened for reading. */
static sf_count_t on_write(const void *from, sf_count_t count, void *user) {
    (void)from;
    (void)count;
    (void)user;
    return 0;
}

static sf_count_t on_tell(void *user) {
    return ((const reader *)user)->offset;
}

/* Appends the means of `count` frames. */
static rb_error append(rb_context *ctx, const float *frames, int64_t count, int channels,
                       int64_t *room, rb_sound *sound) {
    if (sound->count + count > *room) {
        int64_t more = 2 * *room > CHUNK ? 2 * *room : CHUNK;
        float *grown = rb_grow(ctx, sound->values, sound->count, more, sizeof *grown);
        if (!grown) {
            return RB_ERROR_MEMORY;
        }
        sound->values = grown;
        *room = more;
    }
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int c = 0; c < channels; c++) {
            sum += (double)frames[i * channels + c];
        }
        sound->values[sound->count + i] = (float)(sum / channels);
    }
    sound->count += count;
    return RB_OK;
}

static rb_error read_frames(rb_context *ctx, const char *path, SNDFILE *file, int channels,
                            rb_sound *sound) {
    int64_t room = 0, at_once = CHUNK / channels > 0 ? CHUNK / channels : 1;
    rb_error err = RB_OK;
    float *frames = rb_alloc(ctx, at_once * channels, sizeof *frames);
    if (!frames) {
        return RB_ERROR_MEMORY;
    }
    for (sf_count_t got = 1; got > 0 && !err;) {
        got = sf_readf_float(file, frames, at_once);
        err = got > 0 ? append(ctx, frames, got, channels, &room, sound) : RB_OK;
    }
    rb_free(frames);
    if (!err && sf_error(file)) {
        err =
            rb_fail(ctx, RB_ERROR_FORMAT, "%s: the sound is damaged: %s", path, sf_strerror(file));
    }
    if (!err && sound->count == 0) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: there is no sound in the file", path);
    }
    return err;
}

static rb_error check_values(rb_context *ctx, const char *path, const rb_sound *sound) {
    for (int64_t i = 0; i < sound->count; i++) {
        if (!isfinite(sound->values[i])) {
            return rb_fail(ctx, RB_ERROR_DATA, "%s: value %lld of the sound is missing or infinite",
                           path, (long long)i + 1);
        }
    }
    return RB_OK;
}

static rb_error decode(rb_context *ctx, const char *path, reader *bytes, rb_sound *sound) {
    SF_VIRTUAL_IO calls = {on_length, on_seek, on_read, on_write, on_tell};
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&calls, SFM_READ, &info, bytes);
    if (!file) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s: this is no sound, or a damaged one: WAV, AIFF, AU and FLAC are read",
                       path);
    }
    sound->rate = info.samplerate;
    rb_error err = RB_OK;
    if (info.samplerate < 1 || info.channels < 1) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: the sound is damaged: %d channels of %d Hz", path,
                      info.channels, info.samplerate);
    }
    err = err ? err : read_frames(ctx, path, file, info.channels, sound);
    sf_close(file);
    return err ? err : check_values(ctx, path, sound);
}

rb_error rb_sound_decode(rb_context *ctx, const char *path, rb_sound *sound) {
    *sound = (rb_sound){0};
    unsigned char *bytes;
    int64_t count;
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_load_bytes(ctx, path, &bytes, &count);
    if (!err) {
        reader r = {bytes, count, 0};
        err = decode(ctx, path, &r, sound);
    }
    rb_reading_end(ctx);
    rb_free(bytes);
    if (err) {
        rb_free(sound->values);
        sound->values = NULL;
    }
    return err;
}

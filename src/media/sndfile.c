/* Recordings by libsndfile: WAV, AIFF, AU, FLAC and more. It is given the file's bytes in memory,
 * plain or unpacked, so that reading the disk, and what can fail there, is ours. A header cannot
 * ask for memory: values are taken until there are no more. */
#include "media.h"

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
    if (offset < -base || offset > r->count - base) return -1;
    r->offset = base + offset;
    return r->offset;
}

static sf_count_t on_read(void *to, sf_count_t count, void *user) {
    reader *r = user;
    sf_count_t left = r->count - r->offset;
    count = count < left ? count : left;
    if (count <= 0) return 0;
    memcpy(to, r->bytes + r->offset, (size_t)count);
    r->offset += count;
    return count;
}

static sf_count_t on_tell(void *user) {
    return ((const reader *)user)->offset;
}

/* Appends the means of `count` frames. */
static rb_error append(rb_context *ctx, const float *frames, int64_t count, int channels,
                       int64_t *capacity, rb_sound *sound) {
    float *values = rb_reserve(ctx, sound->values, sound->count, CHUNK, capacity, sizeof *values);
    if (!values) return RB_ERROR_MEMORY;
    sound->values = values;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int c = 0; c < channels; c++)
            sum += (double)frames[i * channels + c];
        values[sound->count++] = (float)(sum / channels);
    }
    return RB_OK;
}

static rb_error read_frames(rb_context *ctx, const char *path, SNDFILE *file, int channels,
                            rb_sound *sound) {
    int64_t capacity = 0, at_once = CHUNK / channels > 0 ? CHUNK / channels : 1;
    rb_error err = RB_OK;
    float *frames = rb_alloc(ctx, at_once * channels, sizeof *frames);
    if (!frames) return RB_ERROR_MEMORY;
    for (sf_count_t got = 1; got > 0 && !err;) {
        got = sf_readf_float(file, frames, at_once);
        err = got > 0 ? append(ctx, frames, got, channels, &capacity, sound) : RB_OK;
    }
    rb_free(frames);
    if (!err && sf_error(file)) {
        err =
            rb_fail(ctx, RB_ERROR_FORMAT, "%s: the sound is damaged: %s", path, sf_strerror(file));
    }
    if (!err && sound->count == 0)
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: the recording is empty", path);
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
    SF_VIRTUAL_IO calls = {on_length, on_seek, on_read, NULL, on_tell};
    SF_INFO info = {0};
    SNDFILE *file = sf_open_virtual(&calls, SFM_READ, &info, bytes);
    if (!file) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s: not a recording, or damaged; use WAV, AIFF, AU or FLAC", path);
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

const char *rb_segments_sndfile(void) {
    const char *text = sf_version_string(), *version = strrchr(text, '-');
    return version ? version + 1 : text;
}

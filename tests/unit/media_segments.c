/* Segments of files: formats, options, and a message for everything that is wrong. */
#include "../options.h"
#include "io_test.h"

#include "media/media.h"

#include <sndfile.h>

enum { RATE = 8000 };

/* A file of a format of libsndfile. */
static void put_sound(const char *path, int format, int rate, int channels, const float *values,
                      int frames) {
    SF_INFO info = {.samplerate = rate, .channels = channels, .format = format};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);
    assert_non_null(file);
    assert_int_equal(sf_writef_float(file, values, frames), frames);
    assert_int_equal(sf_close(file), 0);
}

static const float tune[] = {0, 0.25F, -0.5F, 0.125F, -0.375F, 0.75F};

static void put_wav(const char *path, int rate) {
    put_sound(path, SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate, 1, tune, 6);
}

/* One file, as a matrix. */
static rb_matrix *cut(const char *path, const rb_segments_options *options) {
    rb_source *source;
    rb_error err = rb_segments(ctx, &path, 1, fixture_of(rb_segments_group(), options), &source);
    if (err) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(rb_write(ctx, source, "S.npy"), RB_OK);
    rb_source_free(source);
    return read_with("S.npy", NULL);
}

static rb_segments_options options_of(const char *length, const char *step) {
    rb_segments_options o;
    fixture_default(rb_segments_group(), &o);
    o.length = length;
    o.step = step;
    return o;
}

static void defaults_are_pinned(void **state) {
    (void)state;
    rb_segments_options o;
    fixture_default(rb_segments_group(), &o);
    assert_string_equal(o.length, "12.5ms");
    assert_string_equal(o.step, "1");
    assert_true(o.peak == 0);
    assert_false(o.trim_silence);
}

/* Byte for byte by hand: 16 bits, two channels, of which the mean counts; also gzip. */
static void bytes_of_a_wav(void **state) {
    (void)state;
    static const char wav[] = "RIFF\x30\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\0\x7d\0\0"
                              "\x04\0\x10\0data\x0c\0\0\0"
                              "\0\x20\0\x40\0\x80\0\0\0\x40\0\xe0";
    static const double means[] = {0.375, -0.5, 0.125};
    put_bytes("a.wav", wav, sizeof wav - 1);
    rb_segments_options o = options_of("3", "1");
    rb_matrix *m = cut("a.wav", &o);
    assert_values(m, 1, 3, means);
    rb_matrix_free(m);
    gzFile file = gzopen("a.wav.gz", "wb");
    assert_int_equal(gzwrite(file, wav, sizeof wav - 1), sizeof wav - 1);
    gzclose(file);
    m = cut("a.wav.gz", &o);
    assert_values(m, 1, 3, means);
    rb_matrix_free(m);
}

/* Within the rounding of the format. */
static void formats(void **state) {
    (void)state;
    static const int kinds[] = {
        SF_FORMAT_WAV | SF_FORMAT_PCM_16,  SF_FORMAT_WAV | SF_FORMAT_PCM_U8,
        SF_FORMAT_WAV | SF_FORMAT_FLOAT,   SF_FORMAT_AIFF | SF_FORMAT_PCM_24,
        SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AU | SF_FORMAT_DOUBLE,
    };
    for (int k = 0; k < 6; k++) {
        rb_segments_options o = options_of("6", "1");
        put_sound("tune", kinds[k], RATE, 1, tune, 6);
        rb_matrix *m = cut("tune", &o);
        for (int t = 0; t < 6; t++) {
            double rounding =
                (kinds[k] & SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_U8 ? 1.0 / 64 : 1.0 / 16384;
            assert_true(fabs(rb_matrix_at(m, 0, t) - (double)tune[t]) < rounding);
        }
        rb_matrix_free(m);
    }
}

/* A time is rounded to whole values at the file's rate; 0.5ms at 8000 a second are 4. */
static void times(void **state) {
    (void)state;
    static const struct {
        const char *length, *step;
        int rate;
        int64_t samples, features;
    } cases[] = {{"0.5ms", "1", RATE, 3, 4},
                 {"0.0005s", "0.25ms", RATE, 2, 4},
                 {"4", "2", RATE, 2, 4},
                 {"0.5ms", "1", 4100, 5, 2},
                 {"2e0", "0.125ms", RATE, 5, 2},
                 {"6", "100s", RATE, 1, 6},
                 {"0.0625ms", "0.0625ms", RATE, 6, 1}};
    for (int c = 0; c < 7; c++) {
        rb_segments_options o = options_of(cases[c].length, cases[c].step);
        put_wav("a.wav", cases[c].rate);
        rb_matrix *m = cut("a.wav", &o);
        assert_int_equal(rb_matrix_samples(m), cases[c].samples);
        assert_int_equal(rb_matrix_features(m), cases[c].features);
        rb_matrix_free(m);
    }
}

/* Each recording has the peak, for itself, after its silence is gone. */
static void loudness(void **state) {
    (void)state;
    float quiet[400] = {0};
    quiet[95] = 0.01F;
    quiet[160] = -0.001F;
    put_wav("a.wav", RATE);
    put_sound("b.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, RATE, 1, quiet, 400);
    const char *const paths[] = {"a.wav", "b.wav"};
    rb_segments_options o = options_of("2", "1");
    o.peak = 5;
    o.trim_silence = true;
    rb_source *source;
    rb_description description = {.size = sizeof description};
    assert_int_equal(rb_segments(ctx, paths, 2, fixture_of(rb_segments_group(), &o), &source),
                     RB_OK);
    assert_int_equal(rb_source_samples(source), 5 + 159); /* values 80 to 239 of b.wav */
    assert_int_equal(rb_describe(ctx, source, &description), RB_OK);
    assert_true(description.minimum == (double)(float)(-0.5 / 0.75 * 5) &&
                description.maximum == 5);
    rb_source_free(source);
}

/* A file that does not say how long it is, or claims more than there is, is read to its end. */
static void lengths_that_lie(void **state) {
    (void)state;
    char wav[56] = "RIFF\x30\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0"
                   "\x10\0data\xff\xff\xff\x7f"
                   "\0\x20\0\x40\0\x80\0\0\0\x40\0\xe0";
    static const double values[] = {0.25, 0.5, -1, 0, 0.5, -0.25};
    put_bytes("a.wav", wav, 56);
    rb_segments_options o = options_of("6", "1");
    rb_matrix *m = cut("a.wav", &o);
    assert_values(m, 1, 6, values);
    rb_matrix_free(m);
}

static void refuse_segments(const char *const *paths, int64_t count, const rb_segments_options *o,
                            rb_error code, const char *words) {
    rb_source *source = (rb_source *)&source;
    rb_error err = rb_segments(ctx, paths, count, fixture_of(rb_segments_group(), o), &source);
    assert_null(source);
    if (err != code || !strstr(rb_context_error(ctx), words))
        fail_msg("%s without '%s': %s", rb_error_name(err), words, rb_context_error(ctx));
}

static void refuse_file(const char *path, const rb_segments_options *o, rb_error code,
                        const char *words) {
    refuse_segments(&path, 1, o, code, words);
}

static void refusals(void **state) {
    (void)state;
    static const float zeros[200] = {0}, hole[2] = {0.5F, NAN};
    put_wav("a.wav", RATE);
    put_wav("slow.wav", 4000);
    put_sound("silent.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, RATE, 1, zeros, 200);
    put_sound("empty.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, RATE, 1, zeros, 0);
    put_sound("hole.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, RATE, 1, hole, 2);
    put_text("table.csv", "1,2\n3,4\n");
    put_text("nothing", "");
    put_text("cut.wav", "RIFF");
    assert_int_equal(mkdir("folder", 0777), 0);
    rb_segments_options o = options_of("2", "1");
    refuse_segments(NULL, 0, &o, RB_ERROR_ARGUMENT, "no recording");
    refuse_file("gone.wav", &o, RB_ERROR_FILE, "cannot read gone.wav: there is no such file");
    refuse_file("folder", &o, RB_ERROR_FILE, "cannot read folder: it is a folder");
    refuse_file("table.csv", &o, RB_ERROR_FORMAT, "table.csv: not a recording");
    refuse_file("nothing", &o, RB_ERROR_FORMAT, "nothing: not a recording");
    refuse_file("cut.wav", &o, RB_ERROR_FORMAT, "cut.wav: not a recording, or damaged");
    refuse_file("empty.wav", &o, RB_ERROR_FORMAT, "empty.wav: the recording is empty");
    refuse_file("hole.wav", &o, RB_ERROR_DATA, "hole.wav: value 2 of the sound is missing");
    const char *const rates[] = {"a.wav", "slow.wav"};
    refuse_segments(rates, 2, &o, RB_ERROR_DATA,
                    "slow.wav has 4000 values per second, but a.wav has 8000");
    o.length = "7";
    refuse_file("a.wav", &o, RB_ERROR_ARGUMENT,
                "a.wav: a segment of 7 values does not fit into a recording of 6");
    static const char *const times[] = {"",    "ms",  "0ms",  "-1ms",  "0.01ms", "1.5",
                                        "12x", "1 s", "1e9s", "nanms", NULL};
    for (int t = 0; t < 11; t++) {
        o = options_of(times[t], "1");
        refuse_file("a.wav", &o, RB_ERROR_ARGUMENT, "`length` is '");
        o = options_of("2", times[t]);
        refuse_file("a.wav", &o, RB_ERROR_ARGUMENT, "`step` is '");
    }
    o = options_of("2", "1");
    o.peak = -1;
    refuse_file("a.wav", &o, RB_ERROR_ARGUMENT, "peak");
    o.peak = 1;
    refuse_file("silent.wav", &o, RB_ERROR_DATA, "silent.wav is silent");
    o.peak = 0;
    o.trim_silence = true;
    refuse_file("silent.wav", &o, RB_ERROR_DATA, "silent.wav is silent");
    rmdir("folder");
}

static void no_memory(void **state) {
    (void)state;
    put_wav("a.wav", RATE);
    put_wav("b.wav", RATE);
    const char *const paths[] = {"a.wav", "b.wav"};
    rb_segments_options o = options_of("2", "1");
    o.peak = 1;
    o.trim_silence = true;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_source *source = NULL;
        err = rb_segments(ctx, paths, 2, fixture_of(rb_segments_group(), &o), &source);
        assert_true(err ? err == RB_ERROR_MEMORY && !source : source != NULL);
        rb_source_free(source);
    }
    assert_true(n > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_pinned),
        cmocka_unit_test(bytes_of_a_wav),
        cmocka_unit_test(formats),
        cmocka_unit_test(times),
        cmocka_unit_test(loudness),
        cmocka_unit_test(lengths_that_lie),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}

/* What the tests of readers and writers share: a folder of their own, files made of text,
 * refusals. */
#ifndef IO_TEST_H
#define IO_TEST_H

#include "../errors.h"
#include "../options.h"
#include "io/io.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static rb_context *ctx;
static char folder[64];

static inline int enter(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit-io-XXXXXX");
    return rb_context_create(&ctx) || !mkdtemp(folder) || chdir(folder);
}

static inline int files_here(void) {
    int count = 0;
    DIR *here = opendir(".");
    assert_non_null(here);
    for (struct dirent *entry; (entry = readdir(here)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(here);
    return count;
}

static inline void empty_here(void) {
    DIR *here = opendir(".");
    assert_non_null(here);
    for (struct dirent *entry; (entry = readdir(here)) != NULL;)
        remove(entry->d_name);
    closedir(here);
}

static inline int leave(void **state) {
    (void)state;
    rb_context_free(ctx);
    if (chdir(folder)) return -1; /* it was not made: nothing here is the test's */
    empty_here();
    return chdir("/") || rmdir(folder);
}

static inline void put_bytes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void put_text(const char *path, const char *text) {
    put_bytes(path, text, strlen(text));
}

static inline void put_gzip(const char *path, const char *text) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static inline void assert_text(const char *path, const char *text) {
    char found[4096];
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    int count = gzread(file, found, sizeof found - 1);
    assert_true(count >= 0);
    found[count] = '\0';
    gzclose(file);
    assert_string_equal(found, text);
}

static inline rb_matrix *read_with(const char *path, const rb_read_options *options) {
    rb_matrix *m = NULL;
    rb_error err = rb_read(ctx, path, fixture_of(rb_read_group(), options), &m);
    if (err) print_error("%s\n", rb_context_error(ctx));
    assert_int_equal(err, RB_OK);
    assert_non_null(m);
    return m;
}

/* Values row by row; NaN equals NaN. */
static inline void assert_values(const rb_matrix *m, int64_t samples, int64_t features,
                                 const double *values) {
    assert_int_equal(rb_matrix_samples(m), samples);
    assert_int_equal(rb_matrix_features(m), features);
    for (int64_t i = 0; i < samples; i++) {
        for (int64_t j = 0; j < features; j++) {
            double found = rb_matrix_at(m, i, j), wanted = values[i * features + j];
            if (!(found == wanted || (isnan(found) && isnan(wanted)))) {
                fail_msg("value (%lld, %lld) is %.17g, not %.17g", (long long)i, (long long)j,
                         found, wanted);
            }
        }
    }
}

/* Reading fails with this code, and the message holds all words of a list "a|b|c". */
static inline void refuse_with(const char *path, const rb_read_options *options, rb_error code,
                               const char *words) {
    rb_matrix *m = (rb_matrix *)&m; /* must become NULL */
    rb_error err = rb_read(ctx, path, fixture_of(rb_read_group(), options), &m);
    const char *message = rb_context_error(ctx);
    assert_null(m);
    if (err != code)
        fail_msg("error %s, not %s: %s", rb_error_name(err), rb_error_name(code), message);
    for (const char *word = words; *word;) {
        char part[128];
        size_t span = strcspn(word, "|");
        snprintf(part, sizeof part, "%.*s", (int)span, word);
        if (!strstr(message, part)) fail_msg("the sentence lacks '%s': %s", part, message);
        word += span + (word[span] == '|');
    }
    rb_source *source = (rb_source *)&source;
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), options), &source), code);
    assert_null(source);
}

static inline void refuse(const char *path, rb_error code, const char *words) {
    refuse_with(path, NULL, code, words);
}

/* Reading a good file with the n-th allocation failing, for every n. */
static inline void fail_every_allocation(const char *path) {
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_matrix *m = NULL;
        err = rb_read(ctx, path, NULL, &m);
        assert_true(err ? err == RB_ERROR_MEMORY && !m : m != NULL);
        rb_matrix_free(m);
    }
    assert_true(n > 1);
    err = RB_ERROR_MEMORY;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_source *source = NULL;
        rb_description description = {.size = sizeof description};
        err = rb_open(ctx, path, NULL, &source);
        assert_true(err ? err == RB_ERROR_MEMORY && !source : source != NULL);
        if (!err) err = rb_describe(ctx, source, &description);
        rb_source_free(source);
    }
}

#endif

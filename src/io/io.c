/* Reading: which format a file has, and who reads it. */
#include "io.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const rb_option table[] = {
    {"dataset", 0, RB_OPTION_TEXT, offsetof(rb_read_options, dataset), NULL, 0, 0, NULL, "PATH",
     "data set inside an HDF5 file"},
    {"transpose", 0, RB_OPTION_FLAG, offsetof(rb_read_options, transpose), "false", 0, 0, NULL,
     NULL, "the file has features as rows and samples as columns", RB_OPTION_COMMON},
    {"header", 0, RB_OPTION_CHOICE, offsetof(rb_read_options, header), "auto", 0, 0, "auto|yes|no",
     "WHETHER", "text files: the first row names the features"},
    {"row-names", 0, RB_OPTION_CHOICE, offsetof(rb_read_options, row_names), "auto", 0, 0,
     "auto|yes|no", "WHETHER", "text files: the first column names the samples"},
    {"patches", 0, RB_OPTION_TEXT, offsetof(rb_read_options, patches), NULL, 0, 0, NULL, "HxW",
     "images: cut into patches of this size, one per sample"},
    {"missing-words", 0, RB_OPTION_TEXT, offsetof(rb_read_options, missing_words), NULL, 0, 0, NULL,
     "WORD,...", "text files: what stands for a missing value, besides NA and the like"},
    {0},
};

const rb_option_group *rb_read_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Reading", table,
                                          sizeof(rb_read_options), NULL};
    return &group;
}

/* The first that recognises a file takes it; text comes last. */
static const rb_format *const formats[] = {
    &rb_format_npy, &rb_format_hdf5,  &rb_format_mtx,       &rb_format_tenx,
    &rb_format_idx, &rb_format_image, &rb_format_delimited,
};

/* ---- looking at a file ---- */

static rb_error look_at(rb_context *ctx, const char *path, rb_probe *probe) {
    gzFile file;
    *probe = (rb_probe){.path = path};
    rb_error err = rb_file_check(ctx, path, &probe->folder);
    err = err || probe->folder ? err : rb_gz_open(ctx, path, false, &file);
    if (err || probe->folder) return err;
    probe->n_bytes = gzread(file, probe->bytes, sizeof probe->bytes);
    probe->gzip = !gzdirect(file);
    if (probe->n_bytes <= 0) { /* a compressed file may end before its first byte */
        err = rb_gz_check(ctx, path, file, -1);
        err = err ? err : rb_fail(ctx, RB_ERROR_FORMAT, "%s is empty", path);
    }
    gzclose(file);
    return err;
}

/* What to do with a file of a kind that is often tried; NULL: it is none of them. */
static const char *advise(const rb_probe *probe) {
    static const struct {
        const char *magic, *advice;
    } kinds[] = {
        {"PK\x03\x04",
         "save a spreadsheet (xlsx, ods) as CSV or TSV, and each array of a .npz as .npy"},
        {"\xD0\xCF\x11\xE0", "save a spreadsheet (xls) as CSV or TSV"},
        {"RIFF", "cut a sound into samples with: rarebit segments"},
        {"FORM", "cut a sound into samples with: rarebit segments"},
        {".snd", "cut a sound into samples with: rarebit segments"},
        {"fLaC", "cut a sound into samples with: rarebit segments"},
        {"\xFF\xD8\xFF", "save a JPEG image as PNG"},
        {"PAR1", "save a Parquet table as CSV or TSV"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].magic);
        if (probe->n_bytes >= (int)length && memcmp(probe->bytes, kinds[i].magic, length) == 0)
            return kinds[i].advice;
    }
    return NULL;
}

static rb_error find_format(rb_context *ctx, const char *path, const rb_format **format) {
    rb_probe probe;
    *format = NULL;
    rb_error err = look_at(ctx, path, &probe);
    if (err) return err;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i]->recognise(&probe)) {
            *format = formats[i];
            return RB_OK;
        }
    }
    if (probe.folder) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "%s is a folder, but not of 10x: it has no matrix.mtx or matrix.mtx.gz",
                       path);
    }
    const char *advice = advise(&probe);
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s has a format that rarebit does not know%s%s", path,
                   advice ? ": " : "", advice ? advice : "");
}

rb_error rb_format_of(rb_context *ctx, const char *path, const char **name) {
    const rb_format *format;
    rb_error err = find_format(ctx, path, &format);
    *name = err ? NULL : format->name;
    return err;
}

const char *rb_source_format(const rb_source *source) {
    return source->format;
}

/* ---- reading it ---- */

/* Options that the format would not accept are refused. */
static rb_error check_heeded(rb_context *ctx, const char *path, const rb_format *format,
                             const rb_read_options *options) {
    bool picture = format == &rb_format_image, hdf5 = format == &rb_format_hdf5,
         text = format == &rb_format_delimited,
         names = options->header != RB_READ_AUTO || options->row_names != RB_READ_AUTO;
    const char *wrong =
        options->patches && !picture
            ? "an image (PGM, PPM or PNG): the option `patches` is for images"
        : options->dataset && !hdf5 ? "an HDF5 file: the option `dataset` names a data set in one"
        : options->missing_words && !text
            ? "a text table: the option `missing-words` is for CSV and TSV"
        : names && !text ? "a text table: the options `header` and `row-names` are for CSV and TSV"
                         : NULL;
    return wrong ? rb_fail(ctx, RB_ERROR_ARGUMENT, "%s is not %s", path, wrong) : RB_OK;
}

/* Files of one call. */
struct files {
    bool several;
    const char *largest; /* of those that are read whole; or NULL: there are none yet */
    double most, bytes;  /* of the largest, and of all */
};

/* The format of a file, and options to read it with. Of several `dataset` is for those of HDF5. */
static rb_error prepare(rb_context *ctx, const char *path, const rb_options *given,
                        const struct files *files, rb_read_options *options,
                        const rb_format **format) {
    rb_error err = rb_options_take(ctx, given, rb_read_group(), options);
    err = err ? err : find_format(ctx, path, format);
    if (err) return err;
    if (files->several && *format != &rb_format_hdf5) options->dataset = NULL;
    return check_heeded(ctx, path, *format, options);
}

/* A sparse matrix may have many more rows and columns than entries; whoever uses it needs a number
 * for each. */
static rb_error check_shape(rb_context *ctx, int64_t n_samples, int64_t n_features) {
    return rb_reading_check(ctx, ((double)n_samples + (double)n_features) * sizeof(double));
}

static rb_error read_with(rb_context *ctx, const rb_format *format, const char *path,
                          const rb_read_options *options, rb_matrix **matrix) {
    rb_error err = format->read(ctx, path, options, matrix);
    if (!err && options->transpose) err = rb_matrix_transpose(ctx, matrix);
    err = err ? err : check_shape(ctx, (*matrix)->n_samples, (*matrix)->n_features);
    return rb_matrix_end(err, matrix);
}

rb_error rb_read(rb_context *ctx, const char *path, const rb_options *given, rb_matrix **matrix) {
    rb_read_options options;
    const rb_format *format;
    rb_reading reading;
    struct files files = {0};
    *matrix = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = prepare(ctx, path, given, &files, &options, &format);
    err = err ? err : read_with(ctx, format, path, &options, matrix);
    rb_reading_end(ctx);
    return err;
}

/* What is read whole is so in each of several processes. */
static rb_error check_shared(rb_context *ctx, const char *path, struct files *files) {
    const double limit = 1e8, bytes = (double)rb_file_size(path);
    const char *others = files->largest ? " and what is joined to it have" : " has";
    if (bytes >= files->most) files->largest = path;
    files->most = fmax(files->most, bytes);
    files->bytes += bytes;
    if (rb_ranks(ctx) == 1 || files->bytes <= limit) return RB_OK;
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "%s%s %.0f MB, and each of the %d processes would read all of it; convert it "
                   "first, with: rarebit convert %s -o FILE.h5ad, and the options to read it with",
                   files->largest, others, files->bytes / 1e6, rb_ranks(ctx), files->largest);
}

static rb_error open_source(rb_context *ctx, const char *path, const rb_options *given,
                            struct files *files, rb_source **source) {
    rb_read_options options;
    const rb_format *format;
    rb_matrix *matrix;
    *source = NULL;
    rb_error err = prepare(ctx, path, given, files, &options, &format);
    if (err) return err;
    err = format->open ? format->open(ctx, path, &options, source) : RB_ERROR_UNSUPPORTED;
    if (err == RB_ERROR_UNSUPPORTED) {
        err = format->open ? RB_OK : check_shared(ctx, path, files);
        err = err ? err : read_with(ctx, format, path, &options, &matrix);
        err = err ? err : rb_source_own_matrix(ctx, matrix, source);
    }
    if (!err) (*source)->format = format->name;
    return err;
}

static rb_error open_file(rb_context *ctx, const char *path, const rb_options *given,
                          struct files *files, rb_source **source) {
    rb_reading reading;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_READING);
    rb_reading_begin(ctx, &reading, path);
    rb_error err = open_source(ctx, path, given, files, source);
    if (!err) {
        (*source)->path = rb_copy_text(ctx, path);
        if (!(*source)->path || check_shape(ctx, (*source)->n_samples, (*source)->n_features)) {
            err = RB_ERROR_MEMORY;
            rb_source_free(*source);
            *source = NULL;
        }
    }
    rb_reading_end(ctx);
    rb_phase_end(ctx, before);
    return err;
}

/* ---- several files as one ---- */

/* Of several files one at least is to have the data set. */
static rb_error check_dataset(rb_context *ctx, const char *paths, const rb_options *given) {
    bool there = !given || !rb_options_is_set(given, "dataset");
    const rb_format *format = NULL;
    char *list = there ? NULL : rb_copy_text(ctx, paths), *rest = list;
    rb_error err = there || list ? RB_OK : RB_ERROR_MEMORY;
    for (const char *path; !err && !there && (path = strsep(&rest, ","));) {
        err = find_format(ctx, path, &format);
        there = format == &rb_format_hdf5;
    }
    rb_free(list);
    if (err || there) return err;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "none of %s is an HDF5 file: the option `dataset` names a data set in one",
                   paths);
}

/* Opens each; what there is of them is to be freed. */
static rb_error open_each(rb_context *ctx, const char *paths, const rb_options *given,
                          rb_source **parts, int64_t *count) {
    struct files files = {.several = true};
    char *list = rb_copy_text(ctx, paths), *rest = list;
    rb_error err = list ? check_dataset(ctx, paths, given) : RB_ERROR_MEMORY;
    for (const char *path; !err && (path = strsep(&rest, ","));) {
        err = open_file(ctx, path, given, &files, &parts[*count]);
        *count += !err;
    }
    rb_free(list);
    return err;
}

static rb_error open_several(rb_context *ctx, const char *paths, const rb_options *given,
                             rb_source **source) {
    int64_t count = 1, opened = 0;
    for (const char *c = paths; *c; c++)
        count += *c == ',';
    rb_source **parts = rb_alloc(ctx, count, sizeof(rb_source *));
    rb_error err = parts ? open_each(ctx, paths, given, parts, &opened) : RB_ERROR_MEMORY;
    if (!err) return rb_source_join(ctx, parts, count, source);
    for (int64_t p = 0; p < opened; p++)
        rb_source_free(parts[p]);
    rb_free(parts);
    *source = NULL;
    return err;
}

rb_error rb_open(rb_context *ctx, const char *path, const rb_options *given, rb_source **source) {
    bool several = strchr(path, ',') && access(path, F_OK) != 0;
    struct files files = {0};
    return several ? open_several(ctx, path, given, source)
                   : open_file(ctx, path, given, &files, source);
}

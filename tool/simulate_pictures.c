/* rarebit simulate rectangles, convex, mnist-rot, ...: labelled pictures. */
#include "tool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const rb_option_group *picture_output_group(void) {
    struct fields {
        const char *output, *labels;
        int format;
    };
    static const rb_option table[] = {
        {"output", 'o', RB_OPTION_TEXT, offsetof(struct fields, output), NULL, 0, 0, NULL, "FILE",
         "where to write: .npy, .tsv, .csv, .h5, .idx, a name in idx3-ubyte (with --values bytes), "
         "or .amat, which has the label in its last column"},
        {"labels", 0, RB_OPTION_TEXT, offsetof(struct fields, labels), NULL, 0, 0, NULL, "FILE",
         "where to write the labels, samples x 1: likewise, a name in idx1-ubyte for bytes"},
        {"format", 0, RB_OPTION_CHOICE, offsetof(struct fields, format), "tsv", 0, 0, "tsv|csv|npy",
         "FORMAT", "format on standard output"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Output", table,
                                          sizeof(struct fields)};
    return &group;
}

/* What the pictures are made of. */
typedef struct input {
    rb_matrix *digits, *labels;
    rb_matrix **images;
    int64_t n_images;
} input;

static rb_error read_input(const invocation *call, input *in) {
    bool digits = strcmp(call->command->arguments[0].name ? call->command->arguments[0].name : "",
                         "DIGITS") == 0;
    int first = digits ? 2 : 0;
    in->images = calloc((size_t)call->n_arguments + 1, sizeof *in->images);
    if (!in->images) return rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory");
    rb_error err = digits ? rb_read(call->ctx, call->arguments[0], NULL, &in->digits) : RB_OK;
    if (!err && digits) err = rb_read(call->ctx, call->arguments[1], NULL, &in->labels);
    for (int i = first; !err && i < call->n_arguments; i++, in->n_images++)
        err = rb_picture_matrix(call->ctx, call->arguments[i], &in->images[i - first]);
    return err;
}

static void clear_input(input *in) {
    for (int64_t i = 0; in->images && i < in->n_images; i++)
        rb_matrix_free(in->images[i]);
    free(in->images);
    rb_matrix_free(in->digits);
    rb_matrix_free(in->labels);
}

/* Pictures with their labels as the last column. */
static int write_both(invocation *call, const rb_matrix *pictures, const rb_matrix *labels,
                      const char *target) {
    int64_t n = rb_matrix_samples(pictures), m = rb_matrix_features(pictures);
    float *rows = calloc((size_t)(n * (m + 1)), sizeof *rows);
    rb_matrix *both = NULL;
    rb_error err = rows ? rb_matrix_dense(call->ctx, RB_FLOAT32, n, m + 1, rows, m + 1, 1, &both)
                        : rb_context_fail(call->ctx, RB_ERROR_MEMORY, "out of memory");
    for (int64_t i = 0; !err && i < n; i++)
        for (int64_t k = 0; k <= m; k++)
            rows[i * (m + 1) + k] =
                (float)(k < m ? rb_matrix_at(pictures, i, k) : rb_matrix_at(labels, i, 0));
    int status = err ? report_failure(call->ctx, err) : write_matrix(call, both, target);
    rb_matrix_free(both);
    free(rows);
    return status;
}

static int write_pictures(invocation *call, const rb_matrix *pictures, const rb_matrix *labels) {
    const char *target = option_text(call, "output"), *other = option_text(call, "labels");
    bool amat = has_suffix(target, ".amat") || has_suffix(target, ".amat.gz");
    int status =
        amat ? write_both(call, pictures, labels, target) : write_matrix(call, pictures, target);
    if (!status && other) status = write_matrix(call, labels, other);
    if (!status) {
        report("%lld pictures of %lld pixels in %s; seed %lld",
               (long long)rb_matrix_samples(pictures), (long long)rb_matrix_features(pictures),
               target, (long long)option_integer(call, "seed"));
        if (!amat && !other) report("no labels were written: give --labels FILE for them");
    }
    return status;
}

/* What a file cannot hold is said before anything is made. */
static rb_error check_targets(const invocation *call) {
    const char *target = option_text(call, "output"), *labels = option_text(call, "labels");
    char text[512];
    if (labels && (has_suffix(labels, ".amat") || has_suffix(labels, ".amat.gz"))) {
        return rb_context_fail(call->ctx, RB_ERROR_ARGUMENT,
                               "labels is .amat, whose last column they are with the pictures "
                               "before them: give -o such a name, or labels in .npy or .tsv");
    }
    if (!has_suffix(target, "-ubyte") || option_is(call, "values", "bytes")) return RB_OK;
    snprintf(text, sizeof text,
             "'%.300s' holds bytes, but the levels are 0 to 1; give --values bytes, or a name that "
             "ends in .idx",
             target);
    return rb_context_fail(call->ctx, RB_ERROR_ARGUMENT, text);
}

static int run(invocation *call) {
    rb_matrix *pictures = NULL, *labels = NULL;
    input in = {0};
    const char *kind = strchr(call->command->words, ' ') + 1;
    rb_error err = rb_options_set(call->ctx, call->options, "kind", kind);
    err = err ? err : check_targets(call);
    err = err ? err : read_input(call, &in);
    const rb_pictures_input given = {.size = sizeof given,
                                     .digits = in.digits,
                                     .digit_labels = in.labels,
                                     .images = (const rb_matrix *const *)in.images,
                                     .n_images = in.n_images};
    if (!err) {
        interrupt_gently(call->ctx);
        err = rb_simulate_pictures(call->ctx, call->options, &given, &pictures, &labels);
        interrupt_gently(NULL);
    }
    int status = err ? report_failure(call->ctx, err) : write_pictures(call, pictures, labels);
    rb_matrix_free(pictures);
    rb_matrix_free(labels);
    clear_input(&in);
    return status;
}

static const char digits_help[] =
    "square pictures of 0 to 255 as samples, such as MNIST's images (IDX)";
static const char labels_help[] = "a whole number for each digit, such as MNIST's labels (IDX)";
static const char images_help[] = "images for patches: PNG, PGM, PPM, or .npy of height x width";

const command simulate_rectangles_command = {
    .words = "simulate rectangles",
    .heading = "Data",
    .summary = "make pictures of rectangles: wider than high (1) or not (0)",
    .description = "White borders on black, 28 x 28 pixels: height and width are any that differ "
                   "by 3 or more, at any place.",
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"Training and test pictures",
                  "simulate rectangles --samples 1200 --seed 1 -o train.amat"},
                 {"The ones behind them",
                  "simulate rectangles --first 1200 --samples 50k --seed 1 -o test.amat"}},
    .without = "kind least-sd",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_rectangles_image_command = {
    .words = "simulate rectangles-image",
    .heading = "Data",
    .summary = "make rectangles of a patch of an image before another patch",
    .description = "Rectangles of a quarter to three quarters of the picture, at least 10 pixels "
                   "high and wide, which differ by 5 or more; label 1 where they are wider than "
                   "high. Patches lie anywhere in the images, and are not all grey (--least-sd).",
    .arguments = {{"IMAGE...", images_help, false}},
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"From two photographs",
                  "simulate rectangles-image a.png b.png --samples 12000 -o X.npy --labels y.npy"}},
    .without = "kind",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_convex_command = {
    .words = "simulate convex",
    .heading = "Data",
    .summary = "make pictures of white regions: convex (1) or not (0)",
    .description = "Convex regions are those of several half-planes, others are unions of convex "
                   "ones. Both cover the same share of the picture on average.",
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"As bytes, with the labels apart",
                  "simulate convex --samples 8000 --values bytes -o convex-idx3-ubyte --labels "
                  "convex-idx1-ubyte"}},
    .without = "kind least-sd",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_mnist_basic_command = {
    .words = "simulate mnist-basic",
    .heading = "Data",
    .summary = "take digits in a random order",
    .description = "No digit is taken twice: --first begins a test set where the training set of "
                   "the same --seed ends.",
    .arguments = {{"DIGITS", digits_help, false}, {"LABELS", labels_help, false}},
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"12000 digits", "simulate mnist-basic images.gz labels.gz --samples 12000 -o "
                                  "basic.amat"}},
    .without = "kind least-sd",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_mnist_rand_command = {
    .words = "simulate mnist-rand",
    .heading = "Data",
    .summary = "put digits before backgrounds of noise",
    .description = "Each pixel of the background is any level from 0 to 255; the lighter of digit "
                   "and background counts. No digit is taken twice.",
    .arguments = {{"DIGITS", digits_help, false}, {"LABELS", labels_help, false}},
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"12000 digits",
                  "simulate mnist-rand images.gz labels.gz --samples 12000 -o rand.amat"}},
    .without = "kind least-sd",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_mnist_img_command = {
    .words = "simulate mnist-img",
    .heading = "Data",
    .summary = "put digits before patches of images",
    .description = "Backgrounds are random patches of the images that are not all grey "
                   "(--least-sd); the lighter of digit and background counts. No digit is taken "
                   "twice.",
    .arguments = {{"DIGITS", digits_help, false},
                  {"LABELS", labels_help, false},
                  {"IMAGE...", images_help, false}},
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples =
        {{"12000 digits before two photographs",
          "simulate mnist-img images.gz labels.gz a.png b.png --samples 12000 -o img.amat"}},
    .without = "kind",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

const command simulate_mnist_rot_command = {
    .words = "simulate mnist-rot",
    .heading = "Data",
    .summary = "turn digits by random angles",
    .description = "Each digit is turned about the middle of its picture by any angle. No digit is "
                   "taken twice.",
    .arguments = {{"DIGITS", digits_help, false}, {"LABELS", labels_help, false}},
    .output = "FILE",
    .groups = {rb_pictures_group, picture_output_group, general_group},
    .examples = {{"12000 digits",
                  "simulate mnist-rot images.gz labels.gz --samples 12000 -o rot.amat"}},
    .without = "kind least-sd",
    .writes = "output labels",
    .check_output = rb_writer_check,
    .run = run,
};

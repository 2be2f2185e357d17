/* Drawing: round ticks, labels that keep apart, pixels that show their numbers, files that are
 * whole or not there. */
#include "../errors.h"
#include "../options.h"
#include "io/io.h"
#include "plot/plot.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rb_context *ctx;
static char folder[64], png_path[96], svg_path[96];
static rb_plot_options options;

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit_plot_XXXXXX");
    if (!mkdtemp(folder) || rb_context_create(&ctx) != RB_OK) return 1;
    snprintf(png_path, sizeof png_path, "%s/a.png", folder);
    snprintf(svg_path, sizeof svg_path, "%s/a.svg", folder);
    fixture_default(rb_plot_group(), &options);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    unlink(png_path);
    unlink(svg_path);
    return rmdir(folder);
}

static int files_there(void) {
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(entries);
    return count;
}

static void remove_files(void) {
    unlink(png_path);
    unlink(svg_path);
    assert_int_equal(files_there(), 0);
}

/* A picture read back. */
typedef struct pixels {
    rb_matrix *matrix;
    int64_t width, height;
} pixels;

static pixels load(void) {
    pixels p;
    unsigned char head[24];
    FILE *file = fopen(png_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    p.width = head[18] << 8 | head[19];
    p.height = head[22] << 8 | head[23];
    assert_int_equal(rb_format_image.read(ctx, png_path, NULL, &p.matrix), RB_OK);
    assert_int_equal(rb_matrix_features(p.matrix), p.width * p.height * 3);
    return p;
}

/* Red, green or blue, 0 to 255. */
static double channel(const pixels *p, int64_t x, int64_t y, int c) {
    return rb_matrix_at(p->matrix, 0, (y * p->width + x) * 3 + c);
}

static double lightness(const pixels *p, int64_t x, int64_t y) {
    return (channel(p, x, y, 0) + channel(p, x, y, 1) + channel(p, x, y, 2)) / 3;
}

static bool near(double level, double share) {
    return fabs(level - 255 * share) <= 1;
}

/* Pixels of this colour, within rounding. */
static int64_t count_colour(const pixels *p, rb_colour c) {
    int64_t count = 0;
    for (int64_t y = 0; y < p->height; y++) {
        for (int64_t x = 0; x < p->width; x++) {
            count += near(channel(p, x, y, 0), c.red) && near(channel(p, x, y, 1), c.green) &&
                     near(channel(p, x, y, 2), c.blue);
        }
    }
    return count;
}

static const rb_colour black = {0, 0, 0}, grey = {0.5, 0.5, 0.5};

static size_t read_bytes(const char *path, char *bytes, size_t capacity) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, capacity, file);
    fclose(file);
    assert_true(count > 100 && count < capacity);
    return count;
}

/* ---- ticks and labels ---- */

static void test_ticks_are_round_inside_and_few(void **state) {
    (void)state;
    const double ranges[][2] = {{0, 1},   {-3, 7},       {0.1, 0.13},   {-1e9, 2e9},
                                {5, 5.1}, {-1e-5, 3e-5}, {123.4, 567.8}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        for (int max = 2; max <= 12; max++) {
            rb_ticks t = rb_ticks_choose(ranges[r][0], ranges[r][1], max, false);
            double mantissa = t.step / pow(10, floor(log10(t.step) + 1e-9));
            assert_true(fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 ||
                        fabs(mantissa - 5) < 1e-6);
            assert_true(t.count <= max);
            double slack = 1e-6 * t.step;
            for (int i = 0; i < t.count; i++) {
                double value = rb_tick_value(&t, i), steps = value / t.step;
                assert_true(value >= ranges[r][0] - slack && value <= ranges[r][1] + slack);
                assert_true(fabs(steps - round(steps)) < 1e-6);
            }
        }
    }
    assert_true(rb_ticks_choose(1, 3, 9, true).step == 1);
    assert_int_equal(rb_ticks_choose(2, 2, 5, false).count, 1);
}

static void assert_tick(double low, double high, int index, const char *want) {
    char text[32];
    rb_ticks t = rb_ticks_choose(low, high, 6, false);
    rb_tick_text(&t, index, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_ticks_have_the_digits_of_their_step(void **state) {
    (void)state;
    assert_tick(0, 1, 1, "0.2");
    assert_tick(-1, 1, 2, "0.0");
    assert_tick(0, 100, 5, "100");
    assert_tick(1, 1.01, 1, "1.002");
    assert_tick(0, 5e7, 1, "1e+07");
}

static void test_labels_keep_apart_and_stay_inside(void **state) {
    (void)state;
    double places[] = {1, 2, 3, 50, 99, 99.5};
    const double before[] = {1, 2, 3, 50, 99, 99.5};
    rb_spread(places, 6, 10, 5, 95);
    for (int i = 0; i < 6; i++) {
        assert_true(places[i] >= 5 && places[i] <= 95);
        assert_true(i == 0 || places[i] - places[i - 1] >= 10 - 1e-9);
    }
    assert_true(places[3] == before[3]);
}

static void test_maps_go_from_light_to_dark(void **state) {
    (void)state;
    double before = 3.1;
    for (int i = 0; i <= 20; i++) {
        rb_colour c = rb_map_colour(RB_MAP_SEQUENTIAL, i / 20.0);
        double sum = c.red + c.green + c.blue;
        assert_true(sum < before);
        before = sum;
    }
    assert_true(rb_map_colour(RB_MAP_SEQUENTIAL, -1).red == 1);
    rb_colour blue = rb_map_colour(RB_MAP_DIVERGING, 0.2),
              red = rb_map_colour(RB_MAP_DIVERGING, 0.8);
    assert_true(blue.blue > blue.red && red.red > red.blue);
    assert_true(rb_map_colour(RB_MAP_DIVERGING, NAN).red ==
                rb_map_colour(RB_MAP_DIVERGING, NAN).blue);
}

/* ---- pictures ---- */

/* Codes of two rows and three units: one 0, one 1, one the largest. */
static double codes[] = {0, 1, 4, 4, 1, 0};

static const char **names;

static rb_error draw_codes(const char *path) {
    rb_codes_plot p = {codes, 2, 3, 2, NULL, 0, names, "Codes \xCE\xBC \xFF"};
    return rb_draw_codes(ctx, &p, &options, path);
}

static void test_a_code_of_0_is_white_and_the_largest_is_dark(void **state) {
    (void)state;
    assert_int_equal(draw_codes(png_path), RB_OK);
    pixels p = load();
    assert_int_equal(p.width, 1200);
    /* The map stands between 56 and 800 of 900 units across, 62 and 222 down. */
    double scale = 1200 / 900.0, cell = (900 - 56 - 100) / 3.0;
    for (int row = 0; row < 2; row++) {
        for (int unit = 0; unit < 3; unit++) {
            int64_t x = (int64_t)(scale * (56 + (unit + 0.5) * cell));
            int64_t y = (int64_t)(scale * (62 + (row + 0.5) * 80));
            double value = codes[3 * row + unit], light = lightness(&p, x, y);
            rb_colour want = rb_map_colour(RB_MAP_SEQUENTIAL, value / 4);
            assert_true(fabs(channel(&p, x, y, 0) - 255 * want.red) <= 1);
            assert_true(value != 0 || light == 255);
            assert_true(value != 4 || light < 60);
        }
    }
    rb_matrix_free(p.matrix);
    remove_files();
}

/* Dark pixels of a line of text, 12 high, within 20 of x. */
static int text_below(const pixels *p, double x, double y) {
    double scale = (double)p->width / RB_PAGE_WIDTH;
    int count = 0;
    for (int64_t row = (int64_t)(y * scale); row < (int64_t)((y + 12) * scale); row++)
        for (int64_t column = (int64_t)((x - 20) * scale); column < (int64_t)((x + 20) * scale);
             column++)
            count += lightness(p, column, row) < 110;
    return count;
}

/* Without the scale below filters. */
static pixels load_images(void) {
    pixels p = load();
    p.height -= (int64_t)(40 * (double)p.width / RB_PAGE_WIDTH);
    return p;
}

static void test_filters_are_grey_at_0_and_white_and_black_at_the_ends(void **state) {
    (void)state;
    /* Two units of 1 x 3 pixels: unit 0 is (-2, 0, 2), unit 1 is dead. */
    const double loadings[] = {-2, 0, 0, 0, 2, 0};
    rb_filters_plot f = {loadings, 3, 2, NULL, 1, 3, 1, "Filters", 0, NULL};
    assert_int_equal(rb_draw_filters(ctx, &f, &options, png_path), RB_OK);
    pixels p = load_images();
    int64_t lowest = count_colour(&p, black);
    assert_true(lowest > 100);
    /* Text has a grey pixel here and there. */
    assert_true(llabs(count_colour(&p, grey) - 4 * lowest) < 20);
    /* Each image, here one below the other and 50 high, has its number below it. */
    assert_true(text_below(&p, 450, 56 + 50) > 5 && text_below(&p, 450, 56 + 50 + 65) > 5);
    rb_matrix_free(p.matrix);
    /* Three channels: one pixel of red above 0, green below, blue 0. */
    const double colour[] = {1, -1, 0};
    rb_filters_plot c = {colour, 3, 1, NULL, 1, 1, 3, "", 0, NULL};
    assert_int_equal(rb_draw_filters(ctx, &c, &options, png_path), RB_OK);
    p = load_images();
    assert_true(count_colour(&p, (rb_colour){1, 0, 0.5}) > 100);
    rb_matrix_free(p.matrix);
    /* Features that were selected stand at their own pixels, the others are 0. */
    const int64_t place[] = {2};
    const double one[] = {-1};
    rb_filters_plot s = {one, 1, 1, place, 1, 4, 1, "", 0, NULL};
    assert_int_equal(rb_draw_filters(ctx, &s, &options, png_path), RB_OK);
    p = load_images();
    lowest = count_colour(&p, black);
    assert_true(lowest > 100);
    assert_true(llabs(count_colour(&p, grey) - 3 * lowest) < 20);
    rb_matrix_free(p.matrix);
    /* Nothing is negative: 0 is black, and half of the largest grey. */
    const double positive[] = {0, 1, 2};
    rb_filters_plot n = {positive, 3, 1, NULL, 1, 3, 1, "", 0, NULL};
    assert_int_equal(rb_draw_filters(ctx, &n, &options, png_path), RB_OK);
    p = load_images();
    lowest = count_colour(&p, black);
    assert_true(lowest > 100);
    assert_true(llabs(count_colour(&p, grey) - lowest) < 20);
    rb_matrix_free(p.matrix);
    remove_files();
}

/* Below the images a bar from black to white, as many columns of it as levels it has pixels for. */
static void test_filters_have_a_scale(void **state) {
    (void)state;
    const double loadings[] = {0, 1, 2, 0.5, -1, 0};
    rb_filters_plot f = {loadings, 3, 2, NULL, 1, 3, 1, "", 0, NULL};
    for (int fixed = 0; fixed < 2; fixed++) {
        bool levels[256] = {false};
        int count = 0;
        f.largest = fixed ? 4 : 0;
        assert_int_equal(rb_draw_filters(ctx, &f, &options, png_path), RB_OK);
        pixels p = load();
        int64_t y = p.height - (int64_t)((34 + 12 - 18) * (double)p.width / RB_PAGE_WIDTH);
        for (int64_t x = 0; x < p.width / 3; x++)
            levels[(int)lightness(&p, x, y)] = true;
        for (int level = 0; level < 256; level++)
            count += levels[level];
        assert_true(count > 80);
        rb_matrix_free(p.matrix);
    }
    remove_files();
}

static const char *kind(int number) {
    return number == 1 ? "one" : "other";
}

static int64_t shrinks_from;

static rb_error draw_two(const double *first, const double *second, int64_t count,
                         const char *title) {
    const rb_series series[] = {{"first", first, NULL}, {"second", second, kind}};
    return rb_draw_history(ctx, series, 2, count, shrinks_from, title, &options, png_path);
}

/* A line from top to bottom, at the iteration, when the fit had so many. */
static void test_history_marks_where_shrinking_begins(void **state) {
    (void)state;
    const double flat[] = {0, 1, 1, 1, 1}, none[] = {NAN, NAN, NAN, NAN, NAN};
    const rb_colour dark = {0.35, 0.35, 0.35};
    int64_t strokes[3];
    for (int i = 0; i < 3; i++) {
        shrinks_from = i * 3; /* none, 3, and 6 of 5 */
        assert_int_equal(draw_two(flat, none, 5, ""), RB_OK);
        pixels p = load();
        strokes[i] = count_colour(&p, dark);
        rb_matrix_free(p.matrix);
    }
    shrinks_from = 0;
    assert_true(strokes[1] > strokes[0] + 200);
    assert_int_equal(strokes[2], strokes[0]);
    remove_files();
}

static void test_history_has_a_second_panel_only_when_traced(void **state) {
    (void)state;
    const double up[] = {-30, -10, NAN, -5, -4}, none[] = {NAN, NAN, NAN, NAN, NAN};
    const double kinds[] = {3, 1, NAN, 0, 7};
    assert_int_equal(draw_two(up, none, 5, "One"), RB_OK);
    pixels one = load();
    assert_int_equal(draw_two(up, kinds, 5, "Two"), RB_OK);
    pixels two = load();
    assert_true(two.height > one.height + 200);
    assert_true(count_colour(&one, rb_class_colour(0)) > 100);
    assert_int_equal(count_colour(&one, rb_class_colour(3)), 0);
    assert_true(count_colour(&two, rb_class_colour(3)) > 100);
    rb_matrix_free(one.matrix);
    rb_matrix_free(two.matrix);
    remove_files();
    assert_int_equal(draw_two(none, none, 5, ""), RB_ERROR_DATA);
    assert_int_equal(draw_two(up, up, 0, ""), RB_ERROR_DATA);
    assert_int_equal(draw_two(up, up, 1, ""), RB_OK);
    remove_files();
}

/* Strokes of kinds stay between the ends of the axis, and kinds that do not occur have no row. */
static void test_kinds_stay_inside_and_have_rows_where_they_occur(void **state) {
    (void)state;
    const double first[] = {1, 2, 3}, few[] = {1, 1, 1}, apart[] = {1, 9, 1};
    const double share = (double)options.width / RB_PAGE_WIDTH;
    assert_int_equal(draw_two(first, few, 3, ""), RB_OK);
    pixels p = load();
    int64_t left = p.width, right = 0;
    for (int64_t y = p.height / 2; y < p.height; y++) {
        for (int64_t x = 0; x < p.width; x++) {
            rb_colour c = rb_class_colour(3);
            if (near(channel(&p, x, y, 0), c.red) && near(channel(&p, x, y, 1), c.green) &&
                near(channel(&p, x, y, 2), c.blue)) {
                left = x < left ? x : left;
                right = x > right ? x : right;
            }
        }
    }
    assert_true(fabs((double)left - 112 * share) <= 2 && fabs((double)right - 868 * share) <= 2);
    rb_matrix_free(p.matrix);
    /* Kinds 1 and 9, and as many rows: the strokes of 1 are a quarter from the bottom. */
    assert_int_equal(draw_two(first, apart, 3, ""), RB_OK);
    p = load();
    int64_t y = (int64_t)((60 + 330 + 0.75 * 270) * share), x = (int64_t)(130 * share);
    assert_true(near(channel(&p, x, y, 0), rb_class_colour(3).red));
    rb_matrix_free(p.matrix);
    remove_files();
}

/* Where all units stand in each row: row numbers at the left, unit numbers above, and a frame that
 * shows where a white image ends. */
static void test_rows_of_units_have_numbers_and_frames(void **state) {
    (void)state;
    const double loadings[] = {1, 1, 1, 1, 1, 1, 1, 1}, rows[] = {1, 888};
    rb_filters_plot f = {loadings, 2, 4, NULL, 1, 2, 1, "", 2, rows};
    assert_int_equal(rb_draw_filters(ctx, &f, &options, png_path), RB_OK);
    pixels p = load();
    int64_t frame = 0, above = 0, left[2] = {0, 0};
    double scale = (double)p.width / RB_PAGE_WIDTH;
    int64_t first = 0; /* the column of the left frame */
    for (int64_t x = p.width - 1; x >= 0; x--) {
        int64_t count = 0;
        for (int64_t y = (int64_t)(60 * scale); y < (int64_t)(120 * scale); y++) {
            double level = lightness(&p, x, y);
            count += level > 160 && level < 240;
        }
        first = count > 50 ? x : first;
        frame += count > 50;
    }
    for (int64_t y = 0; y < p.height; y++) {
        for (int64_t x = 0; x < p.width; x++) {
            bool dark = lightness(&p, x, y) < 110;
            above += dark && (double)y < 55 * scale && (double)y > 42 * scale;
            left[(double)y > (56 + 75) * scale] += dark && x < first;
        }
    }
    assert_true(frame >= 4);
    assert_true(above > 10);
    assert_true(left[0] > 5 && left[1] > 2 * left[0]);
    rb_matrix_free(p.matrix);
    remove_files();
}

static const char *left_out = "", *note = "";

static rb_error draw_modules(const char *path) {
    double values[] = {2.5, 0, -2.5, 0, 2.5, 1};
    const char *features[] = {"GNLY", "CD79A"}, *const text[] = {"NK", "B"};
    const rb_classes classes = {.n_classes = 2, .names = text};
    rb_module_frame frames[] = {{4, 0, 1, 0, 1}, {0, 1, 1, 1, 2}};
    int64_t class_of[] = {0, 1, -1};
    rb_modules_plot p = {values, 2,        3,        features,  names,    frames,
                         2,      class_of, &classes, "Modules", left_out, note};
    return rb_draw_modules(ctx, &p, &options, path);
}

/* Pixels of text between two heights of the page. */
static int64_t dark_between(const pixels *p, double top, double bottom) {
    double scale = (double)p->width / RB_PAGE_WIDTH;
    int64_t count = 0;
    for (int64_t y = (int64_t)(top * scale); y < (int64_t)(bottom * scale); y++)
        for (int64_t x = 0; x < p->width; x++)
            count += lightness(p, x, y) < 128;
    return count;
}

static void test_modules_show_values_and_classes(void **state) {
    (void)state;
    assert_int_equal(draw_modules(png_path), RB_OK);
    pixels p = load();
    for (int64_t c = 0; c < 2; c++) {
        /* In the strip and in the legend. */
        assert_true(count_colour(&p, rb_class_colour(c)) > 1000);
    }
    assert_true(count_colour(&p, rb_map_colour(RB_MAP_DIVERGING, 1)) > 1000);
    /* The sample without a class has as much of the strip as another, and a box in the legend. */
    int64_t none = count_colour(&p, rb_class_colour(-1));
    assert_true(llabs(none - count_colour(&p, rb_class_colour(0))) < 100);
    assert_int_equal(dark_between(&p, 44, 52), 0);
    rb_matrix_free(p.matrix);
    left_out = "left out: 3 samples";
    note = "not shown: module 3";
    assert_int_equal(draw_modules(png_path), RB_OK);
    left_out = note = "";
    p = load();
    assert_true(dark_between(&p, 44, 52) > 100);
    assert_true(dark_between(&p, 60, 68) > 100);
    rb_matrix_free(p.matrix);
    remove_files();
}

/* The page of a report has them in its script. */
static void test_classes_have_the_colours_of_the_page(void **state) {
    (void)state;
    static char script[1 << 16];
    size_t size = read_bytes(TEST_DATA "/../src/io/page/charts.js", script, sizeof script - 1);
    script[size] = '\0';
    const char *at = strstr(script, "classColours = [");
    assert_non_null(at);
    for (int i = 0; i < 10; i++) {
        int level[3];
        at = strchr(at + 1, '[');
        at = i == 0 ? at + 1 : at;
        assert_int_equal(sscanf(at, "[%d, %d, %d]", &level[0], &level[1], &level[2]), 3);
        rb_colour c = rb_class_colour(i);
        assert_true(near(level[0], c.red) && near(level[1], c.green) && near(level[2], c.blue));
    }
    int grey_level = 0;
    assert_non_null(at = strstr(at, "undefined) return \"#"));
    assert_int_equal(sscanf(at, "undefined) return \"#%2x", (unsigned *)&grey_level), 1);
    assert_true(near(grey_level, rb_class_colour(-1).red));
}

/* 8 pixels in the smallest picture; names only where lines of that height have room. */
static void test_text_can_be_read_at_600_pixels(void **state) {
    (void)state;
    for (rb_text_style style = RB_TEXT_TITLE; style <= RB_TEXT_SMALL; style++)
        assert_true(rb_text_size(style) * 600 / RB_PAGE_WIDTH >= 8);
    assert_true(rb_names_fit(12) && !rb_names_fit(11));
}

/* Dark pixels in a box of the page. */
static int64_t ink_in(const pixels *p, double left, double top, double right, double bottom) {
    double scale = (double)p->width / RB_PAGE_WIDTH;
    int64_t count = 0;
    for (int64_t y = (int64_t)(top * scale); y < (int64_t)(bottom * scale); y++)
        for (int64_t x = (int64_t)(left * scale); x < (int64_t)(right * scale); x++)
            count += lightness(p, x, y) < 128;
    return count;
}

/* Samples have their names at the right of codes, and below the columns of modules. */
static void test_samples_have_names(void **state) {
    (void)state;
    const char *samples[] = {"WW1", "WW2", "WW3"};
    int64_t right[2], below[2];
    for (int named = 0; named < 2; named++) {
        names = named ? samples : NULL;
        assert_int_equal(draw_codes(png_path), RB_OK);
        pixels p = load();
        right[named] = ink_in(&p, 776, 70, 800, 215);
        rb_matrix_free(p.matrix);
        assert_int_equal(draw_modules(png_path), RB_OK);
        p = load();
        below[named] = ink_in(&p, 76, 201, 300, 235);
        rb_matrix_free(p.matrix);
    }
    names = NULL;
    assert_true(right[1] > 50 && below[1] > below[0] + 50);
    remove_files();
}

/* ---- files ---- */

static void test_the_same_picture_is_the_same_bytes(void **state) {
    (void)state;
    static char first[1 << 18], second[1 << 18];
    assert_int_equal(draw_modules(png_path), RB_OK);
    size_t count = read_bytes(png_path, first, sizeof first);
    assert_int_equal(draw_modules(png_path), RB_OK);
    assert_int_equal(read_bytes(png_path, second, sizeof second), count);
    assert_memory_equal(first, second, count);
    remove_files();
}

static void test_width_changes_the_resolution_only(void **state) {
    (void)state;
    assert_int_equal(draw_codes(png_path), RB_OK);
    pixels p = load();
    int64_t height = p.height;
    rb_matrix_free(p.matrix);
    options.width = 600;
    assert_int_equal(draw_codes(png_path), RB_OK);
    options.width = 1200;
    p = load();
    assert_int_equal(p.width, 600);
    assert_int_equal(p.height, (height + 1) / 2);
    rb_matrix_free(p.matrix);
    remove_files();
}

static void test_svg(void **state) {
    (void)state;
    static char text[1 << 20];
    assert_int_equal(draw_codes(svg_path), RB_OK);
    text[read_bytes(svg_path, text, sizeof text - 1)] = '\0';
    assert_non_null(strstr(text, "<svg"));
    assert_non_null(strstr(text, "width=\"1200px\""));
    assert_non_null(strstr(text, "</svg>"));
    remove_files();
}

static void test_options_and_suffix_are_checked(void **state) {
    (void)state;
    rb_plot_options chosen;
    assert_int_equal(rb_page_check(ctx, fixture_of(rb_plot_group(), &options), &chosen, "a.PNG"),
                     RB_OK);
    const char *wrong[] = {"a.pdf", "a", ".png", "png", "a.png.gz"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_error(ctx,
                     rb_page_check(ctx, fixture_of(rb_plot_group(), &options), &chosen, wrong[i]),
                     RB_ERROR_ARGUMENT, ".png or .svg");
    }
    rb_plot_options narrow = options;
    narrow.width = 10;
    assert_error(ctx, rb_page_check(ctx, fixture_of(rb_plot_group(), &narrow), &chosen, "a.png"),
                 RB_ERROR_ARGUMENT, "width");
}

static void test_a_path_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    assert_error(ctx, draw_codes("/nowhere/a.png"), RB_ERROR_FILE, "/nowhere");
    /* A device that is full. */
    assert_int_equal(symlink("/dev/full", png_path), 0);
    assert_int_equal(draw_codes(png_path), RB_ERROR_FILE);
    remove_files();
    assert_int_equal(symlink("/dev/full", svg_path), 0);
    assert_int_equal(draw_codes(svg_path), RB_ERROR_FILE);
    remove_files();
}

static void check_allocations(rb_error (*draw)(const char *path)) {
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        err = draw(png_path);
        assert_true(!err || files_there() == 0);
    }
    assert_true(n > 1);
    remove_files();
}

static rb_error draw_groups(const char *path) {
    rb_row_group groups[] = {{"NK", 0, 1, 0, 1}, {"B", 1, 1, 1, 1}};
    rb_codes_plot p = {codes, 2, 3, 2, groups, 2, NULL, "Codes"};
    return rb_draw_codes(ctx, &p, &options, path);
}

static void test_memory_running_out_at_every_point(void **state) {
    (void)state;
    check_allocations(draw_codes);
    check_allocations(draw_groups);
    check_allocations(draw_modules);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks_are_round_inside_and_few),
        cmocka_unit_test(test_ticks_have_the_digits_of_their_step),
        cmocka_unit_test(test_labels_keep_apart_and_stay_inside),
        cmocka_unit_test(test_maps_go_from_light_to_dark),
        cmocka_unit_test(test_a_code_of_0_is_white_and_the_largest_is_dark),
        cmocka_unit_test(test_filters_are_grey_at_0_and_white_and_black_at_the_ends),
        cmocka_unit_test(test_classes_have_the_colours_of_the_page),
        cmocka_unit_test(test_text_can_be_read_at_600_pixels),
        cmocka_unit_test(test_samples_have_names),
        cmocka_unit_test(test_filters_have_a_scale),
        cmocka_unit_test(test_history_marks_where_shrinking_begins),
        cmocka_unit_test(test_history_has_a_second_panel_only_when_traced),
        cmocka_unit_test(test_kinds_stay_inside_and_have_rows_where_they_occur),
        cmocka_unit_test(test_rows_of_units_have_numbers_and_frames),
        cmocka_unit_test(test_modules_show_values_and_classes),
        cmocka_unit_test(test_the_same_picture_is_the_same_bytes),
        cmocka_unit_test(test_width_changes_the_resolution_only),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_options_and_suffix_are_checked),
        cmocka_unit_test(test_a_path_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(test_memory_running_out_at_every_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* A column of AnnData's observations: every kind of values that h5py wrote, and what is refused. */
#include "io_hdf5_test.h"

enum { CELLS = 5 };

static rb_error read_from(rb_context *ctx, const char *name, const char *column, rb_names **names,
                          rb_names **texts) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", HDF5_DATA, name);
    bool categorical;
    rb_reading reading;
    rb_h5 *file;
    *names = *texts = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    if (!err) {
        err = rb_anndata_samples(file, names);
        if (!err) err = rb_anndata_column(file, column, (*names)->count, texts, &categorical);
        err = rb_h5_end(file, err);
    }
    rb_reading_end(ctx);
    assert_hdf5_closed();
    return err;
}

static void values_of_every_kind(void **state) {
    static const struct {
        const char *file, *column, *texts[CELLS];
    } cases[] = {
        {"obs.h5ad", "type", {"T", "B", "", "B", "NK"}},
        {"obs.h5ad", "cluster", {"2", "0", "10", "0", "-1"}},
        {"obs.h5ad", "doublet", {"False", "True", "False", "False", "True"}},
        {"obs.h5ad", "louvain", {"B", "CD4 T", "", "CD4 T", "B"}},
        {"obs.h5ad", "batch", {"7", "12", "12", "7", "7"}},
        {"obs.h5ad", "masked", {"3", "3", "", "4", "4"}},
        {"obs.h5ad", "leiden", {"a", "a", "b", "b", ""}},
        {"obs.h5ad", "names", {"cell0", "cell1", "cell2", "cell3", "cell4"}},
        {"obs_old.h5ad", "louvain", {"B", "T", "B", "T", ""}},
        {"obs_old.h5ad", "parity", {"even", "odd", "even", "odd", "even"}},
        {"obs_old.h5ad", "number", {"0", "1", "2", "3", "4"}},
        {"obs.h5ad", "score", {"0", "0.25", "0.5", "0.75", "1"}},
        {"obs_old.h5ad", "score", {"0.5", "0.5", "0.5", "0.5", "0.5"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_names *names, *texts;
        if (read_from(*state, cases[c].file, cases[c].column, &names, &texts))
            fail_msg("%s", rb_context_error(*state));
        assert_int_equal(names->count, CELLS);
        assert_int_equal(texts->count, CELLS);
        assert_string_equal(names->text[3], "cell3");
        for (int i = 0; i < CELLS; i++)
            assert_string_equal(texts->text[i], cases[c].texts[i]);
        rb_names_free(names);
        rb_names_free(texts);
    }
}

static void what_is_refused(void **state) {
    static const struct {
        const char *file, *column, *message;
        rb_error error;
    } cases[] = {
        {"obs.h5ad", "short", "3 values for 5 observations", RB_ERROR_FORMAT},
        {"obs.h5ad", "broken", "has code 2, but there are 2 categories", RB_ERROR_FORMAT},
        {"obs.h5ad", "celltype", "obs has no column 'celltype'", RB_ERROR_ARGUMENT},
        {"obs.h5ad", "celltype", "louvain", RB_ERROR_ARGUMENT},
        {"obs.h5ad", NULL, "name a column of obs", RB_ERROR_ARGUMENT},
        {"obs_old.h5ad", NULL, "its columns are: louvain, parity", RB_ERROR_ARGUMENT},
        {"csr.h5ad", "type", "no column 'type'", RB_ERROR_ARGUMENT},
        {"named.h5", "type", "is not an AnnData file", RB_ERROR_FORMAT},
        {"nothing.h5ad", "type", "nothing.h5ad", RB_ERROR_FILE},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_names *names, *texts;
        assert_int_equal(read_from(*state, cases[c].file, cases[c].column, &names, &texts),
                         cases[c].error);
        assert_non_null(strstr(rb_context_error(*state), cases[c].message));
        assert_non_null(strstr(rb_context_error(*state), cases[c].file));
        assert_null(texts);
        rb_names_free(names);
    }
}

static void no_memory(void **state) {
    static const char *const columns[] = {"type", "cluster", "doublet", "louvain", "masked"};
    rb_context *ctx = *state;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n = 0;
        for (; allow_allocations(ctx, n, err); n++) {
            rb_names *names, *texts;
            err = read_from(ctx, "obs.h5ad", columns[c], &names, &texts);
            rb_names_free(names);
            rb_names_free(texts);
        }
        assert_true(n > 5);
    }
}

/* What a column takes is counted against the size of its file. */
static void too_large(void **state) {
    rb_context *ctx = *state;
    rb_names *names, *texts;
    double usual = rb_context_max_expansion(ctx);
    assert_int_equal(rb_context_set_max_expansion(ctx, 1e-4), RB_OK);
    assert_error(ctx, read_from(ctx, "obs.h5ad", "type", &names, &texts), RB_ERROR_MEMORY,
                 "raise `max-expansion`");
    assert_null(ctx->reading);
    assert_int_equal(rb_context_set_max_expansion(ctx, usual), RB_OK);
}

static int set_up(void **state) {
    *state = new_context();
    return 0;
}

static int tear_down(void **state) {
    rb_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_kind),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(too_large),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

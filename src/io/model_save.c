/* Saving a model. The same fit gives the same bytes, but for the seconds in its history. */
#include "io.h"

#include <math.h>
#include <stdio.h>

static rb_error put_head(rb_h5 *file, const rb_model *model) {
    const struct {
        const char *name, *value;
    } texts[] = {
        {"format", RB_STORE_FORMAT},
        {"program_version", RB_VERSION},
        {"method", model->method->name},
        {"precision", rb_store_precisions[model->type]},
        {"status", rb_store_statuses[model->status]},
    };
    rb_error err = rb_h5_set_integer(file, "/", "format_version", RB_STORE_VERSION);
    for (size_t i = 0; !err && i < sizeof texts / sizeof *texts; i++) {
        err = rb_h5_set_text(file, "/", texts[i].name, texts[i].value);
    }
    return err;
}

/* In all that follows `group` stands before the paths: "" or "name/". */
static const char *within(const char *group, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s%s", group, name);
    return path;
}

static rb_error put_arrays(rb_context *ctx, rb_h5 *file, const char *group, const rb_model *model) {
    char path[256];
    rb_error err = rb_h5_put_group(file, within(group, "arrays", path, sizeof path));
    for (int64_t i = 0; !err && i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        int length = snprintf(path, sizeof path, "%sarrays/%s", group, array->name);
        if (length >= (int)sizeof path) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "the name of the array '%s' is too long",
                           array->name);
        }
        err = rb_h5_put_values(file, path, array->rows, array->columns, array->values);
    }
    return err;
}

static rb_error put_attributes(rb_h5 *file, const char *group, const rb_model *model) {
    char path[256];
    rb_error err = rb_h5_put_group(file, within(group, "attributes", path, sizeof path));
    for (int64_t i = 0; !err && i < model->n_attributes; i++) {
        err = rb_h5_set_text(file, path, model->attributes[i].name, model->attributes[i].value);
    }
    return err;
}

static rb_error put_preprocess_options(rb_h5 *file, const rb_preprocess_options *options) {
    rb_error err = RB_OK;
    for (const rb_option *row = rb_preprocess_group.rows; !err && row->name; row++) {
        char scratch[RB_ROW_TEXT];
        err = rb_h5_set_text(file, "preprocess", row->name, rb_row_text(row, options, scratch));
    }
    return err;
}

static rb_error put_preprocess(rb_h5 *file, const rb_preprocess *p) {
    rb_error err = rb_h5_put_group(file, "preprocess");
    if (!err) {
        err = put_preprocess_options(file, &p->options);
    }
    if (!err) {
        err = rb_h5_set_integer(file, "preprocess", "n_input", p->n_input);
    }
    if (!err) {
        err = rb_h5_set_integer(file, "preprocess", "n_features", p->n_features);
    }
    if (!err) {
        err = rb_h5_set_integer(file, "preprocess", "n_filled", p->n_filled);
    }
    if (!err) {
        err = rb_h5_set_integer(file, "preprocess", "checksum", p->checksum);
    }
    if (!err && p->selected) {
        err = rb_h5_put_integers(file, "preprocess/selected", p->n_features, p->selected);
    }
    if (!err) {
        err = rb_h5_put_values(file, "preprocess/centre", p->n_features, -1, p->centre);
    }
    if (!err) {
        err = rb_h5_put_values(file, "preprocess/scale", p->n_features, -1, p->scale);
    }
    if (!err && p->fill) {
        err = rb_h5_put_values(file, "preprocess/fill", p->n_features, -1, p->fill);
    }
    return err;
}

static rb_error put_features(rb_h5 *file, const rb_names *names) {
    rb_error err = rb_h5_put_group(file, "features");
    if (!err && names) {
        err =
            rb_h5_put_texts(file, "features/names", names->count, (const char *const *)names->text);
    }
    return err;
}

/* One column of the history; `offset` is that of the field. */
static rb_error put_history_column(rb_context *ctx, rb_h5 *file, const rb_model *model,
                                   const char *path, size_t offset) {
    double *column = rb_alloc(ctx, model->iterations, sizeof *column);
    if (!column) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t t = 0; t < model->iterations; t++) {
        column[t] = *(const double *)((const char *)&model->history[t] + offset);
    }
    rb_error err = rb_h5_put_values(file, path, model->iterations, -1, column);
    rb_free(column);
    return err;
}

/* Was a figure computed in any iteration? */
static bool has_values(const rb_model *model, size_t offset) {
    bool found = false;
    for (int64_t t = 0; !found && t < model->iterations; t++) {
        found = isfinite(*(const double *)((const char *)&model->history[t] + offset));
    }
    return found;
}

static rb_error put_history(rb_context *ctx, rb_h5 *file, const char *group,
                            const rb_model *model) {
    char path[256], inside[128];
    rb_error err = rb_h5_put_group(file, within(group, "history", path, sizeof path));
    rb_store_column column;
    for (int c = 0; !err && (column = rb_store_column_of(model->method, c)).name; c++) {
        if (c < RB_STORE_COLUMNS || has_values(model, column.offset)) {
            snprintf(inside, sizeof inside, "history/%s", column.name);
            err = put_history_column(ctx, file, model, within(group, inside, path, sizeof path),
                                     column.offset);
        }
    }
    return err;
}

rb_error rb_model_put(rb_context *ctx, rb_h5 *file, const char *group, const rb_model *model) {
    char inside[128];
    snprintf(inside, sizeof inside, "%s/", group);
    rb_error err = rb_h5_put_group(file, group);
    if (!err) {
        err = rb_h5_set_text(file, group, "status", rb_store_statuses[model->status]);
    }
    if (!err) {
        err = put_arrays(ctx, file, inside, model);
    }
    if (!err) {
        err = put_attributes(file, inside, model);
    }
    return err ? err : put_history(ctx, file, inside, model);
}

static rb_error put_model(rb_context *ctx, rb_h5 *file, const rb_model *model) {
    rb_error err = put_head(file, model);
    if (!err) {
        err = put_arrays(ctx, file, "", model);
    }
    if (!err) {
        err = put_attributes(file, "", model);
    }
    if (!err) {
        err = put_preprocess(file, model->preprocess);
    }
    if (!err) {
        err = put_features(file, model->preprocess->names);
    }
    if (!err) {
        err = put_history(ctx, file, "", model);
    }
    return err;
}

rb_error rb_model_save(rb_context *ctx, const rb_model *model, const char *path) {
    rb_output output;
    rb_h5 *file;
    rb_error err = rb_output_begin(ctx, path, &output);
    if (err) {
        return err;
    }
    err = rb_h5_create(ctx, output.path, path, RB_H5_OWN, &file);
    if (!err) {
        err = put_model(ctx, file, model);
        rb_error unfinished = rb_h5_close(file);
        err = err ? err : unfinished;
    }
    if (err) {
        rb_output_abandon(&output);
        return err;
    }
    return rb_output_commit(ctx, &output);
}

/* The options handle: groups of rows, the struct of each group, and which rows were set. */
#include "base.h"

#include <stdio.h>
#include <string.h>

/* Whether an option was set, and the copy of its text. */
struct rb_option_state {
    bool set, hidden;
    char *text;
    char *list; /* values for the layers of a stack, between commas; NULL: one for all */
};

/* Where an option is. */
typedef struct place {
    const rb_option_part *part;
    const rb_option *row;   /* NULL: there is no such option */
    rb_option_state *state; /* NULL: all of the part are set */
    bool lists;
} place;

static place find(const rb_options *options, const char *name) {
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_part *part = &options->parts[p];
        const rb_option *row = rb_rows_find(part->group.rows, name);
        rb_option_state *state = row && part->states ? &part->states[row - part->group.rows] : NULL;
        if (row && !(state && state->hidden)) return (place){part, row, state, options->lists};
    }
    return (place){0};
}

static bool is_set(const place *at) {
    return at->row && (!at->state || at->state->set);
}

static rb_error look_up(rb_context *ctx, const rb_options *options, const char *name, place *at) {
    if (!name) return rb_fail(ctx, RB_ERROR_ARGUMENT, "the name of an option is NULL");
    *at = find(options, name);
    return at->row ? RB_OK : rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no option '%s'", name);
}

/* ---- groups ---- */

rb_error rb_group_check(rb_context *ctx, const rb_option_group *group) {
    if (group->row_size != sizeof(rb_option)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options of '%s' were built for another version of the library: a row "
                       "has %zu bytes instead of %zu",
                       group->title, group->row_size, sizeof(rb_option));
    }
    char *fields = rb_alloc_zero(ctx, 1, group->bytes ? group->bytes : sizeof(rb_values));
    rb_error err = fields ? RB_OK : RB_ERROR_MEMORY;
    for (const rb_option *row = group->rows; !err && row->name; row++) {
        const char *wrong = NULL;
        if (!rb_row_bytes(row))
            wrong = "is of an unknown kind";
        else if (group->bytes && row->offset + rb_row_bytes(row) > group->bytes)
            wrong = "lies beyond the end of its struct";
        else if (row->kind == RB_OPTION_CHOICE && !row->choices)
            wrong = "has no choices";
        else if (!row->fallback && row->kind != RB_OPTION_TEXT)
            wrong = "has no default";
        if (wrong) {
            err = rb_fail(ctx, RB_ERROR_ARGUMENT, "the option '%s' of '%s' %s", row->name,
                          group->title, wrong);
        } else if (row->fallback) {
            err = rb_rows_set(ctx, group->rows, fields, row->name, row->fallback);
        }
    }
    rb_free(fields);
    return err;
}

/* Fields of a group without a struct lie one behind the other: its rows, with their places. */
static rb_option *lay_out(rb_context *ctx, const rb_option_group *group, int64_t count,
                          size_t *bytes) {
    const size_t field = sizeof(rb_values); /* the largest */
    rb_option *rows = rb_alloc_zero(ctx, count + 1, sizeof *rows);
    for (int64_t i = 0; rows && i < count; i++) {
        rows[i] = group->rows[i];
        rows[i].offset = (size_t)i * field;
    }
    *bytes = (size_t)count * field;
    return rows;
}

rb_error rb_options_add_part(rb_context *ctx, rb_options *options, const rb_option_group *group) {
    int64_t count = 0;
    if (options->n_parts == RB_OPTION_PARTS) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "there are %d groups of options, which is the limit",
                       RB_OPTION_PARTS);
    }
    for (; group->rows[count].name; count++) {
        const char *name = group->rows[count].name;
        if (find(options, name).row)
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "there is an option '%s' already", name);
    }
    rb_option_part part = {.key = group, .group = *group};
    if (!group->bytes) part.group.rows = part.rows = lay_out(ctx, group, count, &part.group.bytes);
    part.states = rb_alloc_zero(ctx, count, sizeof *part.states);
    part.fields = rb_alloc_zero(ctx, 1, part.group.bytes);
    if (!part.fields || !part.states || !part.group.rows) {
        rb_free(part.fields);
        rb_free(part.states);
        rb_free(part.rows);
        return RB_ERROR_MEMORY;
    }
    rb_rows_default(part.group.rows, part.fields);
    options->parts[options->n_parts++] = part;
    return RB_OK;
}

rb_error rb_options_add(rb_context *ctx, rb_options *options, const rb_option_group *group) {
    rb_error err = rb_group_check(ctx, group);
    return err ? err : rb_options_add_part(ctx, options, group);
}

void rb_options_hide(rb_options *options, const char *name) {
    place at = find(options, name);
    if (at.state) at.state->hidden = true;
}

void rb_options_free(rb_options *options) {
    for (int p = 0; options && p < options->n_parts; p++) {
        rb_option_part *part = &options->parts[p];
        for (int64_t i = 0; part->group.rows[i].name; i++) {
            rb_free(part->states[i].text);
            rb_free(part->states[i].list);
        }
        rb_free(part->states);
        rb_free(part->fields);
        rb_free(part->rows);
    }
    rb_free(options);
}

static const rb_option_part *part_of(const rb_options *options, const rb_option_group *group) {
    for (int p = 0; options && p < options->n_parts; p++)
        if (options->parts[p].key == group) return &options->parts[p];
    return NULL;
}

const void *rb_options_fields(const rb_options *options, const rb_option_group *group) {
    const rb_option_part *part = part_of(options, group);
    return part ? part->fields : NULL;
}

/* Does "activation=leaky" hold, or "dropout": not empty, nor 0, nor what is taken anyway of a
 * choice or a flag? */
static bool holds(const rb_options *options, const char *condition) {
    char name[64], value[RB_ROW_TEXT];
    size_t length = strcspn(condition, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, condition);
    rb_options_get(options, name, value, sizeof value);
    if (condition[length]) return strcmp(value, condition + length + 1) == 0;
    const rb_option *row = find(options, name).row;
    bool named = row && (row->kind == RB_OPTION_CHOICE || row->kind == RB_OPTION_FLAG);
    const char *none = named ? row->fallback : "0";
    return *value && strcmp(value, none) != 0;
}

/* Options of a part that are set to another value than their default, and do nothing. */
static rb_error check_needs(rb_context *ctx, const rb_options *options,
                            const rb_option_part *part) {
    for (const rb_option *row = part->group.rows; row->name; row++) {
        char scratch[RB_ROW_TEXT];
        const char *value = rb_row_text(row, part->fields, scratch);
        bool other = !row->fallback || strcmp(value, row->fallback) != 0;
        if (row->needs && other && rb_options_is_set(options, row->name) &&
            !holds(options, row->needs)) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`%s` does nothing without `%s`; leave it out, or give both", row->name,
                           row->needs);
        }
    }
    return RB_OK;
}

/* Does a text have the word "-name"? */
static bool has_idle(const char *words, const char *name) {
    size_t length = strlen(name);
    for (const char *word = words; *word; word += strspn(word, " ")) {
        size_t span = strcspn(word, " ");
        if (*word == '-' && span == length + 1 && strncmp(word + 1, name, length) == 0) return true;
        word += span;
    }
    return false;
}

/* The condition that holds and makes an option do nothing, by a rule; NULL: none. */
static const char *idle_by(const rb_options *options, const char *name) {
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_rule *rule = options->parts[p].group.rules;
        for (; rule && rule->when; rule++)
            if (has_idle(rule->then, name) && holds(options, rule->when)) return rule->when;
    }
    return NULL;
}

static rb_error check_idle(rb_context *ctx, const rb_options *options, const rb_option_part *part) {
    for (const rb_option *row = part->group.rows; row->name; row++) {
        const char *when = idle_by(options, row->name);
        if (when && rb_options_is_set(options, row->name))
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`%s` does nothing with `%s`; leave one of them out", row->name, when);
    }
    return RB_OK;
}

void rb_options_warn_idle(rb_context *ctx, const rb_options *options) {
    for (int p = 0; p < options->n_parts; p++) {
        for (const rb_option *row = options->parts[p].group.rows; row->name; row++) {
            const char *when = idle_by(options, row->name);
            if (when && rb_options_is_set(options, row->name))
                rb_log(ctx, RB_LOG_WARNING, "`%s` does nothing with `%s`, which is used", row->name,
                       when);
        }
    }
}

/* Back to the default. */
static void reset(const place *at) {
    rb_row_default(at->row, at->part->fields);
    rb_free(at->state->text);
    rb_free(at->state->list);
    *at->state = (rb_option_state){.hidden = at->state->hidden};
}

void rb_options_unset_idle(rb_options *options) {
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_part *part = &options->parts[p];
        for (const rb_option *row = part->group.rows; row->name; row++) {
            const place at = {part, row, &part->states[row - part->group.rows], false};
            bool lacks = row->needs && !holds(options, row->needs);
            if (at.state->set && (lacks || idle_by(options, row->name))) reset(&at);
        }
    }
}

rb_error rb_options_take(rb_context *ctx, const rb_options *options, const rb_option_group *group,
                         void *fields) {
    const rb_option_part *part = part_of(options, group);
    if (part) {
        memcpy(fields, part->fields, group->bytes);
        rb_error err = check_needs(ctx, options, part);
        return err ? err : rb_rows_check(ctx, group->rows, fields);
    }
    memset(fields, 0, group->bytes);
    rb_rows_default(group->rows, fields);
    return RB_OK;
}

/* ---- values ---- */

static bool points_to_text(const rb_option *row) {
    return row->kind == RB_OPTION_TEXT || row->kind == RB_OPTION_VALUES;
}

/* The values of a list become those of the field in turn, so that all are looked at; the first one
 * stays. */
static rb_error put_list(rb_context *ctx, const place *at, const char *text) {
    const rb_option_part *part = at->part;
    char *list = rb_copy_text(ctx, text), *items = rb_copy_text(ctx, text);
    void *fields = rb_alloc(ctx, 1, part->group.bytes);
    rb_error err = list && items && fields ? RB_OK : RB_ERROR_MEMORY;
    char *end = err ? NULL : items + strlen(items);
    for (char *item = end; !err && item >= items; item--) { /* from the last one on */
        bool begins = item == items || item[-1] == ',';
        if (!begins) continue;
        item[strcspn(item, ",")] = '\0';
        memcpy(fields, part->fields, part->group.bytes);
        err = rb_rows_set(ctx, part->group.rows, fields, at->row->name, item);
        if (!err && item == items) memcpy(part->fields, fields, part->group.bytes);
    }
    rb_free(items);
    rb_free(fields);
    if (err) {
        rb_free(list);
        return err;
    }
    rb_free(at->state->list);
    at->state->list = list;
    return RB_OK;
}

/* Is the text numbers between commas? Else such an option has the name of a file. */
static bool are_numbers(const char *text) {
    for (;; text++) {
        const char *end = text + strcspn(text, ",");
        double value;
        if (rb_number_scan(text, end, &value) != end) return false;
        if (!*end) return true;
        text = end;
    }
}

/* A text stays in the handle as long as the field points to it. */
static rb_error put(rb_context *ctx, const place *at, const char *text) {
    bool points = points_to_text(at->row);
    bool word = at->row->kind == RB_OPTION_CHOICE && strstr(at->row->choices, text);
    bool list = at->row->kind == RB_OPTION_VALUES ? are_numbers(text) : !points && !word;
    if (at->lists && list && strchr(text, ',')) return put_list(ctx, at, text);
    char *copy = points ? rb_copy_text(ctx, text) : NULL;
    if (points && !copy) return RB_ERROR_MEMORY;
    rb_error err =
        rb_rows_set(ctx, at->part->group.rows, at->part->fields, at->row->name, copy ? copy : text);
    char *gone = err ? copy : at->state->text;
    if (!err) {
        at->state->text = copy;
        rb_free(at->state->list);
        at->state->list = NULL;
    }
    rb_free(gone);
    return err;
}

rb_error rb_options_set(rb_context *ctx, rb_options *options, const char *name, const char *text) {
    place at;
    rb_error err = look_up(ctx, options, name, &at);
    if (!err && !text) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the value of '%s' is NULL; rb_options_unset restores the default", name);
    }
    err = err ? err : put(ctx, &at, text);
    if (!err) at.state->set = true;
    return err;
}

rb_error rb_options_unset(rb_context *ctx, rb_options *options, const char *name) {
    place at;
    rb_error err = look_up(ctx, options, name, &at);
    if (!err) reset(&at);
    return err;
}

static rb_values *values_of(const place *at) {
    return (rb_values *)((char *)at->part->fields + at->row->offset);
}

/* Sets an option to what the same one is in another handle. */
static rb_error set_like(rb_context *ctx, const place *from, rb_options *to) {
    char scratch[RB_ROW_TEXT];
    const rb_option *row = from->row;
    rb_error err =
        rb_options_set(ctx, to, row->name, rb_row_text(row, from->part->fields, scratch));
    const place there = find(to, row->name);
    if (!err && row->kind == RB_OPTION_VALUES) values_of(&there)->matrix = values_of(from)->matrix;
    return err;
}

rb_error rb_options_set_as(rb_context *ctx, const rb_options *from, rb_options *to) {
    rb_error err = RB_OK;
    for (int p = 0; p < from->n_parts; p++) {
        const rb_option_part *part = &from->parts[p];
        for (const rb_option *row = part->group.rows; !err && row->name; row++) {
            const place here = find(from, row->name);
            if (here.row == row && find(to, row->name).row == row && is_set(&here))
                err = set_like(ctx, &here, to);
        }
    }
    return err;
}

/* ---- a value for each layer ---- */

void rb_options_take_lists(rb_options *options) {
    options->lists = true;
}

static int64_t count_items(const char *list) {
    int64_t count = 1;
    for (; *list; list++)
        count += *list == ',';
    return count;
}

rb_error rb_options_items(rb_context *ctx, const rb_options *options, int64_t *count) {
    const char *longest = NULL;
    *count = 1;
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_part *part = &options->parts[p];
        for (int64_t i = 0; part->group.rows[i].name; i++) {
            const char *list = part->states ? part->states[i].list : NULL,
                       *name = part->group.rows[i].name;
            int64_t items = list ? count_items(list) : 1;
            if (list && longest && items != *count) {
                return rb_fail(ctx, RB_ERROR_ARGUMENT,
                               "%s has %lld values and %s has %lld; give one for each layer, or "
                               "one for all",
                               longest, (long long)*count, name, (long long)items);
            }
            longest = list ? name : longest;
            *count = list ? items : *count;
        }
    }
    return RB_OK;
}

rb_error rb_options_set_item(rb_context *ctx, const rb_options *from, const char *name,
                             int64_t index, rb_options *to) {
    const place here = find(from, name);
    if (!here.row || find(to, name).row != here.row || !is_set(&here)) return RB_OK;
    const char *list = here.state->list;
    char scratch[RB_ROW_TEXT];
    if (!list) return set_like(ctx, &here, to);
    for (; index > 0; index--)
        list += strcspn(list, ",") + 1;
    snprintf(scratch, sizeof scratch, "%.*s", (int)strcspn(list, ","), list);
    return rb_options_set(ctx, to, name, scratch);
}

/* Numbers go the way of their text, which gives the same bits. */
static rb_error set_number(rb_context *ctx, rb_options *options, const char *name,
                           const char *text) {
    place at;
    rb_error err = look_up(ctx, options, name, &at);
    if (!err && (at.row->kind == RB_OPTION_CHOICE || at.row->kind == RB_OPTION_FLAG ||
                 at.row->kind == RB_OPTION_TEXT)) {
        char range[256];
        rb_options_range(at.row, range, sizeof range);
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s is not a number, but %s", name, range);
    }
    return err ? err : rb_options_set(ctx, options, name, text);
}

rb_error rb_options_set_integer(rb_context *ctx, rb_options *options, const char *name,
                                int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return set_number(ctx, options, name, text);
}

rb_error rb_options_set_number(rb_context *ctx, rb_options *options, const char *name,
                               double value) {
    char text[32];
    rb_print(text, sizeof text, "%.17g", value);
    return set_number(ctx, options, name, text);
}

rb_error rb_options_set_matrix(rb_context *ctx, rb_options *options, const char *name,
                               const rb_matrix *matrix) {
    place at;
    rb_error err = look_up(ctx, options, name, &at);
    if (err || at.row->kind != RB_OPTION_VALUES)
        return err ? err : rb_fail(ctx, RB_ERROR_ARGUMENT, "%s cannot be a matrix", name);
    values_of(&at)->matrix = matrix;
    at.state->set = true;
    return RB_OK;
}

/* Takes "name=value" off the text; false at its end. */
static bool next_pair(char **text, char **name, char **value) {
    *name = *text + strspn(*text, " ");
    if (**name == '\0') return false;
    char *end = *name + strcspn(*name, " ");
    *text = end + (*end == ' ');
    *end = '\0';
    char *equals = strchr(*name, '=');
    *value = equals ? equals + 1 : end;
    if (equals) *equals = '\0';
    return true;
}

rb_error rb_options_set_all(rb_context *ctx, rb_options *options, const char *format, ...) {
    char text[2048], *rest = text, *name, *value;
    va_list list;
    va_start(list, format);
    int length = rb_print_list(text, sizeof text, format, list);
    va_end(list);
    if (length < 0 || length >= (int)sizeof text) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "options of more than %zu characters must be set one by one", sizeof text);
    }
    rb_error err = RB_OK;
    while (!err && next_pair(&rest, &name, &value))
        err = rb_options_set(ctx, options, name, value);
    return err;
}

int64_t rb_options_get(const rb_options *options, const char *name, char *buffer, size_t size) {
    place at = find(options, name);
    char scratch[RB_ROW_TEXT];
    const char *list = at.row && at.state ? at.state->list : NULL;
    const char *text = list ? list : at.row ? rb_row_text(at.row, at.part->fields, scratch) : "";
    if (size > 0) snprintf(buffer, size, "%s", text);
    return at.row ? (int64_t)strlen(text) : -1;
}

bool rb_options_is_set(const rb_options *options, const char *name) {
    place at = find(options, name);
    return is_set(&at);
}

const char *rb_options_text(const rb_options *options, const char *name) {
    place at = find(options, name);
    const void *field = at.row ? (const char *)at.part->fields + at.row->offset : NULL;
    if (at.row && at.row->kind == RB_OPTION_VALUES) return ((const rb_values *)field)->file;
    return at.row && at.row->kind == RB_OPTION_TEXT ? *(const char *const *)field : NULL;
}

/* The default of an option: what a rule gives it, as the options are, where the rule gives it
 * nothing else. */
static const char *fallback_of(const rb_options *options, const rb_option *row) {
    const char *fallback = row->fallback;
    size_t length = strlen(row->name);
    for (int p = 0; p < options->n_parts; p++) {
        const rb_option_rule *rule = options->parts[p].group.rules;
        for (; rule && rule->when; rule++) {
            bool gives = strncmp(rule->then, row->name, length) == 0 && rule->then[length] == '=' &&
                         !strchr(rule->then, ' ');
            if (gives && holds(options, rule->when)) fallback = rule->then + length + 1;
        }
    }
    return fallback;
}

rb_error rb_options_row(const rb_options *options, int64_t index, rb_option *row, size_t size) {
    rb_option found = {0};
    for (int p = 0; p < options->n_parts && !found.name; p++) {
        const rb_option_part *part = &options->parts[p];
        for (int64_t i = 0; part->group.rows[i].name && !found.name; i++) {
            bool hidden = part->states && part->states[i].hidden;
            if (!hidden && index-- == 0) {
                found = part->group.rows[i];
                found.group = part->group.title;
                found.fallback = fallback_of(options, &found);
            }
        }
    }
    memset(row, 0, size);
    memcpy(row, &found, size < sizeof found ? size : sizeof found);
    return found.name ? RB_OK : RB_ERROR_ARGUMENT;
}

/* ---- rules ---- */

/* Gives options that are not set the values of a rule, but to those in `but`. */
static rb_error apply(rb_context *ctx, rb_options *options, const rb_option_rule *rule,
                      const char *const *but) {
    char *copy = rb_copy_text(ctx, rule->then), *rest = copy, *name, *value;
    char kept[256] = "";
    rb_error err = copy ? RB_OK : RB_ERROR_MEMORY;
    while (!err && next_pair(&rest, &name, &value)) {
        place at = find(options, name);
        if (at.row && !is_set(&at) && rb_among(but, name)) {
            size_t used = strlen(kept);
            snprintf(kept + used, sizeof kept - used, "%s`%s`", used ? ", " : "", name);
        } else if (at.row && !is_set(&at)) {
            err = put(ctx, &at, value);
        }
    }
    rb_free(copy);
    if (!err && *kept) {
        rb_log(ctx, RB_LOG_INFO, "`%s` keeps the values of the model to start from: %s", rule->when,
               kept);
    }
    return err;
}

/* A handle of its own with the same values; texts stay where they are. */
static rb_error copy_options(rb_context *ctx, const rb_options *from, rb_options **copy) {
    *copy = rb_alloc_zero(ctx, 1, sizeof **copy);
    rb_error err = *copy ? RB_OK : RB_ERROR_MEMORY;
    for (int p = 0; !err && p < from->n_parts; p++) {
        const rb_option_part *part = &from->parts[p];
        err = rb_options_add_part(ctx, *copy, &part->group);
        if (err) break;
        rb_option_part *to = &(*copy)->parts[p];
        to->key = part->key;
        memcpy(to->fields, part->fields, part->group.bytes);
        for (int64_t i = 0; part->group.rows[i].name; i++) {
            to->states[i].set = !part->states || part->states[i].set;
            to->states[i].hidden = part->states && part->states[i].hidden;
        }
    }
    if (!err) (*copy)->method = from->method;
    return err;
}

/* What is no stack has one layer. */
static rb_error refuse_lists(rb_context *ctx, const rb_options *options) {
    int64_t count;
    rb_error err = rb_options_items(ctx, options, &count);
    return err || count == 1
               ? err
               : rb_fail(ctx, RB_ERROR_ARGUMENT, "only a stack has options for %lld layers",
                         (long long)count);
}

rb_error rb_options_ready(rb_context *ctx, const rb_options *options, const char *const *but,
                          rb_options **ready) {
    rb_error err = refuse_lists(ctx, options);
    err = err ? err : copy_options(ctx, options, ready);
    for (int p = 0; !err && p < options->n_parts; p++) {
        const rb_option_rule *rule = options->parts[p].group.rules;
        for (; !err && rule && rule->when; rule++)
            err = holds(*ready, rule->when) ? apply(ctx, *ready, rule, but) : RB_OK;
    }
    for (int p = 0; !err && p < options->n_parts; p++) {
        const rb_option_part *part = &(*ready)->parts[p];
        err = rb_rows_check(ctx, part->group.rows, part->fields);
        err = err ? err : check_needs(ctx, *ready, part);
        err = err ? err : check_idle(ctx, options, part);
    }
    if (err) {
        rb_options_free(*ready);
        *ready = NULL;
    }
    return err;
}

/* Reading a command line: --name value, --name=value, --flag, --no-flag, -k 50, -k50, and "--",
 * after which everything is an argument. Options and arguments may be mixed. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* What is left to read, and where it goes. */
struct reader {
    invocation *call;
    int argc;
    char **argv;
    int next;
};

bool option_was_given(const invocation *call, const char *name) {
    return rb_options_is_set(call->options, name);
}

const char *option_text(const invocation *call, const char *name) {
    return rb_options_text(call->options, name);
}

int check_needs(const invocation *call, const rb_option *rows) {
    for (const rb_option *row = rows; row && row->name; row++)
        if (row->needs && option_was_given(call, row->name) && !option_text(call, row->needs))
            return report_usage("--%s does nothing without --%s; give both", row->name, row->needs);
    return STATUS_DONE;
}

int refuse_options(const invocation *call, const option_group *groups, const char *why) {
    for (; *groups; groups++) {
        for (const rb_option *row = (*groups)()->rows; row->name; row++) {
            if (!option_was_given(call, row->name)) continue;
            return report_usage("--%s %s", row->name, why);
        }
    }
    return STATUS_DONE;
}

bool option_is(const invocation *call, const char *name, const char *value) {
    char text[64];
    return rb_options_get(call->options, name, text, sizeof text) >= 0 && strcmp(text, value) == 0;
}

bool option_flag(const invocation *call, const char *name) {
    return option_is(call, name, "true");
}

int64_t option_integer(const invocation *call, const char *name) {
    char text[64];
    rb_options_get(call->options, name, text, sizeof text);
    return strtoll(text, NULL, 10);
}

/* Finds an option of the command by name, or by letter when the name is NULL. */
static const rb_option *find_option(const command *c, const char *name, size_t length,
                                    char letter) {
    for (const rb_option *row = c->rows; row->name; row++) {
        bool same = name ? strlen(row->name) == length && !memcmp(row->name, name, length)
                         : row->letter == letter;
        if (same) return row;
    }
    return NULL;
}

static int unknown_option(const invocation *call, const char *typed) {
    nearest best = {.typed = typed};
    for (const rb_option *row = call->command->rows; row->name; row++)
        nearest_offer(&best, row->name);
    const char *words = call->command->words;
    return report_usage(best.word ? "'%s' has no option --%s; did you mean --%s?"
                                  : "'%s' has no option --%s; 'rarebit help %s' lists them",
                        words, typed, best.word ? best.word : words);
}

static int set_option(struct reader *r, const rb_option *row, const char *value) {
    return report_failure(r->call->ctx,
                          rb_options_set(r->call->ctx, r->call->options, row->name, value));
}

/* Takes the next word as the value of an option; a word that looks like an option is none. */
static int set_from_next(struct reader *r, const rb_option *row) {
    if (r->next == r->argc || strncmp(r->argv[r->next], "--", 2) == 0) {
        char range[256];
        rb_options_range(row, range, sizeof range);
        return report_usage("--%s needs a value: %s", row->name,
                            row->kind == RB_OPTION_TEXT ? row->argument : range);
    }
    return set_option(r, row, r->argv[r->next++]);
}

static int read_long(struct reader *r, const char *text) {
    const command *c = r->call->command;
    size_t length = strcspn(text, "=");
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    const rb_option *row = find_option(c, text, length, 0);
    if (!row && !value && strncmp(text, "no-", 3) == 0) {
        row = find_option(c, text + 3, length - 3, 0);
        bool flag = row && row->kind == RB_OPTION_FLAG;
        bool choice = row && row->choices && strcmp(row->choices, "auto|yes|no") == 0;
        value = flag ? "false" : "no";
        row = flag || choice ? row : NULL;
    }
    if (!row) {
        char typed[128];
        snprintf(typed, sizeof typed, "%.*s", (int)length, text);
        return unknown_option(r->call, typed);
    }
    if (!value && row->kind == RB_OPTION_FLAG) value = "true";
    return value ? set_option(r, row, value) : set_from_next(r, row);
}

/* Letters of flags may stand together; the value of another letter follows it or is the next
 * word. */
static int read_letters(struct reader *r, const char *text) {
    int status = STATUS_DONE;
    for (; *text && status == STATUS_DONE; text++) {
        const rb_option *row = find_option(r->call->command, NULL, 0, *text);
        if (!row) {
            return report_usage("'%s' has no option -%c; 'rarebit help %s' lists them",
                                r->call->command->words, *text, r->call->command->words);
        }
        if (row->kind != RB_OPTION_FLAG)
            return text[1] ? set_option(r, row, text + 1) : set_from_next(r, row);
        status = set_option(r, row, "true");
    }
    return status;
}

/* The row for the next argument, or the end of the list: "IMAGE..." stands for all that come. */
static const argument *next_argument(const invocation *call) {
    const argument *row = call->command->arguments;
    for (int i = 0; i < call->n_arguments && row->name && !has_suffix(row->name, "..."); i++)
        row++;
    return row;
}

/* Several files of data are one, and stand with commas between. False: the last argument is none.
 */
static bool join_data(invocation *call, const char *text) {
    int last = call->n_arguments - 1;
    char *joined = NULL;
    if (last < 0 || strcmp(call->command->arguments[last].name, "DATA") != 0 ||
        asprintf(&joined, "%s,%s", call->arguments[last], text) < 0)
        return false;
    free(call->joined);
    call->arguments[last] = call->joined = joined;
    return true;
}

static int read_argument(struct reader *r, const char *text) {
    invocation *call = r->call;
    if (!next_argument(call)->name) {
        if (join_data(call, text)) return STATUS_DONE;
        return report_usage("'%s' takes no argument '%s'; 'rarebit help %s' shows its usage",
                            call->command->words, text, call->command->words);
    }
    call->arguments[call->n_arguments++] = text;
    return STATUS_DONE;
}

static int read_words(struct reader *r) {
    bool only_arguments = false;
    int status = STATUS_DONE;
    while (r->next < r->argc && status == STATUS_DONE) {
        const char *word = r->argv[r->next++];
        if (only_arguments || word[0] != '-' || word[1] == '\0') {
            status = read_argument(r, word);
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            r->call->wants_help = true;
            return STATUS_DONE;
        } else if (word[1] == '-') {
            status = read_long(r, word + 2);
        } else {
            status = read_letters(r, word + 1);
        }
    }
    return status;
}

/* Is everything there that the command needs? */
static int check_complete(const invocation *call) {
    const command *c = call->command;
    const argument *missing = next_argument(call);
    bool untouched = missing - c->arguments == call->n_arguments; /* not one of many */
    char usage[512];
    usage_line(c, usage, sizeof usage);
    if (missing->name && untouched && !missing->optional)
        return report_usage("%s is missing; usage: rarebit %s", missing->name, usage);
    for (const rb_option *row = c->rows; row->name; row++) {
        if (!among_words(c->required, row->name) || option_was_given(call, row->name)) continue;
        return report_usage("--%s %s is missing; usage: rarebit %s", row->name, row->argument,
                            usage);
    }
    if (c->output && !option_was_given(call, "output"))
        return report_usage("-o %s is missing; usage: rarebit %s", c->output, usage);
    return check_needs(call, c->own.rows);
}

int invocation_read(invocation *call, int argc, char **argv) {
    call->arguments = calloc((size_t)argc + MAX_ARGUMENTS, sizeof *call->arguments);
    call->tables = calloc(1, sizeof *call->tables);
    rb_error err = command_options(call->ctx, call->command, &call->options);
    if (!call->arguments || !call->tables || err) return report_error("out of memory");
    struct reader r = {.call = call, .argc = argc, .argv = argv};
    int status = read_words(&r);
    if (status == STATUS_DONE && !call->wants_help) status = check_complete(call);
    return status;
}

void invocation_clear(invocation *call) {
    rb_options_free(call->options);
    free(call->arguments);
    free(call->joined);
    if (call->tables) sample_tables_free(*call->tables);
    free(call->tables);
}

/* rarebit help: made from the tables of the commands. */
#include "tool.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 28 };

/* "above 0 and at most 1", "rms, sd or none"; "" when every value will do. */
static void describe_range(const rb_option *row, char *buffer, size_t size) {
    static const char *const nouns[] = {"a whole number", "a number", "of", NULL};
    char text[256];
    rb_option shown = *row;
    if (shown.maximum >= 1e9) shown.maximum = INFINITY;    /* a bound that nobody meets */
    if (shown.minimum <= -1e100) shown.minimum = -DBL_MAX; /* likewise */
    rb_options_range(&shown, text, sizeof text);
    if (isfinite(shown.maximum) && row->minimum != DBL_MIN && row->minimum > -DBL_MAX &&
        (row->kind == RB_OPTION_INTEGER || row->kind == RB_OPTION_NUMBER))
        snprintf(text, sizeof text, "%.15g to %.15g", row->minimum, row->maximum);
    const char *rest = text;
    for (const char *const *noun = nouns; *noun && row->kind != RB_OPTION_CHOICE; noun++) {
        size_t length = strlen(*noun);
        rest += strncmp(rest, *noun, length) == 0 ? length : 0;
        rest += *rest == ' ';
    }
    rest += strncmp(rest, ", ", 2) == 0 ? 2 : 0;
    bool silent = row->kind == RB_OPTION_TEXT || row->kind == RB_OPTION_FLAG ||
                  row->kind == RB_OPTION_SECONDS;
    snprintf(buffer, size, "%s", silent ? "" : rest);
}

void describe_values(const command *c, const rb_option *row, char *buffer, size_t size) {
    char range[256];
    describe_range(row, range, sizeof range);
    bool flag = row->kind == RB_OPTION_FLAG; /* its name says what it changes */
    bool drawn = c->drawn && strcmp(row->name, c->drawn) == 0;
    const char *fallback = drawn ? "drawn and shown" : flag ? NULL : row->fallback;
    snprintf(buffer, size, "%s%s%s%s", range, *range && fallback ? "; " : "",
             fallback ? "default " : "", fallback ? fallback : "");
}

void example_line(const command *c, const char *line, char *buffer, size_t size) {
    const char *mark = c->method ? strstr(line, "METHOD") : NULL;
    int before = mark ? (int)(mark - line) : (int)strlen(line);
    snprintf(buffer, size, "%.*s%s%s", before, line, mark ? c->method->name : "",
             mark ? mark + strlen("METHOD") : "");
}

void usage_line(const command *c, char *buffer, size_t size) {
    size_t used = (size_t)snprintf(buffer, size, "%s", c->words);
    for (const argument *a = c->arguments; a->name && used < size; a++) {
        used +=
            (size_t)snprintf(buffer + used, size - used, a->optional ? " [%s]" : " %s", a->name);
    }
    if (used < size) {
        snprintf(buffer + used, size - used, "%s%s%s", c->output ? " -o " : "",
                 c->output ? c->output : "", c->rows[0].name ? " [OPTIONS]" : "");
    }
}

const char *option_dashes(const rb_option *row) {
    return row->kind == RB_OPTION_FLAG && strcmp(row->fallback, "true") == 0 ? "--no-" : "--";
}

/* "  -k, --units N" */
static int print_option_head(FILE *file, const rb_option *row) {
    char letter[8] = "    ";
    if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    return fprintf(file, "  %s%s%s%s%s", letter, option_dashes(row), row->name,
                   row->argument ? " " : "", row->argument ? row->argument : "");
}

static void print_option(FILE *file, const command *c, const rb_option *row) {
    char values[320], text[1024];
    describe_values(c, row, values, sizeof values);
    bool any = *values != '\0';
    snprintf(text, sizeof text, "%s%s%s%s", row->help, any ? " [" : "", values, any ? "]" : "");
    int column = print_option_head(file, row);
    if (column > OPTION_COLUMN - 2) {
        putc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", OPTION_COLUMN - column, "");
    print_wrapped(file, text, OPTION_COLUMN, OPTION_COLUMN, WIDTH);
}

/* ---- the order of the options ---- */

/* The rows of the given levels (bits), under one heading, or each group's under its own. */
static void walk_levels(const command *c, unsigned levels, const char *heading,
                        const option_walk *walk) {
    const char *before = NULL;
    for (const rb_option *row = c->rows; row->name; row++) {
        const char *own = heading ? heading : row->group;
        if (levels >> row->level & 1) {
            if (!before || strcmp(own, before) != 0) walk->heading(walk->file, own);
            before = own;
            walk->option(walk->file, c, row);
        }
    }
}

void walk_options(const command *c, const option_walk *walk) {
    const unsigned tuning = 1u << RB_OPTION_TUNING, common = 1u << RB_OPTION_COMMON;
    bool parts = false;
    for (const rb_option *row = c->rows; row->name; row++)
        parts = parts || row->level == RB_OPTION_RESEARCH;
    if (parts) walk_levels(c, common, "Common options", walk);
    walk_levels(c, parts ? tuning : tuning | common, NULL, walk);
    walk_levels(c, 1u << RB_OPTION_RESEARCH, "For research", walk);
}

/* ---- help ---- */

static void print_heading(FILE *file, const char *title) {
    fprintf(file, "\n%c%s\n", toupper((unsigned char)*title), title + 1);
}

static void print_examples(FILE *file, const command *c) {
    fputs(c->examples[0].purpose ? "\nExamples\n" : "", file);
    for (const example *e = c->examples; e->purpose; e++) {
        char line[512];
        example_line(c, e->line, line, sizeof line);
        int column = fprintf(file, "  ");
        print_wrapped(file, e->purpose, column, column, WIDTH);
        fprintf(file, "    rarebit %s\n", line);
    }
}

void help_command(FILE *file, const command *c) {
    char usage[512];
    usage_line(c, usage, sizeof usage);
    print_wrapped(file, c->summary, fprintf(file, "rarebit %s: ", c->words), 0, WIDTH);
    print_wrapped(file, usage, fprintf(file, "\nUsage: rarebit ") - 1, 0, WIDTH);
    if (c->description) {
        putc('\n', file);
        print_wrapped(file, c->description, 0, 0, WIDTH);
    }
    if (c->arguments[0].name) putc('\n', file);
    for (const argument *a = c->arguments; a->name; a++) {
        int column = fprintf(file, "  %-10s  ", a->name);
        print_wrapped(file, a->help, column, column, WIDTH);
    }
    print_examples(file, c);
    walk_options(c, &(option_walk){file, print_heading, print_option});
}

static void list_command(FILE *file, const command *c) {
    int column = fprintf(file, "  %-21s ", c->words);
    print_wrapped(file, c->summary, column, column, WIDTH);
}

void help_overview(FILE *file, const command_list *list) {
    fputs("rarebit finds the few hidden causes behind data: sparse codes, gene modules, features.\n"
          "\nUsage: rarebit COMMAND [ARGUMENTS] [OPTIONS]\n",
          file);
    const char *heading = "";
    for (int i = 0; i < list->listed; i++) {
        const command *c = &list->entries[i];
        if (strcmp(c->heading, heading) != 0) {
            heading = c->heading;
            fprintf(file, "\n%s\n", heading);
        }
        list_command(file, c);
    }
    fputs("\nFirst steps\n"
          "  rarebit fit rfn table.tsv -k 10 -o model.h5\n"
          "  rarebit modules model.h5 table.tsv -o modules.tsv\n"
          "  rarebit plot modules model.h5 table.tsv -o modules.png\n"
          "\n'rarebit help COMMAND' or 'rarebit COMMAND --help' has the rest.\n",
          file);
}

void help_family(FILE *file, const command_list *list, const char *word) {
    size_t length = strlen(word);
    fprintf(file, "rarebit %s: say which\n\n", word);
    for (int i = 0; i < list->count; i++) {
        const char *words = list->entries[i].words;
        if (strncmp(words, word, length) == 0 && words[length] == ' ')
            list_command(file, &list->entries[i]);
    }
    fprintf(file, "\n'rarebit help %s NAME' has the rest.\n", word);
}

static int run(invocation *call) {
    if (call->n_arguments == 0) {
        help_overview(stdout, call->commands);
        return STATUS_DONE;
    }
    int used = 0;
    const command *c =
        commands_find(call->commands, call->n_arguments, (char **)call->arguments, &used);
    if (c && used == call->n_arguments) {
        help_command(stdout, c);
        return STATUS_DONE;
    }
    if (call->n_arguments == 1 && commands_family(call->commands, call->arguments[0])) {
        help_family(stdout, call->commands, call->arguments[0]);
        return STATUS_DONE;
    }
    report_error("there is no command '%s%s%s'; 'rarebit help' lists them", call->arguments[0],
                 call->arguments[1] ? " " : "", call->arguments[1] ? call->arguments[1] : "");
    return STATUS_USAGE;
}

const command help_command_row = {
    .words = "help",
    .heading = "About rarebit",
    .summary = "explain a command",
    .arguments = {{"COMMAND", "a command, of one or two words; without it, a list of all", true},
                  {"NAME", "its second word", true}},
    .examples = {{"All commands", "help"}, {"One of them", "help fit rfn"}},
    .run = run,
};

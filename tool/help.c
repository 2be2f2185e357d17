/* rarebit help: made from the tables of the commands. */
#include "tool.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 28, SCREEN = 60 };

/* "above 0 and at most 1", "rms, sd or none"; "" when every value will do. */
static void describe_range(const rb_option *row, char *buffer, size_t size) {
    static const char *const nouns[] = {"a whole number", "a number", "of", NULL};
    char text[256];
    rb_option shown = *row;
    if (shown.maximum >= 1e6) shown.maximum = INFINITY;    /* a bound that nobody meets */
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
    snprintf(buffer, size, "%s", silent || strcmp(rest, "at least 0") == 0 ? "" : rest);
}

void describe_values(const command *c, const rb_option *row, char *buffer, size_t size) {
    char range[256];
    describe_range(row, range, sizeof range);
    bool flag = row->kind == RB_OPTION_FLAG; /* its name says what it changes */
    bool drawn = c->drawn && strcmp(row->name, c->drawn) == 0;
    bool none = flag || among_words(c->required, row->name);
    const char *fallback = drawn ? "drawn and shown" : none ? NULL : row->fallback;
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
    for (const rb_option *row = c->rows; row->name && used < size; row++)
        if (among_words(c->required, row->name))
            used +=
                (size_t)snprintf(buffer + used, size - used, " --%s %s", row->name, row->argument);
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
        if ((levels >> row->level & 1) && (!walk->takes || walk->takes(walk->of, row))) {
            if (!before || strcmp(own, before) != 0) walk->heading(walk->file, own);
            before = own;
            walk->option(walk->file, c, row);
        }
    }
}

static void walk_parts(const command *c, bool parts, const option_walk *walk) {
    const unsigned tuning = 1u << RB_OPTION_TUNING, common = 1u << RB_OPTION_COMMON;
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

static bool is_common(const void *of, const rb_option *row) {
    (void)of;
    return row->level == RB_OPTION_COMMON;
}

static void print_method(FILE *file, const rb_method *method, int column) {
    char text[512];
    bool any = method->purpose;
    snprintf(text, sizeof text, "%s%s%s", method->title, any ? ": " : "",
             any ? method->purpose : "");
    print_wrapped(file, text, column, column, WIDTH);
}

static void print_command(FILE *file, const command *c, bool parts, bool whole) {
    char usage[512];
    usage_line(c, usage, sizeof usage);
    print_wrapped(file, c->summary, fprintf(file, "rarebit %s: ", c->words), 0, WIDTH);
    if (c->method) print_method(file, c->method, fprintf(file, "  %s  ", c->method->name));
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
    walk_parts(c, parts,
               &(option_walk){file, print_heading, print_option, whole ? NULL : is_common});
    if (!whole) fprintf(file, "\n'rarebit help %s --all' shows every option.\n", c->words);
}

/* Is the help longer than a screen, so that a first look leaves out what few need? */
static bool has_parts(const command *c) {
    char *text = NULL;
    size_t size = 0;
    int lines = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return true;
    print_command(file, c, false, true);
    if (fclose(file) == 0)
        for (const char *end = text; (end = strchr(end, '\n')); end++)
            lines++;
    free(text);
    return lines > SCREEN;
}

void walk_options(const command *c, const option_walk *walk) {
    walk_parts(c, has_parts(c), walk);
}

void help_command(FILE *file, const command *c, bool all) {
    bool parts = has_parts(c);
    print_command(file, c, parts, all || !parts);
}

/* "  fit METHOD     fit a model to data" */
static void list_verb(FILE *file, const verb *v) {
    int used = fprintf(file, "  %.*s%s", v->length, v->first->words, v->argument);
    print_wrapped(file, v->summary, used + fprintf(file, "%*s", 17 - used, ""), 17, WIDTH);
}

static void list_verbs(FILE *file, const command_list *list) {
    const char *heading = "";
    verb v;
    for (int i = 0; commands_verb(list, i, &v); i += v.count) {
        const char *own = v.first->heading;
        if (!own) continue;
        if (strcmp(own, heading) != 0) fprintf(file, "\n%s\n", own);
        heading = own;
        list_verb(file, &v);
    }
}

static void list_methods(FILE *file, const verb *v) {
    int column = fprintf(file, "\nMethods\n ") - 9;
    for (int i = 0; i < v->count; i++) {
        const char *name = v->first[i].method->name;
        if (column + (int)strlen(name) + 1 > WIDTH) column = fprintf(file, "\n ") - 1;
        column += fprintf(file, " %s", name);
    }
    putc('\n', file);
}

void help_overview(FILE *file, const command_list *list) {
    verb fit;
    fputs("rarebit finds the few hidden causes behind data: sparse codes, gene modules, features.\n"
          "\nUsage: rarebit COMMAND [ARGUMENTS] [OPTIONS]\n",
          file);
    list_verbs(file, list);
    if (commands_family(list, "fit", &fit)) list_methods(file, &fit);
    fputs("\nFirst steps: rarebit fit rfn table.tsv -k 10 -o model.h5\n"
          "             rarebit report model.h5 table.tsv -o report.html\n"
          "More: 'rarebit help COMMAND', 'rarebit help fit' (methods), 'rarebit version'\n",
          file);
}

void help_family(FILE *file, const verb *v) {
    const char *word = v->first->words;
    fprintf(file, "rarebit %.*s%s: %s\n\n", v->length, word, v->argument, v->summary);
    for (int i = 0; i < v->count; i++) {
        const command *c = v->first + i;
        int column = fprintf(file, "  %-12s  ", c->words + v->length + 1);
        if (c->method)
            print_method(file, c->method, column);
        else
            print_wrapped(file, c->summary, column, column, WIDTH);
    }
    fprintf(file, "\n'rarebit help %s' shows usage and options, and so for the others.\n", word);
}

static const rb_option help_options[] = {
    {FLAG_OPTION("all"), "show every option, also those that few need"},
    {0},
};

static int run(invocation *call) {
    const command_list *list = call->commands;
    const char *first = call->arguments[0], *second = first ? call->arguments[1] : NULL;
    int used = 0;
    verb v;
    if (!first) {
        help_overview(stdout, list);
        return STATUS_DONE;
    }
    const command *c = commands_find(list, call->n_arguments, (char **)call->arguments, &used);
    if (c && used == call->n_arguments) {
        if (!command_fill(call->ctx, c)) return report_failure(call->ctx, fail_memory(call->ctx));
        help_command(stdout, c, option_flag(call, "all"));
        return STATUS_DONE;
    }
    if (!second && commands_family(list, first, &v)) {
        help_family(stdout, &v);
        return STATUS_DONE;
    }
    return commands_unknown(list, first, second);
}

const command help_command_row = {
    .words = "help",
    .summary = "explain a command",
    .arguments = {{"COMMAND", "a command; without it, a list of all", true},
                  {"NAME", "its second word: a method, or what to draw", true}},
    .own = {sizeof(rb_option), "Help", help_options},
    .examples = {{"All commands", "help"},
                 {"The methods, and what each is for", "help fit"},
                 {"One of them, with every option", "help fit rfn --all"}},
    .run = run,
};

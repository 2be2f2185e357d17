/* The table of commands. A new command is a file of its own and a name here. */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* Help lists them in this order, after those of the methods. The last one is for the build. */
static const command *const table[] = {
    &methods_command,       &consensus_command,      &merge_command,
    &encode_command,        &reconstruct_command,    &sample_command,
    &denoise_command,       &evaluate_command,       &modules_command,
    &compare_command,       &report_command,         &rerun_command,
    &plot_history_command,  &plot_codes_command,     &plot_filters_command,
    &plot_unit_command,     &plot_samples_command,   &plot_modules_command,
    &plot_fields_command,   &plot_quality_command,   &plot_evidence_command,
    &check_command,         &info_command,           &convert_command,
    &patches_command,       &segments_command,       &simulate_biclusters_command,
    &simulate_bars_command, &simulate_cells_command, &finetune_command,
    &predict_command,       &export_command,         &import_command,
    &devices_command,       &version_command,        &help_command_row,
    &generate_command,
};
enum { TABLE_COUNT = sizeof table / sizeof *table };

/* Under these headings, each from a command on; before the first that of the methods. */
static const struct {
    const command *first;
    const char *heading;
} headings[] = {{&encode_command, "Use a model"},
                {&check_command, "Data"},
                {&finetune_command, "Nets"},
                {&devices_command, NULL},
                {NULL, NULL}};

rb_error command_options(rb_context *ctx, const command *c, rb_options **options) {
    const char *method = c->method ? c->method->name : NULL;
    rb_error err = c->options_new ? c->options_new(ctx, method, options)
                                  : rb_options_new(ctx, method, options);
    for (int g = 0; !err; g++) {
        if (c->own.rows && g == c->own_after) err = rb_options_add(ctx, *options, &c->own);
        if (err || !c->groups[g]) break;
        err = rb_options_add(ctx, *options, c->groups[g]());
    }
    return err;
}

bool command_fill(rb_context *ctx, const command *filled) {
    command *c = (command *)filled; /* of a list, which is ours */
    rb_options *options = NULL;
    rb_option row;
    int64_t count = 0;
    if (c->rows) return true;
    bool found = command_options(ctx, c, &options) == RB_OK;
    while (found && !rb_options_row(options, count, &row, sizeof row))
        count++;
    rb_option *next = c->rows = found ? calloc((size_t)count + 1, sizeof *c->rows) : NULL;
    for (int64_t i = 0; next && i < count; i++) {
        (void)rb_options_row(options, i, next, sizeof *next);
        next += !among_words(c->without, next->name);
    }
    if (next) *next = (rb_option){0};
    rb_options_free(options);
    return c->rows != NULL;
}

/* "fit" becomes "fit NAME", and so does "select". */
static bool add_method(command_list *list, const command *of, const rb_method *method) {
    command *c = &list->entries[list->count];
    char *words;
    if (asprintf(&words, "%s %s", of->words, method->name) < 0) return false;
    *c = *of;
    c->words = words;
    c->method = method;
    c->heading = "Fit";
    list->count++;
    return true;
}

command_list *commands_new(rb_context *ctx) {
    int methods = 0;
    while (rb_context_method(ctx, methods))
        methods++;
    static const command *const kinds[] = {&fit_command, &select_command, &stack_command};
    int kinds_count = sizeof kinds / sizeof *kinds;
    size_t max = (size_t)(kinds_count * methods) + TABLE_COUNT;
    command_list *list = calloc(1, sizeof *list + max * sizeof list->entries[0]);
    bool complete = list;
    for (int m = 0; complete && m < kinds_count * methods; m++)
        if (kinds[m / methods]->words) /* else its library is not built (tool/without) */
            complete = add_method(list, kinds[m / methods], rb_context_method(ctx, m % methods));
    const char *heading = "Fit";
    for (int i = 0, h = 0; complete && i < TABLE_COUNT; i++) {
        if (table[i] == headings[h].first) heading = headings[h++].heading;
        if (!table[i]->words) continue;
        list->entries[list->count] = *table[i];
        list->entries[list->count++].heading = heading;
    }
    if (!complete) {
        commands_free(list);
        return NULL;
    }
    list->listed = list->count - 1;
    return list;
}

void commands_free(command_list *list) {
    for (int i = 0; list && i < list->count; i++) {
        if (list->entries[i].method) free((char *)list->entries[i].words);
        free(list->entries[i].rows);
    }
    free(list);
}

/* How many of the words of a command begin argv: all of them, or 0. */
static int matched_words(const char *words, int argc, char **argv) {
    int used = 0;
    while (*words) {
        size_t span = strcspn(words, " ");
        if (used == argc || strlen(argv[used]) != span || memcmp(argv[used], words, span) != 0)
            return 0;
        used++;
        words += span + (words[span] == ' ');
    }
    return used;
}

const command *commands_find(const command_list *list, int argc, char **argv, int *used) {
    for (int i = 0; i < list->count; i++) {
        *used = matched_words(list->entries[i].words, argc, argv);
        if (*used) return &list->entries[i];
    }
    return NULL;
}

const char *commands_library(const char *word) {
    for (int i = 0; word && i < TABLE_COUNT; i++)
        if (table[i]->brings && among_words(table[i]->brings, word)) return table[i]->library;
    return NULL;
}

int commands_unknown(const command_list *list, const char *first, const char *second) {
    const char *named = commands_library(first) ? first : second;
    const char *library = commands_library(named);
    char typed[256];
    snprintf(typed, sizeof typed, "%s%s%s", first, second ? " " : "", second ? second : "");
    nearest best = {.typed = typed};
    for (int i = 0; i < list->listed; i++)
        nearest_offer(&best, list->entries[i].words);
    if (library)
        return report_usage("this rarebit was built without %s, which '%s' needs", library, named);
    if (best.word)
        return report_usage("there is no command '%s'; did you mean '%s'?", typed, best.word);
    return report_usage("there is no command '%s'; 'rarebit help' lists them", typed);
}

/* What the commands of one first word have in common to say. */
static const char *verb_summary(const command *first, int length) {
    static const char *const known[][2] = {
        {"plot", "draw a fit's history, a model, its codes or its modules"},
        {"simulate", "make data with known modules, bars or cell types"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(known[i][0], first->words, (size_t)length) == 0) return known[i][1];
    return first->summary;
}

bool commands_verb(const command_list *list, int from, verb *v) {
    if (from >= list->listed) return false;
    const command *first = &list->entries[from];
    int length = (int)strcspn(first->words, " ");
    *v = (verb){.first = first, .length = length, .count = 1};
    while (from + v->count < list->listed &&
           strncmp(first[v->count].words, first->words, (size_t)length) == 0 &&
           first[v->count].words[length] == ' ')
        v->count++;
    v->argument = first->method ? " METHOD" : first->words[length] ? " WHAT" : "";
    v->summary = verb_summary(first, length);
    return true;
}

bool commands_family(const command_list *list, const char *word, verb *v) {
    for (int i = 0; commands_verb(list, i, v); i += v->count)
        if (*v->argument && strlen(word) == (size_t)v->length &&
            strncmp(word, v->first->words, (size_t)v->length) == 0)
            return true;
    return false;
}

const char *command_title(const command *c) {
    return c->method ? c->method->title : c->summary;
}

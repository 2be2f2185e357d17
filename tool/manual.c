/* Man pages, made from the tables of the commands. */
#include "tool.h"

#include <ctype.h>
#include <string.h>

/* Text for roff: '-' as it is typed, no line that begins with a control character. */
static void put_roff(FILE *file, const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", file);
    for (; *text; text++) {
        const char *escape = *text == '-'    ? "\\-"
                             : *text == '\\' ? "\\e"
                             : *text == '\'' ? "\\(aq"
                                             : (char[]){*text, '\0'};
        fputs(escape, file);
    }
}

void manual_name(const verb *v, char *buffer, size_t size) {
    snprintf(buffer, size, "rarebit%s%.*s", v ? "-" : "", v ? v->length : 0,
             v ? v->first->words : "");
}

static void put_title(FILE *file, const char *name) {
    fputs(".TH ", file);
    for (const char *letter = name; *letter; letter++) {
        if (*letter == '-') putc('\\', file);
        putc(toupper((unsigned char)*letter), file);
    }
    fprintf(file, " 1 \"\" \"rarebit %s\" \"rarebit manual\"\n", rb_version());
    fputs(".SH NAME\n", file);
    put_roff(file, name);
    fputs(" \\- ", file);
}

static void put_heading(FILE *file, const char *title) {
    fputs(".SS ", file);
    put_roff(file, title);
    putc('\n', file);
}

static void put_option(FILE *file, const command *c, const rb_option *row) {
    char values[320];
    fputs(".TP\n", file);
    if (row->letter) fprintf(file, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB", file);
    put_roff(file, option_dashes(row));
    put_roff(file, row->name);
    fputs("\\fR", file);
    if (row->argument) {
        fputs(" \\fI", file);
        put_roff(file, row->argument);
        fputs("\\fR", file);
    }
    putc('\n', file);
    put_roff(file, row->help);
    describe_values(c, row, values, sizeof values);
    if (*values) {
        fputs("\n[", file);
        put_roff(file, values);
        putc(']', file);
    }
    putc('\n', file);
}

static void put_examples(FILE *file, const command *c) {
    for (const example *e = c->examples; e->purpose; e++) {
        char line[512];
        example_line(c, e->line, line, sizeof line);
        fputs(".PP\n", file);
        put_roff(file, e->purpose);
        fputs(":\n.PP\n.nf\n.RS 4\nrarebit ", file);
        put_roff(file, line);
        fputs("\n.RE\n.fi\n", file);
    }
}

static void put_status(FILE *file) {
    fputs(".SH EXIT STATUS\n"
          "0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 ended by SIGTERM.\n"
          "A command that failed leaves no file behind, not even half of one.\n",
          file);
}

/* The other pages. */
static void put_see_also(FILE *file, const command_list *list, const verb *self) {
    const char *heading = self ? self->first->heading : NULL;
    bool begun = self;
    verb v;
    fputs(self ? ".SH SEE ALSO\n.BR rarebit (1)" : ".SH SEE ALSO\n", file);
    for (int i = 0; commands_verb(list, i, &v); i += v.count) {
        const char *own = v.first->heading;
        char name[128];
        if (self && (v.first == self->first || !own || !heading || strcmp(own, heading) != 0))
            continue;
        manual_name(&v, name, sizeof name);
        fputs(begun ? ",\n.BR " : ".BR ", file);
        put_roff(file, name);
        fputs(" (1)", file);
        begun = true;
    }
    putc('\n', file);
}

static bool same_row(const rb_option *a, const rb_option *b) {
    const char *x = a->fallback ? a->fallback : "", *y = b->fallback ? b->fallback : "";
    return strcmp(a->name, b->name) == 0 && strcmp(a->help, b->help) == 0 && strcmp(x, y) == 0 &&
           a->level == b->level;
}

/* Is the option the same in all commands of a page? */
static bool is_shared(const void *of, const rb_option *row) {
    const verb *v = of;
    for (int i = 0; i < v->count; i++) {
        const rb_option *found = v->first[i].rows;
        while (found->name && !same_row(found, row))
            found++;
        if (!found->name) return false;
    }
    return true;
}

static bool is_own(const void *of, const rb_option *row) {
    return !is_shared(of, row);
}

static void put_usage(FILE *file, const command *c) {
    char usage[512];
    usage_line(c, usage, sizeof usage);
    fputs(".PP\n.B rarebit\n", file);
    put_roff(file, usage);
    putc('\n', file);
}

static void put_description(FILE *file, const command *c) {
    put_roff(file, c->description ? c->description : c->summary);
    putc('\n', file);
    for (const argument *a = c->arguments; a->name; a++) {
        fprintf(file, ".TP\n\\fI%s\\fR\n", a->name);
        put_roff(file, a->help);
        putc('\n', file);
    }
}

/* What one command of several on a page has for itself. The methods' options are those of a fit,
 * and stand on its page. */
static void put_own(FILE *file, const verb *v, const command *c) {
    fputs(".SH ", file);
    put_roff(file, c->words);
    putc('\n', file);
    put_roff(file, command_title(c));
    putc('\n', file);
    if (!c->method) {
        put_usage(file, c);
        put_description(file, c);
    } else if (c->method->purpose) {
        fputs(": ", file);
        put_roff(file, c->method->purpose);
        putc('\n', file);
    }
    if (!c->options_new) walk_options(c, &(option_walk){file, put_heading, put_option, is_own, v});
    if (!c->method) put_examples(file, c);
}

static void put_verb(FILE *file, const command_list *list, const verb *v) {
    const command *c = v->first;
    bool several = *v->argument, methods = c->method;
    char name[128];
    manual_name(v, name, sizeof name);
    put_title(file, name);
    put_roff(file, v->summary);
    fputs("\n.SH SYNOPSIS\n", file);
    for (int i = 0; i < v->count; i++)
        put_usage(file, c + i);
    if (!several || methods) {
        fputs(".SH DESCRIPTION\n", file);
        put_description(file, c);
    }
    if (methods && c->options_new)
        fputs("A method's own options are those of\n.BR rarebit\\-fit (1).\n", file);
    fputs(c->rows[0].name ? ".SH OPTIONS\n" : "", file);
    walk_options(c, &(option_walk){file, put_heading, put_option, is_shared, v});
    for (int i = 0; several && i < v->count; i++)
        put_own(file, v, c + i);
    if ((!several || methods) && c->examples[0].purpose) {
        fputs(".SH EXAMPLES\n", file);
        put_examples(file, c);
    }
    put_status(file);
    put_see_also(file, list, v);
}

static void put_verb_line(FILE *file, const verb *v) {
    fprintf(file, ".TP\n\\fB%.*s%s\\fR\n", v->length, v->first->words, v->argument);
    put_roff(file, v->summary);
    putc('\n', file);
}

static void put_overview(FILE *file, const command_list *list) {
    put_title(file, "rarebit");
    fputs("find the few hidden causes behind data\n"
          ".SH SYNOPSIS\n.B rarebit\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
          ".SH DESCRIPTION\n"
          "Fits models with hidden units that are zero for most samples, and uses them: codes,\n"
          "modules of samples and features, errors, pictures.\n"
          "Options may stand anywhere: \\fB\\-\\-name\\fR \\fIvalue\\fR,\n"
          "\\fB\\-\\-name=\\fR\\fIvalue\\fR, \\fB\\-k\\fR \\fI50\\fR, \\fB\\-k\\fR\\fI50\\fR,\n"
          "\\fB\\-\\-flag\\fR and \\fB\\-\\-no\\-flag\\fR; \\fB\\-\\-\\fR ends them.\n"
          "Numbers may end in k, M or G: a thousand, a million, a billion.\n"
          ".SH COMMANDS\n",
          file);
    verb v;
    for (int i = 0; commands_verb(list, i, &v); i += v.count)
        put_verb_line(file, &v);
    fputs(".SH ENVIRONMENT\n"
          ".TP\n.B RAREBIT_KERNEL\nforces rarebit's own kernels: ref, avx2 or avx512\n"
          ".TP\n.B RAREBIT_BLAS_CORE\nforces the kernels of OpenBLAS: Haswell, SkylakeX, Zen ...; "
          "otherwise the best that the processor can run are taken\n"
          ".TP\n.B TMPDIR\nwhere output for pipes and devices is kept until it is whole\n",
          file);
    put_status(file);
    put_see_also(file, list, NULL);
}

void manual_page(FILE *file, const command_list *list, const verb *v) {
    if (v)
        put_verb(file, list, v);
    else
        put_overview(file, list);
}

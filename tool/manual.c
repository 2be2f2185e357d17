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

void manual_name(const command *c, char *buffer, size_t size) {
    snprintf(buffer, size, "rarebit%s%s", c ? "-" : "", c ? c->words : "");
    for (char *letter = buffer; *letter; letter++)
        *letter = *letter == ' ' ? '-' : *letter;
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
    fputs(c->examples[0].purpose ? ".SH EXAMPLES\n" : "", file);
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
static void put_see_also(FILE *file, const command_list *list, const command *self) {
    bool first = !self;
    fputs(self ? ".SH SEE ALSO\n.BR rarebit (1)" : ".SH SEE ALSO\n", file);
    for (int i = 0; i < list->listed; i++) {
        const command *c = &list->entries[i];
        if (c != self && (!self || strcmp(c->heading, self->heading) == 0)) {
            char name[128];
            manual_name(c, name, sizeof name);
            fputs(first ? ".BR " : ",\n.BR ", file);
            put_roff(file, name);
            fputs(" (1)", file);
            first = false;
        }
    }
    putc('\n', file);
}

static void put_command(FILE *file, const command_list *list, const command *c) {
    char name[128], usage[512];
    manual_name(c, name, sizeof name);
    usage_line(c, usage, sizeof usage);
    put_title(file, name);
    put_roff(file, c->summary);
    fputs("\n.SH SYNOPSIS\n.B rarebit\n", file);
    put_roff(file, usage);
    fputs("\n.SH DESCRIPTION\n", file);
    put_roff(file, c->description ? c->description : c->summary);
    fputs("\n", file);
    for (const argument *a = c->arguments; a->name; a++) {
        fprintf(file, ".TP\n\\fI%s\\fR\n", a->name);
        put_roff(file, a->help);
        putc('\n', file);
    }
    fputs(c->rows[0].name ? ".SH OPTIONS\n" : "", file);
    walk_options(c, &(option_walk){file, put_heading, put_option});
    put_examples(file, c);
    put_status(file);
    put_see_also(file, list, c);
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
    for (int i = 0; i < list->listed; i++) {
        fputs(".TP\n\\fB", file);
        put_roff(file, list->entries[i].words);
        fputs("\\fR\n", file);
        put_roff(file, list->entries[i].summary);
        putc('\n', file);
    }
    fputs(".SH ENVIRONMENT\n"
          ".TP\n.B RAREBIT_KERNEL\nforces rarebit's own kernels: ref, avx2 or avx512\n"
          ".TP\n.B RAREBIT_BLAS_CORE\nforces the kernels of OpenBLAS: Haswell, SkylakeX, Zen ...; "
          "otherwise the best that the processor can run are taken\n"
          ".TP\n.B TMPDIR\nwhere output for pipes and devices is kept until it is whole\n",
          file);
    put_status(file);
    put_see_also(file, list, NULL);
}

void manual_page(FILE *file, const command_list *list, const command *c) {
    if (c)
        put_command(file, list, c);
    else
        put_overview(file, list);
}

/* Completion for bash and zsh, made from the tables of the commands. */
#include "tool.h"

#include <string.h>

/* All that may stand at the place of a command's option. */
static void bash_options(FILE *file, const command *c) {
    for (const rb_option *row = c->rows; row->name; row++) {
        fprintf(file, "--%s ", row->name);
        if (row->kind == RB_OPTION_FLAG) fprintf(file, "--no-%s ", row->name);
    }
    fputs("--help", file);
}

/* "a|b|c": what may be typed, where that is known. */
static const char *words_of(const rb_option *row) {
    return row->choices ? row->choices : row->word;
}

/* "a|b|c" as "a b c" */
static void bash_choices(FILE *file, const char *choices) {
    for (; *choices; choices++)
        putc(*choices == '|' ? ' ' : *choices, file);
}

/* After "help" stand commands. */
static void bash_command(FILE *file, const command *c) {
    if (strcmp(c->words, "help") == 0) return;
    fprintf(file, "    '%s')\n        case $before in\n", c->words);
    for (const rb_option *row = c->rows; row->name; row++) {
        const char *words = words_of(row);
        if (words) {
            fprintf(file, "        --%s) COMPREPLY=($(compgen -W '", row->name);
            bash_choices(file, words);
            fputs("' -- \"$word\")); return ;;\n", file);
        }
    }
    fputs("        esac\n        options='", file);
    bash_options(file, c);
    fputs("' ;;\n", file);
}

void completion_bash(FILE *file, const command_list *list, const verb *v) {
    (void)v;
    fputs("# bash completion for rarebit\n"
          "_rarebit() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local typed=\"${COMP_WORDS[*]:1:COMP_CWORD-1}\" options='' next=''\n"
          "    COMPREPLY=()\n"
          "    case \"$typed\" in\n",
          file);
    /* Longer words first: "plot modules" is not "plot". */
    for (int i = 0; i < list->listed; i++) {
        const char *words = list->entries[i].words;
        if (strcmp(words, "help") != 0)
            fprintf(file, "    '%s'|'%s '*) typed='%s' ;;\n", words, words, words);
    }
    fputs("    esac\n    case \"$typed\" in\n", file);
    for (int i = 0; i < list->listed; i++)
        bash_command(file, &list->entries[i]);
    fputs("    esac\n"
          "    if [ -n \"$options\" ]; then\n"
          "        case $word in\n"
          "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "        *) COMPREPLY=($(compgen -f -- \"$word\")); compopt -o filenames 2>/dev/null ;;\n"
          "        esac\n"
          "        return\n"
          "    fi\n"
          "    typed=${typed#help}\n"
          "    case \"${typed# }\" in\n",
          file);
    fputs("    '') next='", file);
    verb next;
    for (int i = 0; commands_verb(list, i, &next); i += next.count)
        fprintf(file, "%.*s ", next.length, next.first->words);
    fputs("' ;;\n", file);
    for (int i = 0; i < list->listed; i++) {
        const char *words = list->entries[i].words, *second = strchr(words, ' ');
        if (second) {
            fprintf(file, "    '%.*s') next=\"$next %s\" ;;&\n", (int)(second - words), words,
                    second + 1);
        }
    }
    fputs("    esac\n"
          "    COMPREPLY=($(compgen -W \"$next\" -- \"$word\"))\n"
          "}\n"
          "complete -F _rarebit rarebit\n",
          file);
}

/* Text within single quotes of an _arguments specification. */
static void put_zsh(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", file);
        else if (strchr("[]:\\", *text))
            fprintf(file, "\\%c", *text);
        else
            putc(*text, file);
}

static void zsh_value(FILE *file, const rb_option *row) {
    if (row->kind == RB_OPTION_FLAG) return;
    fputs(":", file);
    put_zsh(file, row->argument ? row->argument : "VALUE");
    const char *words = words_of(row);
    if (words) {
        fputs(":(", file);
        bash_choices(file, words);
        putc(')', file);
    } else {
        bool names_file = row->kind == RB_OPTION_TEXT || row->kind == RB_OPTION_VALUES;
        fputs(names_file ? ":_files" : ":", file);
    }
}

/* "'--eta=[help]:RATE:'", "'-k+[help]:N:'" */
static void zsh_spelling(FILE *file, const rb_option *row, const char *spelling, const char *sign) {
    fprintf(file, " \\\n            '%s%s[", spelling, row->kind == RB_OPTION_FLAG ? "" : sign);
    put_zsh(file, row->help);
    putc(']', file);
    zsh_value(file, row);
    putc('\'', file);
}

static void zsh_option(FILE *file, const rb_option *row) {
    char spelling[64];
    snprintf(spelling, sizeof spelling, "%s%s", option_dashes(row), row->name);
    zsh_spelling(file, row, spelling, "=");
    snprintf(spelling, sizeof spelling, "-%c", row->letter);
    if (row->letter) zsh_spelling(file, row, spelling, "+");
}

static void zsh_command(FILE *file, const command *c) {
    if (strcmp(c->words, "help") == 0) return;
    fprintf(file, "    '%s'*)\n        _arguments '--help[show help]'", c->words);
    for (const rb_option *row = c->rows; row->name; row++)
        zsh_option(file, row);
    fputs(" '*:file:_files' ;;\n", file);
}

void completion_zsh(FILE *file, const command_list *list, const verb *v) {
    (void)v;
    fputs("#compdef rarebit\n"
          "# zsh completion for rarebit\n"
          "_rarebit() {\n"
          "    local typed=\"${(j: :)words[2,CURRENT-1]}\"\n"
          "    case \"$typed\" in\n",
          file);
    for (int i = 0; i < list->listed; i++)
        zsh_command(file, &list->entries[i]);
    fputs("    *)\n        local -a commands\n        commands=(\n", file);
    for (int i = 0; i < list->listed; i++) {
        fputs("            '", file);
        put_zsh(file, list->entries[i].words);
        putc(':', file);
        put_zsh(file, command_title(&list->entries[i]));
        fputs("'\n", file);
    }
    fputs("        )\n"
          "        if (( CURRENT > 2 )); then\n"
          "            commands=(${${(M)commands:#$words[2] *}#$words[2] })\n"
          "        fi\n"
          "        _describe command commands ;;\n"
          "    esac\n"
          "}\n"
          "_rarebit \"$@\"\n",
          file);
}

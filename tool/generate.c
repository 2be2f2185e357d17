/* rarebit generate FOLDER: man pages and completion, for the build. Not shown in the help.
 *
 * It also checks the tables: an option that a command has twice could be set only once. */
#include "tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static FILE *open_in(const char *folder, const char *below, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, below);
    if (mkdir(path, 0777) && errno != EEXIST) {
        report_error("cannot make the folder '%s': %s", path, strerror(errno));
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s/%s", folder, below, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        report_error("cannot write '%s': %s", path, strerror(errno));
    }
    return file;
}

static int closed(FILE *file, const char *name) {
    bool failed = ferror(file) != 0;
    if (fclose(file) || failed) {
        report_error("cannot write '%s'", name);
        return STATUS_FAILED;
    }
    return STATUS_DONE;
}

static int write_page(const char *folder, const command_list *list, const command *c) {
    char name[160];
    manual_name(c, name, sizeof name - 2);
    strcat(name, ".1");
    FILE *file = open_in(folder, "man", name);
    if (!file) {
        return STATUS_FAILED;
    }
    if (c) {
        manual_command(file, list, c);
    } else {
        manual_overview(file, list);
    }
    return closed(file, name);
}

static int write_completion(const char *folder, const command_list *list, const char *name,
                            void (*write)(FILE *file, const command_list *list)) {
    FILE *file = open_in(folder, "completion", name);
    if (!file) {
        return STATUS_FAILED;
    }
    write(file, list);
    return closed(file, name);
}

/* How many options of a command have the name or the letter of this one. */
static int count_like(const command *c, const rb_option *wanted) {
    int count = 0;
    for (const rb_option *row = c->rows; row->name; row++) {
        bool same_letter = row->letter && row->letter == wanted->letter;
        count += strcmp(row->name, wanted->name) == 0 || same_letter;
    }
    return count;
}

static int check_options(const command *c) {
    for (const rb_option *row = c->rows; row->name; row++) {
        if (count_like(c, row) > 1 || strcmp(row->name, "help") == 0 || row->letter == 'h') {
            report_error("'%s' has two options --%s, or two of its letter", c->words, row->name);
            return STATUS_FAILED;
        }
    }
    return STATUS_DONE;
}

static int run(invocation *call) {
    const char *folder = call->arguments[0];
    const command_list *list = call->commands;
    int status = write_page(folder, list, NULL);
    for (int i = 0; i < list->count && !status; i++) {
        status = check_options(&list->entries[i]);
        if (!status && i < list->listed) {
            status = write_page(folder, list, &list->entries[i]);
        }
    }
    if (!status) {
        status = write_completion(folder, list, "rarebit.bash", completion_bash);
    }
    return status ? status : write_completion(folder, list, "_rarebit", completion_zsh);
}

const command generate_command = {
    .words = "generate",
    .heading = "About rarebit",
    .summary = "write man pages and shell completion into a folder",
    .arguments = {{"FOLDER", "where man/ and completion/ are made", false}},
    .run = run,
};

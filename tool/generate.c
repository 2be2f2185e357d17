/* rarebit generate FOLDER: man pages and completion, for the build. Not shown in the help.
 *
 * It also checks the tables: an option that a command has twice could be set only once. */
#include "tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int write_file(const char *folder, const char *name, const command_list *list, const verb *v,
                      void (*write)(FILE *file, const command_list *list, const verb *v)) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file) write(file, list, v);
    bool failed = !file || ferror(file);
    if ((file && fclose(file)) || failed)
        return report_error("cannot write '%s': %s", path, strerror(errno));
    return STATUS_DONE;
}

static int write_manual(const char *folder, const command_list *list, const verb *v) {
    char page[128], name[160];
    manual_name(v, page, sizeof page);
    snprintf(name, sizeof name, "man/%s.1", page);
    return write_file(folder, name, list, v, manual_page);
}

static int make_folder(const char *folder, const char *below) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, below);
    if (mkdir(path, 0777) && errno != EEXIST)
        return report_error("cannot make the folder '%s': %s", path, strerror(errno));
    return STATUS_DONE;
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
            return report_error("'%s' has two options --%s, or two of its letter", c->words,
                                row->name);
        }
    }
    return STATUS_DONE;
}

static int run(invocation *call) {
    const char *folder = call->arguments[0];
    const command_list *list = call->commands;
    int status = make_folder(folder, "man");
    status = status ? status : make_folder(folder, "completion");
    for (int i = 0; i < list->count && !status; i++)
        status = command_fill(call->ctx, &list->entries[i]) ? check_options(&list->entries[i])
                                                            : STATUS_FAILED;
    status = status ? status : write_manual(folder, list, NULL);
    verb v;
    for (int i = 0; !status && commands_verb(list, i, &v); i += v.count)
        status = write_manual(folder, list, &v);
    status = status ? status
                    : write_file(folder, "completion/rarebit.bash", list, NULL, completion_bash);
    return status ? status : write_file(folder, "completion/_rarebit", list, NULL, completion_zsh);
}

const command generate_command = {
    .words = "generate",
    .summary = "write man pages and shell completion into a folder",
    .arguments = {{"FOLDER", "where man/ and completion/ are made", false}},
    .run = run,
};

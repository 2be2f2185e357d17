/* rarebit: the command line tool. Finds the command, reads its line, runs it, checks stdout. */
#include "blas_choice.h"
#include "tool.h"

#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool asks_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* `rarebit fit table.csv`: a file, no second word; or `rarebit fit table.csv --method rfn`. */
static int second_word(const verb *family, int argc, char **argv) {
    const command *c = family->first;
    const char *second = c->words + family->length + 1;
    char line[1024];
    size_t used = 0;
    for (int i = 2; i < argc; i++) {
        bool method = c->method && strcmp(argv[i], "--method") == 0 && i + 1 < argc;
        if (method)
            second = argv[++i];
        else if (used < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s", argv[i]);
    }
    return report_usage(
        "'%s' needs%s as its second word: rarebit %s %s%s; 'rarebit help %s' lists them", argv[1],
        c->method ? " a method" : " the result", argv[1], second, used ? line : "", argv[1]);
}

/* `rarebit --version`, and words that are no command. */
static int no_command(const command_list *list, int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    const char *next = argc > 2 ? argv[2] : NULL;
    if (!word) {
        help_overview(stderr, list);
        return STATUS_USAGE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("rarebit %s\n", rb_version());
        return STATUS_DONE;
    }
    verb family;
    bool known = commands_family(list, word, &family);
    if (known && (!next || asks_help(next))) {
        help_family(next ? stdout : stderr, &family);
        return next ? STATUS_DONE : STATUS_USAGE;
    }
    if (known && !commands_library(next) && (next[0] == '-' || strpbrk(next, "./")))
        return second_word(&family, argc, argv);
    return commands_unknown(list, word, known ? next : NULL);
}

static void on_temporary(const char *path, bool there, void *user) {
    (void)user;
    interrupt_temporary(path, there);
}

/* Results name the command that made them. */
static rb_error name_command(const invocation *call) {
    char *line = command_line(call->argc, call->argv);
    rb_error err = rb_context_set_command(call->ctx, line);
    free(line);
    return err;
}

static int run(invocation *call) {
    int refused = processes_check(call);
    if (refused) return refused;
    rb_error err = apply_general_options(call);
    err = err ? err : name_command(call);
    err = err ? err : name_origin(call, NULL, NULL);
    int status = err ? report_failure(call->ctx, err) : check_places(call);
    if (!status) {
        interrupt_keeps(option_text(call, "checkpoint"));
        report_explain(call);
        status = call->command->run(call);
        report_explain(NULL);
    }
    return status;
}

static int dispatch(rb_context *ctx, const command_list *list, int argc, char **argv) {
    int used = 0;
    char help[] = "help";
    if (argc > 1 && asks_help(argv[1])) /* `rarebit --help fit rfn` */
        argv[1] = help;
    const command *found = commands_find(list, argc - 1, argv + 1, &used);
    if (!found) return no_command(list, argc, argv);
    invocation call = {.ctx = ctx, .commands = list, .command = found, .argc = argc, .argv = argv};
    int status = command_fill(ctx, found) ? invocation_read(&call, argc - 1 - used, argv + 1 + used)
                                          : report_failure(ctx, fail_memory(ctx));
    if (status == STATUS_DONE && call.wants_help)
        help_command(stdout, found, false);
    else if (status == STATUS_DONE)
        status = run(&call);
    invocation_clear(&call);
    return status;
}

/* RAREBIT_KERNEL=ref|avx2|avx512 forces the kernels; the library itself reads no environment. */
static rb_error choose_kernels(rb_context *ctx) {
    const char *name = getenv("RAREBIT_KERNEL");
    return name && *name ? rb_context_set_kernels(ctx, name) : RB_OK;
}

/* Of the streams that a program has, one that was closed would be the first file that is opened,
 * and get the messages. A folder takes its place, where writing fails as it does if closed. */
static void hold_streams(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0) (void)!open("/", O_RDONLY);
}

int main(int argc, char **argv) {
    hold_streams();
    choose_blas(argv);
    /* Every file is closed by then; at exit HDF5 would print about objects of damaged files. */
    H5dont_atexit();
    interrupt_install();
    rb_context *ctx;
    if (rb_context_new(&ctx)) return report_error("out of memory");
    rb_io_use(ctx);
    rb_error err = rb_nets_use(ctx);
    rb_context_on_log(ctx, report_log, NULL);
    rb_context_on_temporary(ctx, on_temporary, NULL);
    command_list *list = commands_new(ctx);
    int status = STATUS_FAILED;
    err = err ? err : choose_kernels(ctx);
    const char *refused = blas_kernels_refused();
    if (refused) {
        report_error("RAREBIT_BLAS_CORE is '%s', but the BLAS has no such kernels for this "
                     "processor; leave it out, or see 'rarebit version'",
                     refused);
        status = STATUS_USAGE;
    } else if (err) {
        status = report_failure(ctx, err);
    } else if (!list) {
        report_error("out of memory");
    } else {
        status = processes_begin(ctx);
        status = processes_end(ctx, status ? status : dispatch(ctx, list, argc, argv));
    }
    int closed = output_close_stdout();
    commands_free(list);
    interrupt_gently(NULL); /* a signal must not stop what is freed */
    rb_context_free(ctx);
    return status ? status : closed;
}

/* The face of the tool: what a command is, and what all commands share.
 *
 * A command is one row of a table: its words, arguments, option tables, examples and a function.
 * Reading the command line, help, man pages and shell completion are made from these tables alone.
 * The tool uses the public headers of the library and does no mathematics.
 */
#pragma once

#include <rarebit/annotations.h>
#include <rarebit/deep.h>
#include <rarebit/denoise.h>
#include <rarebit/grid.h>
#include <rarebit/io.h>
#include <rarebit/json.h>
#include <rarebit/patches.h>
#include <rarebit/plot.h>
#include <rarebit/rarebit.h>
#include <rarebit/segments.h>
#include <rarebit/stack.h>

#include <jansson.h>
#include <stdio.h>

/* What a function gives that has no other use for an int; all but STATUS_DONE after a message. */
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };
enum { MAX_ARGUMENTS = 3, MAX_GROUPS = 8, MAX_EXAMPLES = 5, MAX_PLACES = 8 };

/* ---- commands (commands.c) ---- */

typedef struct argument {
    const char *name; /* "MODEL"; "IMAGE...", last, takes one or more; NULL ends the list */
    const char *help;
    bool optional;
} argument;

#define MODEL_ARGUMENT                                                                             \
    { "MODEL", "a model that 'rarebit fit' wrote", false }
#define DATA_ARGUMENT                                                                              \
    { "DATA", "samples x features, in any format that fit reads", false }

/* How rows of options begin that only the tool reads; the text's argument, or the flag's help,
 * comes next. */
#define TEXT_OPTION(name) name, 0, RB_OPTION_TEXT, 0, NULL, 0, 0, NULL
#define OUTPUT_OPTION "output", 'o', RB_OPTION_TEXT, 0, NULL, 0, 0, NULL
#define FLAG_OPTION(name) name, 0, RB_OPTION_FLAG, 0, "false", 0, 0, NULL, NULL

/* Options that stand together under a heading in the help. */
typedef const rb_option_group *(*option_group)(void);

typedef struct example {
    const char *purpose; /* NULL ends the list */
    const char *line;    /* without "rarebit"; METHOD stands for the method's name */
} example;

/* An output that has only one format: names that say another one would mislead who reads it. */
typedef struct fixed_format {
    const char *option, *what, *suffix; /* "map", "states are written as text with tabs", ".tsv" */
} fixed_format;

typedef struct invocation invocation;

typedef struct command {
    const char *words;       /* "plot history" */
    const char *heading;     /* where `rarebit help` lists it (commands.c); NULL: nowhere */
    const char *summary;     /* one line, without a full stop */
    const char *description; /* messages */
    argument arguments[MAX_ARGUMENTS + 1];
    /* The options that it has of a method, which is NULL where a command is of none; NULL: those of
     * a fit. Of "fit" and "select" there is one command per method. */
    rb_error (*options_new)(rb_context *ctx, const char *method, rb_options **options);
    const char *output;   /* how usage names what -o must say: "MODEL"; NULL: -o may be missing */
    const char *required; /* other options that must be given: "unit"; NULL: none */
    option_group groups[MAX_GROUPS + 1]; /* NULL at the end; those of a method come before */
    rb_option_group own;                 /* its own options, after so many of the groups */
    int own_after;
    example examples[MAX_EXAMPLES + 1];
    const char *without; /* options of shared tables that it has no use for; NULL: none */
    const char *reads;   /* options that name files to read: "truth labels"; NULL: none */
    const char *writes;  /* options that name files to write; NULL: "output" */
    fixed_format fixed;  /* of one of them; option NULL: of none */
    /* Can another output have such a name? By its suffix, before the work. NULL: any name. */
    rb_error (*check_output)(rb_context *ctx, const char *path);
    const char *adds_to; /* ".h5ad": a last argument of this suffix may be the output too */
    const char *drawn;   /* an option whose default the command draws at random; or NULL */
    /* A plot: what draws the model alone, or the model with data. */
    rb_error (*plot)(rb_context *ctx, const rb_model *model, const rb_options *options,
                     const char *path);
    rb_error (*plot_data)(rb_context *ctx, const rb_model *model, rb_source *source,
                          const rb_options *options, const char *path);
    int (*run)(invocation *call); /* the status to exit with */
    bool together;                /* several processes run it together; else they are refused */
    const rb_method *method;      /* fit: filled by commands_new */
    rb_option *rows;              /* its options, by command_fill; the last has no name */
    /* tool/without: a library that is not built, and the words of its commands and methods. */
    const char *library, *brings;
} command;

/* All commands; one "fit NAME" and "select NAME" for each method that the context knows. NULL: out
 * of memory. */
typedef struct command_list {
    int count, listed; /* the first `listed` are in help, man pages and completion */
    command entries[];
} command_list;

command_list *commands_new(rb_context *ctx);
void commands_free(command_list *list);
/* The command whose words begin argv, which are *used; NULL: there is none. */
const command *commands_find(const command_list *list, int argc, char **argv, int *used);
/* Finds the rows of a command of a list, but for those named in `without`: for who runs or explains
 * it. False: out of memory. */
bool command_fill(rb_context *ctx, const command *c);
/* A handle with the options of a command; those that it does not offer too. */
rb_error command_options(rb_context *ctx, const command *c, rb_options **options);
/* The commands of one first word, which stand together. */
typedef struct verb {
    const command *first; /* of `count` */
    int length, count;    /* length: of the word */
    const char *argument; /* " METHOD" or " WHAT", where commands have two words; or "" */
    const char *summary;
} verb;
/* Those that begin at an index; the next ones begin v->count later. False: there are no more. */
bool commands_verb(const command_list *list, int from, verb *v);
/* Those of two words of which `word` is the first ("plot"). False: there are none. */
bool commands_family(const command_list *list, const char *word, verb *v);
/* What the second word of a command says: the title of its method; or else the summary. */
const char *command_title(const command *c);

/* The library that brings a command or method of this name and is not built; or NULL. */
const char *commands_library(const char *word);
/* Says that there is no such command, and which is near; second: of two words, or NULL. */
int commands_unknown(const command_list *list, const char *first, const char *second);

/* ---- a command line that was read (arguments.c) ---- */

struct invocation {
    rb_context *ctx;
    const command_list *commands;
    const command *command;
    int argc; /* as the program was started: for the record in a model */
    char **argv;
    const char **arguments; /* n_arguments, then NULL for those not given */
    int n_arguments;
    char *joined; /* one of them, of several files; or NULL */
    rb_options *options;
    struct sample_table **tables; /* the list of those read so far (sample_tables.c) */
    bool wants_help;
};

/* Reads the words after the command. */
int invocation_read(invocation *call, int argc, char **argv);
void invocation_clear(invocation *call);
bool option_was_given(const invocation *call, const char *name);
/* The value of an option: a text, or NULL when it is not set; has it this value; a flag; a whole
 * number. */
const char *option_text(const invocation *call, const char *name);
bool option_is(const invocation *call, const char *name, const char *value);
bool option_flag(const invocation *call, const char *name);
int64_t option_integer(const invocation *call, const char *name);
/* Refuses an option of these rows that is given without the text that it needs. The rows of a
 * command itself are looked at before it runs. */
int check_needs(const invocation *call, const rb_option *rows);
/* Refuses the options of these groups, of which NULL is the last, where they are given: "--NAME"
 * and why. */
int refuse_options(const invocation *call, const option_group *groups, const char *why);

int check_places(const invocation *call); /* refuses outputs that are an input or another output */
int check_kinds(const invocation *call);  /* data where a model is wanted, and a model for data */
bool is_model(rb_context *ctx, const char *path); /* a model that can be loaded */
/* beside.c: the table that a library's function gives, which is loaded; NULL: it is not there. */
const void *table_beside(const char *library, const char *function);

/* processes.c: meets the other processes that a launcher has started, where there are any. */
int processes_begin(rb_context *ctx);
/* Is this the process that talks and writes? */
bool processes_lead(void);
bool processes_alone(void);                  /* is there no other? */
int processes_check(const invocation *call); /* refuses what they do not run together */
int processes_threads(void);  /* of each, where nothing is said; 0: one per processor */
int64_t processes_seed(void); /* one for all */
void processes_parted(void);  /* all came out of rb_fit: none waits for another from here on */
/* The status to exit with: of all processes, if one of them failed. */
int processes_end(rb_context *ctx, int status);

const rb_option_group *device_group(void);
/* device.c: what librarebit-cl offers; NULL: it is not there. */
const struct rb_cl_functions *device_library(void);
/* The device that --device asks for, for the context of the call; NULL: none. */
int device_begin(const invocation *call, rb_device **device);
void device_end(const invocation *call, rb_device *device);

/* From here on report_failure asks that first, once. NULL: no longer. */
void report_explain(const invocation *call);

/* ---- output (output.c) ---- */

/* A file to be written by the library. "-" and devices (/dev/null, a named pipe) are written to a
 * temporary file first and copied, since the library makes files appear by renaming. */
typedef struct output {
    const char *target; /* as the user has it */
    const char *path;   /* where the library is to write */
    char *folder;       /* temporary; NULL: none */
    char *temporary;    /* in the folder */
    rb_context *ctx;    /* with staged */
    rb_staged *staged;  /* of output_begin_own; or NULL */
} output;

/* "-", a device or a pipe: something that no file can be renamed to. */
bool output_is_stream(const char *target);
const char *output_shown(const char *target); /* what messages call it */
/* Begins an output. suffix ("tsv") is used for "-" and devices without one. */
int output_begin(output *out, const char *target, const char *suffix);
/* The same for a file that the command writes itself, at out->path. */
int output_begin_own(output *out, rb_context *ctx, const char *target, const char *suffix);
/* The same, filled: what was begun is to be ended unless there was a message. */
typedef rb_error (*output_filler)(rb_context *ctx, FILE *file, const void *of);
int output_fill(output *out, rb_context *ctx, const char *target, output_filler fill,
                const void *of);
/* If all went well so far: copies to the device, if it is one, or lets the command's own file
 * appear. Frees in any case; the status. */
int output_end(output *out, int status);
int output_close_stdout(void); /* did everything reach stdout? */

/* What each phase of the context's work took, where --profile asks for it (profile.c). */
int report_profile(const invocation *call);

/* ---- options that commands share (shared.c) ---- */

const rb_option_group *general_group(void);
const rb_option_group *matrix_output_group(void); /* of matrices */
const rb_option_group *path_group(void);          /* of anything else */
const rb_option_group *json_group(void);
const rb_option_group *coding_group(void);
const rb_option_group *covariates_group(void); /* after it, where codes are made of data */
extern const option_group data_groups[];       /* all that is about data whose codes are made */
/* Does what the general options say, if the command has them. */
rb_error apply_general_options(const invocation *call);

/* Are missing values to be left to the model (--missing model or omit)? */
bool leaves_missing(const invocation *call);
/* Loads the model of the first argument, with the coding options that were given. */
rb_error load_model(const invocation *call, rb_model **model);

/* Of a stack, the layers up to the one that --layer names, if it is given; a plain model otherwise
 * is as it is. For commands that have layer_group. */
const rb_option_group *layer_group(void);
rb_error cut_layers(const invocation *call, rb_model **model);

/* Opens data with the call's reading options and says "N samples x M features"; model: what they
 * are for, or NULL. Where its fit was given --transpose or --dataset, so are they. */
rb_error open_data(const invocation *call, const rb_model *model, const char *path,
                   rb_source **source);
/* The reading options that were given, as a command line has them, each behind a blank. */
void put_reading(FILE *file, const invocation *call);
/* Does the work of a command MODEL DATA with both, or where DATA is optional, with the model and
 * NULL; check: of the model, before the data are opened, or NULL. */
int with_model_and_data(invocation *call,
                        rb_error (*check)(const invocation *call, const rb_model *model),
                        int (*work)(invocation *call, rb_model *model, rb_source *source));
/* Ends an output of the library's, which failed with an error or not. */
int finish_output(const invocation *call, output *out, rb_error err);

/* ---- tables of samples (sample_tables.c) ---- */

/* The table that `where` names, for a source (rarebit/annotations.h); NULL: the data's own. Its
 * file is read once, whoever asks. The table lives as long as the call. */
rb_error read_sample_table(const invocation *call, const char *where, const rb_source *source,
                           const rb_annotations **table);
void sample_tables_free(struct sample_table *list);
/* Classes, such as those of --labels. */
rb_error read_classes(const invocation *call, const char *where, const rb_source *source,
                      rb_classes *classes);
/* The same as the covariate of a table. */
rb_error read_labels(const invocation *call, const char *where, const rb_source *source,
                     rb_covariates **labels);
/* Binds the covariates of these names ("batch,age"; NULL or "": none) from --covariates, or from
 * the data's own file. RB_ERROR_ARGUMENT also where the option does nothing. */
rb_error read_covariates(const invocation *call, const char *names, rb_source *source);

/* The name of a column that a model makes; free it. */
typedef char *(*column_namer)(const rb_model *model, int64_t column);
/* Of its features, where samples are written; NULL: they have no names (reconstruct.c). */
column_namer feature_namer(const rb_model *model);

/* ---- matrices as results (results.c) ---- */

/* What a model makes of data, block by block. */
typedef struct row_maker {
    rb_error (*make)(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                     void *user);
    int64_t columns;
    column_namer namer; /* NULL: the columns have no names */
    /* Instead of make, rows that are not those of samples: so many, as the call's options say, and
     * without names. The source may be NULL. */
    rb_error (*draw)(rb_context *ctx, const rb_model *model, rb_source *source,
                     const rb_options *options, rb_rows_fn fn, void *user);
    int64_t rows;
} row_maker;

/* A second output that is written already, and appears with the first or not at all; empty: there
 * is none. From before the first one appears until pair_end, signals wait. */
void pair_hold(const output *second);
/* Lets it appear, if all went well so far; the status. */
int pair_end(output *second, int status);

/* Writes the rows to -o of the call. */
int write_rows(invocation *call, const rb_model *model, rb_source *source, const row_maker *maker,
               output *second);
/* Writes a source or a matrix, with names, to -o of the call or to another target. */
int write_source(invocation *call, rb_source *source, const char *target);
int write_matrix(invocation *call, const rb_matrix *matrix, const char *target);

/* ---- what a fit reads and records (record.c) ---- */

enum { MAX_FIT_FILES = 8 };
/* The numbers of options that name a file in place of a number. Zero-initialise. */
typedef struct fit_files {
    rb_matrix *matrices[MAX_FIT_FILES];
} fit_files;

/* Reads them, and hands them to the options, which need them as long as they are used. */
rb_error read_fit_files(rb_context *ctx, rb_options *options, fit_files *files);
void free_fit_files(fit_files *files);

/* Files as they were named: the data, the model to start from; and that whose data lie as these.
 * NULL: there is none. */
typedef struct fit_record {
    const char *data, *init;
    const rb_model *alike;
} fit_record;

/* What reading options that were given are recorded as, before their name. */
#define READING_ATTRIBUTE "reading_"

/* The command line, quoted so that a shell reads it back; free it. */
char *command_line(int argc, char **argv);

/* Has pictures and HDF5 files that are written from here on say where they come from: version,
 * command, seed, and what is known of model and data (either may be NULL), which are read for their
 * checksum. */
rb_error name_origin(const invocation *call, const rb_model *model, rb_source *source);

/* Records the command line, and writes the model. */
rb_error save_fit(const invocation *call, rb_model *model, const fit_record *record,
                  const char *path);

/* A seed that a person can copy (fit.c). */
int64_t draw_seed(void);

/* Removes the checkpoint of a model that was written, unless its fit may go on. NULL: none. */
void remove_checkpoint(const char *path, const rb_model *model);

/* ---- memory (memory.c) ---- */

/* "11 MB", "1.2 GB" */
void size_text(double bytes, char *buffer, size_t size);
/* Says what a large fit will need, and refuses what the machine does not have; data that are read
 * block by block count in full, sparse ones as nothing. of: rb_fit_memory or rb_stack_memory. */
int check_memory(const invocation *call, const rb_source *source,
                 rb_error (*of)(rb_context *ctx, const rb_options *options, const rb_source *source,
                                int64_t *bytes));

/* ---- the log of a fit (fit_log.c) ---- */

/* A line of JSON for each iteration. */
typedef struct fit_log {
    rb_context *ctx;
    const char *path; /* NULL: none */
    bool goes_on;     /* lines of the iterations before the first one stay */
    FILE *file;
    bool begun; /* a line was written */
    bool old;   /* the file was there before, and is cut when the first line comes */
    bool made;  /* it was not, and goes again when no line comes */
    bool failed;
} fit_log;

/* Opens the file, so that one that cannot be written is told before the work; what is in it stays
 * until an iteration is done, for a fit that is refused has nothing to write. */
int fit_log_begin(fit_log *log);
void fit_log_iteration(fit_log *log, const rb_progress *progress);
int fit_log_end(fit_log *log);

/* From here to watch_end progress is shown, and the first signal stops what runs: by a function of
 * the caller's; NULL: shown alone, or with `user`, a fit_log, written there as well. */
void watch_begin(const invocation *call, rb_progress_fn on_progress, void *user);
void watch_end(const invocation *call);

/* ---- words (words.c) ---- */

/* The nearest of the words to a mistyped one, or NULL when none is near. */
typedef struct nearest {
    const char *typed;
    const char *word;
    int distance;
} nearest;
void nearest_offer(nearest *best, const char *word);
/* Prints text in lines of at most `width` columns, each after `indent` blanks; the first line goes
 * on at `column`. */
void print_wrapped(FILE *file, const char *text, int column, int indent, int width);
/* Is the word one of "shape labels"? NULL has no words. */
bool among_words(const char *words, const char *word);
bool has_suffix(const char *path, const char *suffix);
/* A word of a command line, quoted so that a shell reads it back. */
void put_word(FILE *file, const char *word);

/* ---- messages (messages.c) ---- */

/* Blanks for control characters, which would write elsewhere on a terminal. */
void put_plain(char *text);
/* The library names options between backquotes: `eta`, `estep=newton`, `trace=true`. They become
 * what can be typed: --eta, --estep newton, --trace. Messages on stderr have this done to them. */
void put_options(char *text);
/* "rarebit: message" on stderr, always one line. Gives back STATUS_FAILED, or STATUS_USAGE. */
int report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int report_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* rb_context_fail with a format. */
rb_error fail(rb_context *ctx, rb_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
rb_error fail_memory(rb_context *ctx);
/* Says the context's message; the status for the error, STATUS_DONE where there is none. */
int report_failure(const rb_context *ctx, rb_error error);
/* A line for the user on stderr, unless --quiet. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_quietly(bool quiet);
/* Nothing at all is said; the last error that would have been. */
void report_silently(bool silent);
const char *report_last(void);
/* Says how far a fit is, unless --quiet: a line that is rewritten at a terminal, elsewhere a line a
 * minute (progress.h). */
void report_progress(const rb_progress *progress);
void report_progress_end(void);
/* Says that a signal ended the program, and from which checkpoint the same command goes on (NULL:
 * none): for a signal handler. */
void report_interrupted(const char *checkpoint, bool written, bool resumable);
/* Shows the library's log messages, each message once. */
void report_log(rb_log_level level, const char *message, void *user);

/* ---- Ctrl-C (interrupt.c) ---- */

/* SIGINT, SIGTERM and SIGHUP remove what is half written and end the program with 128 and their
 * number; SIGPIPE does it silently. */
void interrupt_install(void);
/* From here on the first signal only makes interrupted() true and stops what the context runs, if
 * it is not NULL; the second one ends the program. */
void interrupt_gently(rb_context *ctx);
/* Ends the program in so many seconds with that status, and this line on stderr or without a word;
 * 0: not at all. */
void interrupt_later(unsigned seconds, const char *line, int status);
bool interrupted(void);
int interrupt_status(void); /* what the program then returns: 130 for Ctrl-C */
/* The file of --checkpoint, or NULL: named at an interruption if it is there by then. */
void interrupt_keeps(const char *checkpoint);
/* A checkpoint would keep what comes now, whether one was given or not. */
void interrupt_resumable(void);
/* Says that the program was interrupted, and what is kept. */
void interrupt_tell(void);
/* Something was written that stays: a message must not say otherwise. */
void interrupt_wrote(void);
/* A temporary file or folder that a signal is to remove was made, or is gone. */
void interrupt_temporary(const char *path, bool there);
/* In between, signals that end the program wait: for what must happen whole or not at all. */
void interrupt_hold(void);
void interrupt_release(void);

/* ---- consensus (consensus.c) ---- */

/* Says how stable the units of a consensus are. */
void report_consensus(const rb_model *model, int64_t most);

/* ---- JSON (json.c) ---- */

/* Adds where a result comes from (rb_provenance). */
rb_error json_add_provenance(rb_context *ctx, json_t **to, const rb_model *model,
                             rb_source *source);
/* Writes it on one line and frees it; RB_ERROR_MEMORY when it could not be made. */
rb_error json_put(rb_context *ctx, FILE *file, json_t *json);
/* The same of an object, with where it comes from. */
rb_error json_put_from(rb_context *ctx, FILE *file, json_t *json, const rb_model *model,
                       rb_source *source);

/* ---- tables of results (table.c, table_print.c) ---- */

typedef struct result_table {
    const char *columns; /* "unit set p_value", the keys of every row in their order */
    int64_t rows;
    json_t *(*row)(const void *of, int64_t row); /* an object, to be freed; NULL: out of memory */
    const void *of;
    const char *key;    /* of the rows in JSON; NULL: "rows" */
    const json_t *head; /* what JSON has before them; NULL: nothing */
} result_table;

/* Does the name say a format, .tsv or .json, or is it a device, which takes TSV? */
bool table_format_known(const char *target);
rb_error table_check(rb_context *ctx, const char *path); /* refuses another one */
/* Begins an output and writes the table to it, to be ended with output_end unless this fails. */
int table_begin(invocation *call, output *out, const char *target, const result_table *table);
/* Writes all of it, and says how many of what it has. */
int table_write(invocation *call, const char *target, const result_table *table, const char *noun);

/* Some columns of a table of the library. */
typedef struct table_view {
    rb_table table;
    const rb_model *model; /* whose features it names; may be NULL */
    char keys[256];
} table_view;

/* keys: those of the columns with blanks between, of which what the table leaves out is none; NULL:
 * all that files have. */
table_view view_table(rb_table table, const rb_model *model, const char *keys);
/* Its rows as those of a file; valid as long as the view. */
result_table view_rows(const table_view *view);
/* Both at once, as an array. */
json_t *view_json(rb_table table, const rb_model *model, const char *keys);
/* A table of the library as what a command answers. */
typedef struct table_answer {
    rb_table table;
    const char *key;   /* of its rows in JSON */
    json_t *head;      /* what JSON has besides, freed by table_deliver; NULL: out of memory */
    const char *noun;  /* what a row is: "units" */
    const char *shown; /* the keys of the columns at the terminal; NULL: all */
} table_answer;

/* Writes it to --output, prints JSON with --json, and else the table where there is no output. The
 * status. */
int table_deliver(invocation *call, const table_answer *answer, rb_source *source);
/* The key at *keys, which moves behind it; false: there is none. */
bool next_key(const char **keys, char key[32]);
/* Prints these rows, of which there are so many, to read; NULL: all. */
void view_print(const table_view *view, const int64_t *rows, int64_t count);

/* ---- help, man pages, completion ---- */

void help_overview(FILE *file, const command_list *list);
void help_family(FILE *file, const verb *v);
/* all: with the options that few need. */
void help_command(FILE *file, const command *c, bool all);
/* Walks the options in the order of help and man pages, with their headings: group by group; where
 * there are options for research, the common ones come before, and those at the end. */
typedef struct option_walk {
    FILE *file;
    void (*heading)(FILE *file, const char *title);
    void (*option)(FILE *file, const command *c, const rb_option *row);
    bool (*takes)(const void *of, const rb_option *row); /* NULL: every option */
    const void *of;
} option_walk;
void walk_options(const command *c, const option_walk *walk);
/* "default 0.1; above 0 and at most 1"; "" when there is nothing to say. */
void describe_values(const command *c, const rb_option *row, char *buffer, size_t size);
/* What comes before its name: "--", or "--no-" of a flag that is on by itself. */
const char *option_dashes(const rb_option *row);
/* An example's command line with the method's name put in. */
void example_line(const command *c, const char *line, char *buffer, size_t size);
/* Usage without "rarebit": "fit rfn DATA -o MODEL [OPTIONS]". */
void usage_line(const command *c, char *buffer, size_t size);

/* "rarebit-fit" and its page; v NULL: "rarebit" */
void manual_name(const verb *v, char *buffer, size_t size);
void manual_page(FILE *file, const command_list *list, const verb *v);
void completion_bash(FILE *file, const command_list *list, const verb *v); /* v is not looked at */
void completion_zsh(FILE *file, const command_list *list, const verb *v);

/* ---- the commands: one file each ---- */

extern const command fit_command, stack_command, encode_command, reconstruct_command,
    evaluate_command, modules_command, compare_command, consensus_command, plot_history_command,
    plot_codes_command, plot_filters_command, plot_modules_command, info_command, convert_command,
    simulate_biclusters_command, simulate_bars_command, simulate_cells_command, plot_fields_command,
    plot_quality_command, plot_evidence_command, patches_command, segments_command, denoise_command,
    devices_command, version_command, help_command_row, generate_command, select_command,
    merge_command, check_command, rerun_command, report_command, finetune_command, predict_command,
    export_command, import_command, methods_command, sample_command, plot_samples_command,
    plot_unit_command;

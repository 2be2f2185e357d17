/* The face of src/base: context, memory, threads, random numbers. */
#ifndef RB_BASE_H
#define RB_BASE_H

#include <rarebit/comm.h>
#include <rarebit/options.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

struct rb_pool;
struct rb_kernels;
struct rb_method;
struct rb_checkpoint_store;
struct rb_device;

/* A file while it is read: what its content has taken in memory so far (reading.c). */
typedef struct rb_reading {
    const char *path;
    int64_t file_bytes;
    double taken;
    int descriptor;           /* open since somebody looked at it; -1: not yet */
    struct rb_reading *outer; /* the file in whose reading this one is read, or NULL */
} rb_reading;

struct rb_context {
    char message[1024];
    int64_t failures;     /* error messages so far: tells whether a callback left one */
    struct rb_pool *pool; /* NULL: one thread */
    int threads;
    int blas_threads; /* for which there was memory: rb_blas_need_memory */
    bool blas_told;   /* that the BLAS has slower kernels than the processor */
    rb_progress_fn on_progress;
    void *progress_user;
    rb_log_fn on_log;
    void *log_user;
    rb_temporary_fn on_temporary;
    void *temporary_user;
    const struct rb_kernels *kernels;            /* src/linalg */
    const struct rb_method *const *methods;      /* NULL-terminated; from src/methods.c */
    const struct rb_method *const *made_methods; /* likewise: of models that are put together */
    const struct rb_method **added_methods; /* by rb_context_add_method; NULL-terminated or NULL */
    const struct rb_checkpoint_store *checkpoints; /* src/em; by rb_io_use, or NULL */
    double max_expansion;
    double min_shared;   /* rb_context_set_min_shared */
    int first;           /* rb_context_count_from */
    char *command;       /* what results say they come from, or NULL */
    char *provenance;    /* likewise, what they hold, as JSON; or NULL */
    rb_reading *reading; /* the file that is being read, or NULL */
    const struct rb_engine
        *engine; /* tests: who works on blocks, not the method's first; or NULL */
    const struct rb_device *device; /* rb_context_set_device; or NULL */
    struct rb_device_work *work;    /* of the fit at hand on it; or NULL */
    rb_comm comm;                   /* rb_context_set_comm; ranks 0: one process */
    void *chunk;                    /* what comes from a partner; NULL: there is none */
    bool lost;                      /* a partner cannot be reached */
    double waited;                  /* seconds, for other processes */
    rb_error agreed;                /* the last verdict of rb_comm_agree, until it is dealt with */
    int64_t allocations_left;       /* tests: this many succeed; below 0: no limit */
    atomic_bool stop;               /* rb_context_stop was called */
    struct rb_profile *profile;     /* NULL: nothing is measured */
    /* Of a context made by rb_context_child: whoever stops that one stops this one. */
    const struct rb_context *parent;
};

/* Keeps the message in the context and returns the code: `return rb_fail(ctx, RB_ERROR_DATA,
 * ...)`. A message says what is wrong, where, and what to do. */
rb_error rb_fail(rb_context *ctx, rb_error code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is a struct of a caller, that begins with its size, the one that the library knows? what: "the
 * method". RB_ERROR_ARGUMENT. */
rb_error rb_size_check(rb_context *ctx, const char *what, size_t size, size_t expected);

/* Puts "prefix" before the message that is there: for a caller that knows the file or the step. */
void rb_fail_prefix(rb_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* RB_ERROR_ARGUMENT for a type that is none: what every public function that is given one asks. */
rb_error rb_check_type(rb_context *ctx, rb_type type);

/* Has the program asked to stop? RB_ERROR_STOPPED and a message, or RB_OK. Asked before each block
 * of samples, and within work on all samples that takes long. */
rb_error rb_check_stop(rb_context *ctx);
bool rb_asked_to_stop(const rb_context *ctx);

/* The number that messages give the sample, feature or unit of an index from 0. */
int64_t rb_nth(const rb_context *ctx, int64_t index);
/* " (counted from 0)", as it is, or "" where names say which are meant. */
const char *rb_counted(const rb_context *ctx, bool named);

/* Hands a message to the log callback, if there is one. */
void rb_log(rb_context *ctx, rb_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- memory ---- */

/* count * size bytes, aligned to 64, not initialised; NULL and a message when the product
 * overflows or memory is out. A count of 0 gives a valid pointer. Free with rb_free. */
void *rb_alloc(rb_context *ctx, int64_t count, size_t size);
/* The same, of zeros; NULL also when the program asks to stop, which rb_check_stop then says. */
void *rb_alloc_zero(rb_context *ctx, int64_t count, size_t size);
/* As rb_alloc, keeping the first old_count entries; on failure the old memory stays. */
void *rb_grow(rb_context *ctx, void *old, int64_t old_count, int64_t count, size_t size);
/* Memory for `more` entries behind those in use: the old one, or a larger one by rb_grow, of at
 * least twice the capacity, which is set; NULL: as rb_grow. */
void *rb_reserve(rb_context *ctx, void *old, int64_t used, int64_t more, int64_t *capacity,
                 size_t size);
void rb_free(void *memory);
/* Bytes that may still be taken before the machine, or the control group of the process, runs
 * short; 0: unknown, or the process has a limit of its own (ulimit). */
double rb_memory_free(void);
/* Memory that is used again and again; zero-initialise, and free `data`. */
typedef struct rb_buffer {
    void *data;
    int64_t capacity; /* values, all of one size */
} rb_buffer;
/* Makes it hold `count` values of `size` bytes at least, with those that are in it. */
rb_error rb_buffer_hold(rb_context *ctx, rb_buffer *buffer, int64_t count, size_t size);
/* As rb_alloc, with what is at `from`. */
void *rb_copy(rb_context *ctx, const void *from, int64_t count, size_t size);
char *rb_copy_text(rb_context *ctx, const char *text);

/* Arrays of one function or one struct, freed together. `err` is why one of them, and all after it,
 * could not be had; what follows may put its own there.
 *
 *     rb_scratch scratch = {.ctx = ctx};
 *     double *sums = rb_take(&scratch, count, sizeof *sums);
 *     ...
 *     return rb_scratch_end(&scratch); */
typedef struct rb_scratch {
    rb_context *ctx;
    rb_error err;
    union rb_piece *last;
} rb_scratch;
void *rb_take(rb_scratch *scratch, int64_t count, size_t size); /* zeros, or NULL */
rb_error rb_scratch_end(rb_scratch *scratch);                   /* gives err; may come twice */

/* ---- files that expand: the limit of rb_context_set_max_expansion ---- */

/* Until rb_reading_end, what rb_alloc gives counts as content of the file (or of all files in the
 * folder) at `path`; more than is allowed is out of memory, with a message of its own. Every
 * public call that reads a file begins with it. Nothing has to be given back on failure but the
 * end. */
void rb_reading_begin(rb_context *ctx, rb_reading *reading, const char *path);
void rb_reading_end(rb_context *ctx);
/* Opens a file for reading, at its beginning; below 0: errno says why not. The file that is being
 * read is opened once, however often its format and content are looked at: who asks again gets
 * another descriptor of it, whose place in the file is the same. */
int rb_reading_open(rb_context *ctx, const char *path);
/* RB_ERROR_MEMORY and the message when that many bytes would be too many for the file being read;
 * nothing is counted. For what others will allocate: libraries, and who uses the content. */
rb_error rb_reading_check(rb_context *ctx, double bytes);
/* How many bytes a file of that size may take. */
double rb_expansion_allowed(const rb_context *ctx, int64_t file_bytes);
/* As rb_reading_check for a file that is named. */
rb_error rb_expansion_check(rb_context *ctx, const char *path, int64_t file_bytes, double bytes);
/* The size of a file, or of the files in a folder; 0 when there is none, or a pipe. A file with
 * holes is as large as it says: file systems that compress show the same. */
int64_t rb_file_size(const char *path);
bool rb_is_regular(const char *path);                 /* a file, no folder, pipe or device */
bool rb_reading_take(rb_context *ctx, int64_t bytes); /* for rb_alloc */

static inline int64_t rb_smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}
/* a * b, or false when it does not fit into int64_t. Both at least 0. */
bool rb_multiply(int64_t a, int64_t b, int64_t *product);

/* ---- several processes (comm.c) ---- */

int rb_ranks(const rb_context *ctx); /* 1 without others */
int rb_rank(const rb_context *ctx);
int rb_ranks_here(const rb_context *ctx); /* that share this machine, this one among them */
/* What all processes have becomes the same in all: fn puts `count` values of a partner on top of
 * those here, in a way that gives both the same. Nothing happens where there is one process. */
typedef void (*rb_combine_fn)(int64_t count, void *mine, const void *theirs);
void rb_comm_combine(rb_context *ctx, void *values, int64_t count, size_t size, rb_combine_fn fn);
void rb_add_all(int64_t count, void *mine, const void *theirs); /* float64 */
void rb_comm_add(rb_context *ctx, int64_t count, double *values);
void rb_comm_max(rb_context *ctx, int64_t count, double *values);
void rb_comm_count(rb_context *ctx, int64_t count, int64_t *values); /* added */
/* RB_ERROR_ARGUMENT in all, unless all have the same numbers, at most 6. message: NULL where these
 * tell of the data. */
rb_error rb_comm_same(rb_context *ctx, int count, const double *values, const char *message);
/* Those of process `from` come to the first one. */
void rb_comm_bring(rb_context *ctx, int from, void *data, size_t bytes);
/* Those of the process `root` come to all. */
void rb_comm_broadcast(rb_context *ctx, int root, void *data, size_t bytes);

/* ---- threads ---- */

/* Runs task(arg, index, worker) for index = 0 .. count - 1 on the context's threads, the caller
 * among them; returns when all are done. worker < rb_context_threads(ctx): for scratch memory.
 * Which worker takes which index is not fixed: a task's result must depend on its index alone. */
typedef void (*rb_task)(void *arg, int64_t index, int worker);
void rb_parallel(rb_context *ctx, int64_t count, rb_task task, void *arg);
/* The same, without the tasks that have not begun when the program asks to stop: RB_ERROR_STOPPED
 * then, and nothing that the tasks made is of use. */
rb_error rb_parallel_or_stop(rb_context *ctx, int64_t count, rb_task task, void *arg);

/* A job that a thread does while the caller goes on: for reading ahead. Zeros at first; start and
 * wait are called in turn. Where no thread can be had, start does the job itself. */
typedef struct rb_background {
    pthread_t thread;
    bool running;
    void (*job)(void *arg);
    void *arg;
} rb_background;
void rb_background_start(rb_background *background, void (*job)(void *arg), void *arg);
void rb_background_wait(rb_background *background);

/* ---- random numbers ---- */

/* Random numbers by counter: a value depends on (seed, purpose, index) alone, never on the order of
 * calls. Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011). Every purpose is listed here. */
typedef enum rb_purpose {
    RB_RANDOM_LOADINGS = 1,
    RB_RANDOM_SIMULATE = 2,
    RB_RANDOM_PATCHES = 3,
    RB_RANDOM_FIELD_NOISE = 4,
    RB_RANDOM_LANCZOS = 5,
    RB_RANDOM_INPUT_NOISE = 6,
    RB_RANDOM_DROPOUT = 7,
    RB_RANDOM_COMPARE = 8,
    RB_RANDOM_SHUFFLE = 9,
    RB_RANDOM_FOLDS = 10,
    RB_RANDOM_ENTRIES = 11,
    RB_RANDOM_PERMUTE = 12,
    RB_RANDOM_ROTATE = 13,
    RB_RANDOM_CHECK = 17,
    RB_RANDOM_REPLICATE = 21,
    RB_RANDOM_CORRUPT = 31,
    RB_RANDOM_HIDDEN = 32,
    RB_RANDOM_VISIBLE = 33,
    RB_RANDOM_NET_START = 41,
    RB_RANDOM_NET_ORDER = 42,
    RB_RANDOM_NET_MASK = 43,
    RB_RANDOM_NET_DROP = 44,
    RB_RANDOM_SAMPLE_CODES = 61,
    RB_RANDOM_SAMPLE_NOISE = 62,
    RB_RANDOM_CRITICAL = 71,
    RB_RANDOM_SWEEP = 81
} rb_purpose;

typedef struct rb_stream {
    uint64_t seed;
    uint32_t purpose;
    uint32_t restart;
} rb_stream;

double rb_random_uniform(rb_stream stream, uint64_t index); /* in [0, 1) */
double rb_random_normal(rb_stream stream, uint64_t index);  /* mean 0, sd 1 */

/* Bits by the million, for passes over samples: each pass has a key of its own, and a word depends
 * on key, row and position alone. The kernel random_row (src/linalg) gives a row of them fast. */
enum { RB_RANDOM_RUN = 64 }; /* positions that share a run of counters */
uint64_t rb_random_key(rb_stream stream, uint64_t index);
uint32_t rb_random_word(uint64_t key, uint64_t row, uint64_t position);

/* Draws in a row, for generators: `next` is the counter. */
typedef struct rb_draws {
    rb_stream stream;
    uint64_t next;
} rb_draws;

double rb_draw_uniform(rb_draws *draws);
double rb_draw_normal(rb_draws *draws);
int64_t rb_draw_integer(rb_draws *draws, int64_t low,
                        int64_t high); /* low .. high, ends included */
/* 0 .. count - 1 in random order (Fisher and Yates). */
void rb_draw_order(rb_draws *draws, int64_t count, int64_t *order);

/* ---- order (sort.c) ---- */

/* Ascending. */
void rb_sort_numbers(double *values, int64_t count);
void rb_sort_integers(int64_t *values, int64_t count);
/* Moves what is smaller than number k to its left and what is larger to its right. */
void rb_place_number(double *values, int64_t count, int64_t k);
/* Linear between neighbours, as numpy has it; NaN of no values. */
double rb_quantile_of(const double *sorted, int64_t count, double share);
/* The same of numbers in any order, which it changes; in time that grows with their count alone. */
double rb_quantile_in(double *values, int64_t count, double share);
/* The numbers of float64 in their order, counted from the middle: 0 is 0. */
double rb_numbered(int64_t number);

/* ---- text; always with a decimal point, whatever the locale ---- */

/* Reads a decimal number at the start of text[0 .. end): the rounding of strtod in the "C" locale,
 * whatever the locale is. Returns the end of the number, or NULL when there is none. A number
 * beyond the range of float64 becomes infinite. */
const char *rb_number_scan(const char *text, const char *end, double *value);

/* snprintf in the "C" locale. */
int rb_print(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rb_print_list(char *buffer, size_t size, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

/* A number as text that reads back to the same bits, of 15 digits or of 17; its length. */
enum { RB_SHORTEST = 32 };
int rb_print_shortest(char text[RB_SHORTEST], double value);

/* Reads a number that may end in k, M or G. */
bool rb_parse_number(const char *text, double *value);
/* Reads a time: "90", "90s", "1.5m", "2h", "1d". *has_unit: a letter followed the number. */
bool rb_parse_seconds(const char *text, double *seconds, bool *has_unit);

/* Reads "28x28" or "32x32x3": sizes of 1 to INT32_MAX. How many there are, or 0 for anything else
 * and for more than `max`. */
int rb_parse_shape(const char *text, int64_t *sizes, int max);

/* Reads "0:10": two finite numbers, the smaller first. */
bool rb_parse_range(const char *text, double *low, double *high);

/* Is it one of the names? NULL-terminated, or NULL. */
bool rb_among(const char *const *names, const char *name);

/* ---- option rows and the structs that they describe (rows.c) ---- */

/* Fills the struct with the defaults of the rows, or of one. */
void rb_row_default(const rb_option *row, void *fields);
void rb_rows_default(const rb_option *rows, void *fields);
/* Bytes of a field by its kind; 0: there is no such kind. */
size_t rb_row_bytes(const rb_option *row);
/* The row of a name ("eta") or NULL. */
const rb_option *rb_rows_find(const rb_option *rows, const char *name);
/* Sets one field from text, to which it may point. RB_ERROR_ARGUMENT names option, value and legal
 * range. */
rb_error rb_rows_set(rb_context *ctx, const rb_option *rows, void *fields, const char *name,
                     const char *value);
/* Checks every field against its range. */
rb_error rb_rows_check(rb_context *ctx, const rb_option *rows, const void *fields);
/* The value of a row as text; in scratch, of RB_ROW_TEXT bytes, unless the field has one. */
enum { RB_ROW_TEXT = 64 };
const char *rb_row_text(const rb_option *row, const void *fields, char *scratch);

/* ---- the options handle (options.c) ---- */

typedef struct rb_option_state rb_option_state;

typedef struct rb_option_part {
    const rb_option_group *key; /* who asks for the fields of this group gets these */
    rb_option_group group;
    void *fields;
    rb_option_state *states; /* one per row; NULL: all are set, and nothing is owned */
    rb_option *rows;         /* those of the group, where it has no struct; else NULL */
} rb_option_part;

enum { RB_OPTION_PARTS = 12 };

struct rb_options {
    const struct rb_method *method; /* whose options the first part has; or NULL */
    bool lists; /* numbers, choices and flags may be lists: a value for each layer of a stack */
    int n_parts;
    rb_option_part parts[RB_OPTION_PARTS];
};

/* Are the rows sound, and their defaults legal? */
rb_error rb_group_check(rb_context *ctx, const rb_option_group *group);
/* As rb_options_add, of a group that is sound. */
rb_error rb_options_add_part(rb_context *ctx, rb_options *options, const rb_option_group *group);
/* Names the options that are given, but do nothing with what the data have settled since (auto). */
void rb_options_warn_idle(rb_context *ctx, const rb_options *options);
/* Unsets what is set and does nothing, beside the others as they are. */
void rb_options_unset_idle(rb_options *options);
/* From here on there is no such option. */
void rb_options_hide(rb_options *options, const char *name);
/* Sets what is set in `from`, as far as there are such options in `to`, of the same group. */
rb_error rb_options_set_as(rb_context *ctx, const rb_options *from, rb_options *to);
/* From here on values may be lists between commas, one for each layer; texts and files are not. */
void rb_options_take_lists(rb_options *options);
/* The length of the lists; 1: there are none. Refuses lists of different lengths. */
rb_error rb_options_items(rb_context *ctx, const rb_options *options, int64_t *count);
/* Sets the option of that name in `to` to its index-th value, or the one for all, if it is set. */
rb_error rb_options_set_item(rb_context *ctx, const rb_options *from, const char *name,
                             int64_t index, rb_options *to);
/* Fills the struct of a group from a handle, or with its defaults where that is NULL or has no such
 * group, and checks it. */
rb_error rb_options_take(rb_context *ctx, const rb_options *options, const rb_option_group *group,
                         void *fields);
/* A copy in which the rules have given their values to what was not set, but to those in `but`
 * (NULL-terminated, or NULL), and that is checked. The original must outlive it. */
rb_error rb_options_ready(rb_context *ctx, const rb_options *options, const char *const *but,
                          rb_options **ready);

/* ---- CRC-32, as gzip has it (crc32.c) ---- */

/* Constants of the calculation, made by rb_crc32_prepare in some microseconds; then only read. */
typedef struct rb_crc32 {
    uint32_t tables[8][256];
    uint64_t by_wide[2], by_64[2], by_16[2];
    int folds; /* 64 bytes (1) or 256 (2) at a time; 0: by tables alone */
} rb_crc32;
void rb_crc32_prepare(rb_crc32 *crc);
/* The CRC of bytes that follow on others, whose CRC is `before`; of none it is 0. */
uint32_t rb_crc32_add(const rb_crc32 *crc, uint32_t before, const void *bytes, size_t count);
/* The CRC of two pieces, one after the other, from those of each; any order of joining gives the
 * same. */
uint32_t rb_crc32_join(uint32_t first, uint32_t second, int64_t second_bytes);

/* ---- time ---- */

double rb_seconds(void); /* a monotonic clock */

/* What rb_context_profile tells apart (profile.c). */
typedef enum rb_phase {
    RB_PHASE_READING = 0,
    RB_PHASE_PREPROCESSING,
    RB_PHASE_PRODUCTS,
    RB_PHASE_ESTEP,
    RB_PHASE_MSTEP,
    RB_PHASE_LAST,
    RB_PHASE_CHECK,
    RB_PHASE_STORING,
    RB_PHASE_ELSEWHERE,
    RB_PHASE_WAITING, /* the last one: of several processes alone */
    RB_PHASES
} rb_phase;

/* Time counts for a phase until its end, which is given the phase before. Only the thread that
 * called rb_context_profile is timed. */
rb_phase rb_phase_begin(const rb_context *ctx, rb_phase phase);
void rb_phase_end(const rb_context *ctx, rb_phase before);
/* Begins a product of rows x inner and inner x cols values of `size` bytes, on any thread, and
 * counts it: for products of the E-step, or in another phase for that. */
rb_phase rb_phase_product(const rb_context *ctx, int64_t rows, int64_t inner, int64_t cols,
                          size_t size);
/* Likewise of stored values, each with a row of `cols` values that is read (1) or written, too (2).
 */
rb_phase rb_phase_sparse(const rb_context *ctx, int64_t entries, int moves, int64_t cols,
                         size_t size);
/* Counts them for the phase that is now. */
void rb_phase_add(const rb_context *ctx, double flops, double bytes);

/* ---- life of a context, for src/methods.c and src/study ---- */

rb_error rb_context_create(rb_context **ctx);
/* A context of one thread for work beside the parent's, which must outlive it: with its methods and
 * kernels, stopped when it is, without its callbacks. */
rb_error rb_context_child(rb_context *parent, rb_context **child);
rb_error rb_pool_new(int threads, struct rb_pool **pool);
void rb_pool_free(struct rb_pool *pool);

/* Has the program asked to stop? Of all processes, if that of any one; rb_stops_alone: where there
 * are others it waits for the next rb_comm_agree, so that none waits for one that has gone. */
bool rb_stops(rb_context *ctx);
bool rb_stops_alone(const rb_context *ctx);

/* ---- sums over groups of samples (tree.c) ---- */

enum { RB_TREE_DEPTH_MAX = 6 };

/* Sums of 2^rank groups each, of `count` values: those that wait for their neighbour. Zeros at
 * first. */
typedef struct rb_tree {
    rb_context *ctx;
    int64_t count;
    size_t size;      /* of a value */
    rb_combine_fn fn; /* adds them */
    void *stack[RB_TREE_DEPTH_MAX + 1];
    int rank[RB_TREE_DEPTH_MAX + 1], waiting;
} rb_tree;

/* Samples of a group at least: bringing groups together costs about as much as 75 samples of dense
 * data, and should stay below 3 % of them; a sample of sparse data costs less. */
static inline int64_t rb_tree_fewest(bool sparse) {
    return sparse ? 1 << 14 : 1 << 12;
}
/* The group that a process begins with, of so many processes. */
static inline int64_t rb_group_of(int64_t groups, int64_t rank, int64_t ranks) {
    return (rank * groups + ranks - 1) / ranks;
}

/* Groups of whole blocks for so many samples, 2^d: of at least `fewest` samples, at most 8 where
 * the stack of that many values would be large. */
int64_t rb_tree_groups(int64_t samples, int64_t block_samples, int64_t fewest, int64_t values);
/* Before the groups of a pass; memory is kept from one to the next of the same count. */
void rb_tree_begin(rb_tree *tree, rb_context *ctx, int64_t count);
/* The same of other values than float64, which fn adds; those of no sample are zeros. */
void rb_tree_begin_of(rb_tree *tree, rb_context *ctx, int64_t count, size_t size, rb_combine_fn fn);
/* Where the sums of the next group go, NULL: out of memory; and once they are there. */
void *rb_tree_next(rb_tree *tree);
void rb_tree_join(rb_tree *tree);
/* After the last group here: RB_ERROR_MEMORY; and once that is RB_OK for all processes, the sums
 * over all groups, valid until the next pass. */
rb_error rb_tree_close(rb_tree *tree);
void *rb_tree_end(rb_tree *tree);
void rb_tree_free(rb_tree *tree);
/* `count` such sums at once: parts has `groups` values for each, of this process's groups. */
void rb_add_groups(rb_context *ctx, int64_t count, int64_t groups, const double *parts,
                   double *sums);
void rb_add_values(rb_context *ctx, int64_t count, double *to, const double *values);

#pragma GCC visibility pop

#endif

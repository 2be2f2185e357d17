/* The inside of librarebit-cl. */
#ifndef RB_CL_H
#define RB_CL_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* queues of 1.2, which every driver has */
#include <CL/cl.h>
#include <rarebit/cl.h>

extern const char rb_cl_kernels[]; /* kernels.cl: cmake/Device.cmake */

/* Work items of a group, and of one that works on a sample. */
enum { CL_SIZE = 256, CL_FEW = 64 };

typedef struct cl_handle {
    rb_device table;
    char name[160];
    cl_device_id device;
    cl_context context;
    cl_program program;
} cl_handle;

enum {
    CL_NEXT_UNIT,
    CL_UNITS_APART,
    CL_LARGEST_OF,
    CL_PROJECT,
    CL_MASK,
    CL_DROP,
    CL_UNIT_SUMS,
    CL_LOOK,
    CL_OCCUPIED,
    CL_TELL_SAMPLES,
    CL_FILL,
    CL_ADD_SLICES,
    CL_CHOOSE,
    CL_SUM_ENERGIES,
    CL_MAX_ENERGIES,
    CL_WEIGH,
    CL_TAKE_CODES,
    CL_SUM_COLUMNS,
    CL_SUM_PAIRS,
    CL_SUM_SHARES,
    CL_KERNELS
};

/* What lies on the device; n x m samples, and l units of ld values. */
enum {
    CL_SAMPLES,
    CL_NEXT,     /* those that go up, where they stream */
    CL_MASKED,   /* samples of which some values are 0 */
    CL_LINEAR,   /* Q', l x ld */
    CL_CODES,    /* mu', the same */
    CL_SAVED,    /* codes that are remembered */
    CL_WEIGHTS,  /* m x l */
    CL_SQUARE,   /* P or Sigma, l x l */
    CL_RESIDUAL, /* mu P of the units at hand, group x ld */
    CL_DELTA,    /* what changed since, the same */
    CL_TARGET,   /* ld */
    CL_CHANGES,
    CL_PARTS,  /* of sums: next_unit */
    CL_OFFSET, /* l, as all that follow */
    CL_SUMS,
    CL_LARGEST,
    CL_PLACES,
    CL_ACTIVE,
    CL_DEAD,
    CL_ALIVE,
    CL_MATRIX_A,
    CL_MATRIX_B,
    CL_MATRIX_C, /* matrices that come and go */
    CL_KEPT,     /* CL_MOST_KEPT of those that stay */
    CL_KEPT_TOO,
    CL_U,          /* slices x m x l */
    CL_S,          /* slices x l x l */
    CL_SETS,       /* of states: the sets, */
    CL_PRIOR,      /* l */
    CL_USED,       /* ld */
    CL_CANDIDATES, /* ld x candidates */
    CL_CHANCES,    /* ld x sets: energies, then probabilities */
    CL_PAIRS,      /* ld x candidates x candidates */
    CL_BUFFERS
};
enum { CL_MOST_KEPT = 2 };

typedef struct cl_work {
    rb_device_work face;
    const cl_handle *handle;
    rb_device_shape shape;
    cl_command_queue queue, uploads;
    cl_event left; /* when nothing uses CL_NEXT any more */
    cl_kernel kernels[CL_KERNELS];
    cl_mem buffers[CL_BUFFERS];
    size_t n, m, l, ld;
    size_t slices;                   /* of the samples, whose moments are computed at once */
    size_t walks;                    /* the same of sums over states */
    size_t group;                    /* units whose residuals are */
    const float *kept[CL_MOST_KEPT]; /* where they lie here */
    bool there[CL_MOST_KEPT];        /* and on the device, too */
    size_t next;                     /* samples in CL_NEXT that are not yet at hand */
    bool offset;                     /* there is one */
    bool adds;                       /* moments go on from those that are there */
    bool masked;                     /* the next linear is of masked samples */
    float root;                      /* sqrt(n); 0: codes are not scaled */
    float scale, exponent;           /* of states: rb_device_fields */
    rb_error err;                    /* of the call at hand */
} cl_work;

/* devices.c: what an error of OpenCL or CLBlast means; `doing` is what was tried. */
rb_error cl_tell(char *message, int code, const char *doing);

/* work.c: fill the table with. */
rb_error cl_open_work(const rb_device *device, const rb_device_shape *shape, rb_device_work **work);
void cl_close_work(rb_device_work *work);
rb_error cl_put(rb_device_work *work, int64_t first, int64_t count, const float *rows,
                int64_t stride);
rb_error cl_sample(rb_device_work *work, int64_t sample, float *values, float *codes);
rb_error cl_clear(rb_device_work *work, int64_t unit);
rb_error cl_get(rb_device_work *work, float *codes);
rb_error cl_set(rb_device_work *work, const float *codes);
rb_error cl_save(rb_device_work *work);
rb_error cl_restore(rb_device_work *work);
rb_error cl_wait(rb_device_work *work);

/* Each of these does nothing once a call has failed. */
void cl_try(cl_work *w, int code, const char *doing);
void cl_up(cl_work *w, int buffer, size_t bytes, const void *from);
void cl_down(cl_work *w, int buffer, size_t bytes, void *to);
void cl_copy(cl_work *w, int from, int to, size_t bytes);
/* Arguments of a kernel, in their order: buffers by number, integers, floats; then it runs. */
typedef struct cl_argument {
    enum { ARGUMENT_END, ARGUMENT_BUFFER, ARGUMENT_INT, ARGUMENT_FLOAT } kind;
    int value;
    float number;
} cl_argument;
static inline cl_argument buf(int buffer) {
    return (cl_argument){ARGUMENT_BUFFER, buffer, 0};
}
static inline cl_argument num(size_t integer) {
    return (cl_argument){ARGUMENT_INT, (int)integer, 0};
}
static inline cl_argument real(float number) {
    return (cl_argument){ARGUMENT_FLOAT, 0, number};
}
void cl_run(cl_work *w, int kernel, size_t items, size_t rows, const cl_argument *arguments);
void cl_clear_bytes(cl_work *w, int buffer, size_t bytes); /* they become 0 */
/* The same in steps: one argument, or all; then it runs. */
void cl_bind(cl_work *w, int kernel, int place, cl_argument argument);
void cl_bind_all(cl_work *w, int kernel, const cl_argument *arguments);
void cl_start(cl_work *w, int kernel, size_t items, size_t rows);
/* The same in `groups` groups of CL_FEW items. */
void cl_run_groups(cl_work *w, int kernel, size_t groups, const cl_argument *arguments);
/* `rows` rows of `bytes` each, `pitch` apart on the device, from `at` on, and `host` apart here; to
 * or from is NULL. */
void cl_move(cl_work *w, int buffer, size_t at, size_t rows, size_t bytes, size_t pitch,
             size_t host, void *to, const void *from);

/* C = alpha A B + beta C, A and B perhaps transposed (across); each from a value on. By CLBlast. */
typedef struct cl_matrix {
    int buffer;
    bool across;
    size_t from, ld;
} cl_matrix;
void cl_multiply(cl_work *w, size_t rows, size_t columns, size_t inner, float alpha, cl_matrix a,
                 cl_matrix b, float beta, cl_matrix c);

/* algebra.c: products and solutions of matrices that come and go. */
rb_error cl_product(rb_device_work *work, const rb_device_product *product);
rb_error cl_solve(rb_device_work *work, const float *l, int64_t size, int64_t block, bool from_left,
                  const float *b, float *x, int64_t others);
rb_error cl_keep(rb_device_work *work, const float *matrix);
/* A matrix without gaps, into a buffer: from here, or from where it is kept. */
void cl_bring(cl_work *w, int buffer, size_t bytes, const float *matrix);

/* estep.c: the same. */
rb_error cl_linear(rb_device_work *work, const float *weights, const float *offset);
rb_error cl_project(rb_device_work *work, const float *sigma, bool scaled,
                    const rb_device_units *units);
rb_error cl_mask(rb_device_work *work, rb_device_chance chance);
rb_error cl_drop(rb_device_work *work, rb_device_chance chance, float *squares);
rb_error cl_sweep(rb_device_work *work, const float *p, const bool *dead, float *change,
                  bool *alive);
rb_error cl_look(rb_device_work *work, float length, const bool *dead, float *multipliers,
                 float *change);
rb_error cl_each(rb_device_work *work, float *largest, float *changes);
rb_error cl_add(rb_device_work *work);
rb_error cl_moments(rb_device_work *work, float *u, float *s);
rb_error cl_sums(rb_device_work *work, const rb_device_units *units);
rb_error cl_occupied(rb_device_work *work, const uint8_t *marks, int64_t least, int64_t *empty,
                     int64_t *full);
void cl_take_next(cl_work *w); /* samples that have gone up are those at hand */
/* A B over the samples, which are the rows of b and those of a, if it is across, else its columns;
 * slice by slice at once, added to what is in c or in its place. */
void cl_sum_products(cl_work *w, cl_matrix a, size_t rows, cl_matrix b, size_t columns, bool adds,
                     int c);
/* The sum of so many slices of a buffer, here. */
void cl_take_sum(cl_work *w, int buffer, size_t slices, size_t values, float *to);

/* states.c: the same; and slices of the samples for sums, and the sets go up. */
size_t cl_walks(const cl_work *w);
void cl_take_states(cl_work *w);
rb_error cl_fields(rb_device_work *work, const rb_device_fields *fields);
rb_error cl_posteriors(rb_device_work *work, const uint8_t *used);
rb_error cl_posterior_sums(rb_device_work *work, const rb_device_posteriors *to);

#endif

/* A device: what computes the E-step of a fit, or codes, in place of the processor, on samples that
 * it keeps.
 * librarebit-cl (rarebit/cl.h) gives those of OpenCL; a program may bring one of its own.
 *
 * Experimental: the table may grow. It calls nothing of the library, and knows no method: samples V
 * (n samples x m features) go up once; what an E-step does with them is products with matrices of l
 * units, and steps on the codes, l x n, that stay there:
 *
 *     each E-step:  linear; then project, or sweep from the codes at hand; then moments
 *
 * or, of causes that are there or not, with their posterior probabilities as codes, n x l:
 *
 *     each E-step:  fields; posteriors; posterior_sums
 *
 * Numbers are float32, matrices row-major and without gaps unless a stride is given. The same calls
 * give the same bits. Every function that gives an rb_error leaves a sentence in work->message if
 * it fails; the work is then good for `close` alone. */
#pragma once

#include <rarebit/context.h>

enum { RB_DEVICE_MESSAGE = 512 };

/* Causes that are there or not, whose fields W_h (m values each) add up or of which the largest
 * counts. Of each sample the states are `count` sets of the causes that explain it best alone, and
 * perhaps any cause alone. */
typedef struct rb_device_states {
    int64_t count, candidates; /* at most 64 */
    const uint64_t *sets;      /* count: bit k is the k-th candidate, in the order of causes */
    bool singles, maximum;
} rb_device_states;

/* What a fit needs of a device; the library makes it, new fields come at the end. */
typedef struct rb_device_shape {
    size_t size;
    int64_t samples, features, units;
    bool persists;   /* codes are gone on from: `sweep`, `look`, `save` and `restore` are called */
    bool normalized; /* the mean square of a unit's codes is 1, or they are only at least 0 */
    bool masks;      /* `mask` is called */
    /* Samples come and go, `samples` of them at most at a time: `put` has the next ones go up while
     * those before are worked on, until `mask`, `linear` or
     * `posteriors` begins with them. */
    bool streams;
    rb_device_states states; /* count 0: `fields`, `posteriors` and `posterior_sums` are not called;
                              * else only they, put, get and wait are */
} rb_device_shape;

/* Begun work; a device's own struct begins with it. */
typedef struct rb_device_work {
    char message[RB_DEVICE_MESSAGE]; /* of the last error */
    double bytes;                    /* to and from the device, so far */
    bool failed;                     /* the library's: a product did */
} rb_device_work;

/* What `project` and `sums` tell of each unit (l each); those that are NULL are not wanted. */
typedef struct rb_device_units {
    float *sums;     /* of its codes */
    float *largest;  /* of its codes; by `project` before they were rectified */
    int64_t *place;  /* the first sample with the largest */
    int64_t *active; /* samples whose code is above 0 */
} rb_device_units;

/* What becomes 0 at random: value p of sample i where its random word is below `share`. The word is
 * number (p mod 64) / 16 of the four that Philox4x32-10 (J. K. Salmon et al., SC 2011) makes, with
 * the two halves of the key, low one first, of the counter 16 floor(p / 64) + p mod 16, i, 0, 0. */
typedef struct rb_device_chance {
    uint64_t key;
    uint32_t share; /* of 2^32 */
    uint32_t first; /* the number of the first sample at hand */
} rb_device_chance;

/* Parameters: e(s) = scale / 2 (|y|^2 - |y - W(s)|^2) + the sum of `prior` over the causes of s. */
typedef struct rb_device_fields {
    float scale, exponent; /* rho of the soft maximum that `weights` are of */
    const float *fields;   /* W, l x m */
    const float *prior;    /* l */
    const float *offset;   /* l: prior - scale / 2 |W_h|^2 */
    const uint8_t *empty;  /* l: are all values of the field 0? Such causes are candidates last */
    const float *overlap;  /* scale W W', l x l; where fields add up */
} rb_device_fields;

/* What posteriors come to; what is NULL is not wanted. Of all samples at hand: */
typedef struct rb_device_posteriors {
    float *evidence;    /* n: log sum_s exp e(s) */
    float *energy;      /* n: <e(s)> */
    uint8_t *likeliest; /* l: is the cause in the most probable state of a sample? */
    /* and over those in use: */
    float *causes;   /* l: sum <s_h> */
    float *alone;    /* l: sum of the probabilities of causes alone */
    float *second;   /* l x l, above the diagonal: sum <s s'> */
    float *products; /* l x m: sum <s> y'; if `maximum` sum <A> y', where A_hk, the share of cause h
                      * in feature k, is 1 alone, else (sum_j (W_jk / W_hk)^rho)^(1 / rho - 1) */
    float *weights;  /* l x m: of sets of two and more causes sum <A>; after `products` */
} rb_device_posteriors;

/* C = alpha A B + beta C with C rows x columns, A and B perhaps transposed (across); ld values from
 * row to row. They lie here, not on the device. */
typedef struct rb_device_product {
    int64_t rows, columns, inner;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
    bool a_across, b_across;
} rb_device_product;

typedef struct rb_device {
    size_t size;      /* sizeof(rb_device) */
    const char *name; /* as models record it: "cl:0 NVIDIA H200" */
    void *own;
    /* Takes memory. *work is there even where this fails, with the message, unless no memory for
     * itself is left (NULL). RB_ERROR_MEMORY: the device has too little. */
    rb_error (*open)(const struct rb_device *device, const rb_device_shape *shape,
                     rb_device_work **work);
    void (*close)(rb_device_work *work); /* NULL is accepted */
    /* Samples first .. first + count - 1, `stride` values from one to the next. */
    rb_error (*put)(rb_device_work *work, int64_t first, int64_t count, const float *rows,
                    int64_t stride);
    /* Q = V weights + offset: weights m x l, offset l; NULL, both: those that are there. */
    rb_error (*linear)(rb_device_work *work, const float *weights, const float *offset);
    /* codes = max(0, Q sigma) with a symmetric sigma, l x l, or max(0, Q) where it is NULL. scaled:
     * to mean square 1; a unit without a positive code gets sqrt(n) for the sample where it was
     * largest. */
    rb_error (*project)(rb_device_work *work, const float *sigma, bool scaled,
                        const rb_device_units *units);
    /* Values of the samples become 0, for the next `linear` alone. */
    rb_error (*mask)(rb_device_work *work, rb_device_chance chance);
    /* Codes become 0, where value p is that of unit p; squares: the sum of each unit's before. */
    rb_error (*drop)(rb_device_work *work, rb_device_chance chance, float *squares);
    /* Exact minimisation of 1/2 tr mu P mu' - tr mu Q' over the codes of one unit after the other;
     * P, l x l, stays for `look`, and NULL is the one that is there. dead: units whose codes stay
     * 0. change: the largest change of a code; alive: was a code of the unit above 0 before the
     * fallback of `project`? Both may be NULL. */
    rb_error (*sweep)(rb_device_work *work, const float *p, const bool *dead, float *change,
                      bool *alive);
    /* Of the codes at hand, with the P of the last sweep: mean_i mu_ij (Q - mu P)_ij of each unit,
     * and the largest change of a code by a projected gradient step of that length. */
    rb_error (*look)(rb_device_work *work, float length, const bool *dead, float *multipliers,
                     float *change);
    /* Of each sample (n each): its largest code, and the largest change by the last sweep. */
    rb_error (*each)(rb_device_work *work, float *largest, float *changes);
    /* V'mu (m x l), mu'mu (l x l, its lower triangle at least); NULL: not wanted. `add`: the next
     * ones are those of the samples at hand, too. */
    rb_error (*add)(rb_device_work *work);
    rb_error (*moments)(rb_device_work *work, float *u, float *s);
    rb_error (*sums)(rb_device_work *work, const rb_device_units *units);
    /* Of the samples: how many have no active unit among those marked 1 or 2, and how many have at
     * least `least` of those marked 2. */
    rb_error (*occupied)(rb_device_work *work, const uint8_t *marks, int64_t least, int64_t *empty,
                         int64_t *full);
    /* A sample (m) and its codes (l). */
    rb_error (*sample)(rb_device_work *work, int64_t sample, float *values, float *codes);
    /* The codes of a unit become 0. */
    rb_error (*clear)(rb_device_work *work, int64_t unit);
    /* All codes, l x n; posteriors n x l. */
    rb_error (*get)(rb_device_work *work, float *codes);
    rb_error (*set)(rb_device_work *work, const float *codes);
    /* Remembers the codes on the device; makes them again what they were then. */
    rb_error (*save)(rb_device_work *work);
    rb_error (*restore)(rb_device_work *work);
    /* Of matrices no larger than the parameters or l x l. `solve`: X = (L L')^-1 B, both size x
     * others, or X = B (L L')^-1, both others x size, with a lower triangle L whose diagonal blocks
     * of `block` rows are replaced by their inverses. */
    rb_error (*product)(rb_device_work *work, const rb_device_product *product);
    rb_error (*solve)(rb_device_work *work, const float *l, int64_t size, int64_t block,
                      bool from_left, const float *b, float *x, int64_t others);
    /* Until NULL is kept nothing but `solve`, as its X, changes this matrix (m x l): as an operand
     * of `product`, as B or as weights of `linear` it need not move again. Two at most. */
    rb_error (*keep)(rb_device_work *work, const float *matrix);
    /* Returns when all that was begun is done: for who measures. */
    rb_error (*wait)(rb_device_work *work);
    /* Of rb_device_states. used: of n samples those that are summed; NULL: evidence, energy and
     * likeliest alone are wanted. */
    rb_error (*fields)(rb_device_work *work, const rb_device_fields *fields);
    rb_error (*posteriors)(rb_device_work *work, const uint8_t *used);
    rb_error (*posterior_sums)(rb_device_work *work, const rb_device_posteriors *to);
} rb_device;

/* Fits and codes of models with this context are computed on the device from now on; NULL: on the
 * processor. What the device cannot serve fails with RB_ERROR_UNSUPPORTED and a sentence. The table
 * is not copied and must outlive fits and coders. RB_ERROR_ARGUMENT: of another version of the
 * library. */
RB_API rb_error rb_context_set_device(rb_context *context, const rb_device *device);

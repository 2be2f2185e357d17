/* Who finds modules: what the parts of `./run modules-bench` share. */
#ifndef FINDERS_H
#define FINDERS_H

#include <rarebit/rarebit.h>

#include <stdio.h>

enum { MAX_FINDERS = 32, MAX_KINDS = 64, MAX_CLASSES = 64 };

/* What is measured of a fit. Told: as many of the best modules as are planted, or as there are
 * classes; all: whatever was found. NaN: not of such data. */
enum {
    TOLD,     /* consensus score */
    ALL,      /* the same of all modules */
    REAL,     /* of those that are more than noise, where permutations are asked for */
    RECOVERY, /* of those told, as RELEVANCE */
    RELEVANCE,
    RAREST, /* classes: Jaccard index of the best module with the smallest class */
    RAND,   /* classes: adjusted Rand index, a sample being in the cluster of its largest code */
    MATCH,  /* real data: correlation of codes of two seeds, units paired */
    SECONDS,
    MEASURES
};

/* A method as it is used here. */
struct finder {
    const char *name, *fit, *options;
    const char *reading; /* options of rb_modules_find, by which it scores best */
    bool consensus, parts;
};

/* Data: planted, or a folder with expr.tsv.gz and labels.tsv. */
struct kind {
    const char *name;
    const char *planted; /* options of rb_simulate_biclusters; NULL: not those */
    const char *cells;   /* options of rb_simulate_cells; NULL: not those */
    const char *folder;
    const char *preprocessing; /* options of every fit */
    int units;
};

/* One of the data. The truth is of samples alone where they have classes. */
struct sample_set {
    rb_matrix *matrix;
    rb_source *source;
    rb_modules *truth;
    int64_t *class_of; /* n_samples, -1: none; NULL: no classes */
    double *parts;
    int64_t n_features; /* 0: not split */
};

/* sets.c: makes or reads one. */
rb_error set_open(rb_context *ctx, const struct kind *kind, int64_t seed, struct sample_set *set);
void set_close(struct sample_set *set);

/* parts.c: takes each feature twice, above and below its median, where there are values below 0. */
rb_error set_split(rb_context *ctx, struct sample_set *set);
/* Gives modules of such data the features of before. */
void set_join(const struct sample_set *set, rb_modules *modules);

/* A method on a kind of data. */
struct trial {
    const struct finder *finder;
    const struct kind *kind;
    int64_t seed;
    int64_t permutations; /* 0: REAL is not measured */
    int64_t times;        /* units for each planted module; 0: as many as the kind says */
    const char *reading;  /* instead of the finder's; NULL: that */
};

/* score.c: a fit to one, MEASURES values. */
rb_error finder_measure(rb_context *ctx, const struct trial *trial, const struct sample_set *set,
                        double *values);

#endif

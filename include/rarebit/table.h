/* Tables of results: what each column is called, in files and to read, and what it means. */
#pragma once

#include <rarebit/modules.h>

typedef enum rb_value_kind {
    RB_VALUE_NONE = 0, /* there is none */
    RB_VALUE_INTEGER,
    RB_VALUE_NUMBER,
    RB_VALUE_SHARE,  /* a number; to read, in per cent */
    RB_VALUE_CHANCE, /* a number, which may be too small for one: log10 says it as well */
    RB_VALUE_TEXT,
    RB_VALUE_FEATURES, /* `integer` features in use */
    RB_VALUE_MEMBERS   /* of so many members those above, or below, 0 */
} rb_value_kind;

typedef struct rb_value {
    rb_value_kind kind;
    int64_t integer;
    double number, log10;
    const char *text;
    const int64_t *features;
    const rb_member *members;
    bool above;
    char shown[32]; /* to read, where that is another text than in files; else "" */
} rb_value;

typedef struct rb_table rb_table;
typedef struct rb_table_column rb_table_column;
struct rb_table_column {
    const char *key;     /* in files and programs: "log10_fdr"; NULL: the end of the columns */
    const char *title;   /* to read: "FDR" */
    const char *format;  /* of printf, for numbers to read; NULL: that of the kind */
    const char *meaning; /* "" where the title says it */
    rb_value_kind kind;
    size_t offset; /* where the value stands in a row; of RB_VALUE_CHANCE log10 follows it. An
                      integer below 0 and NaN are none */
    rb_value (*value)(const rb_table *table, int64_t row,
                      const rb_table_column *column); /* or this */
    bool optional; /* left out of a table whose first row has no such value */
};

struct rb_table {
    const char *key; /* "covariate_tests" */
    const rb_table_column *columns;
    int64_t n_rows;
    const void *rows;
    size_t row_size;
    const void *of; /* what the rows are of */
};

/* The value in a row, from 0. */
RB_API rb_value rb_table_value(const rb_table *table, int64_t row, const rb_table_column *column);
/* The column of a key; NULL: there is none, or it is left out. */
RB_API const rb_table_column *rb_table_find(const rb_table *table, const char *key);

/* A row for each module; valid as long as they are. */
RB_API rb_table rb_modules_table(const rb_modules *modules);

/* The list of modules. */
#include "modules.h"

#include <string.h>

rb_error rb_modules_new(rb_context *ctx, int64_t count, rb_modules **out) {
    *out = rb_alloc_zero(ctx, 1, sizeof **out);
    rb_module *list = *out ? rb_alloc_zero(ctx, count, sizeof *list) : NULL;
    rb_module_note *notes = list ? rb_alloc_zero(ctx, count, sizeof *notes) : NULL;
    if (!notes) {
        rb_free(list);
        rb_free(*out);
        *out = NULL;
        return RB_ERROR_MEMORY;
    }
    **out = (rb_modules){.list = list, .notes = notes, .count = count, .tested = count};
    return RB_OK;
}

void rb_modules_free(rb_modules *modules) {
    if (!modules) return;
    for (int64_t r = 0; r < modules->tested; r++) {
        rb_free(modules->list[r].samples);
        rb_free(modules->list[r].features);
    }
    rb_free(modules->list);
    rb_free(modules->notes);
    rb_free(modules->column_of);
    rb_free(modules->rule);
    rb_free(modules->significance);
    rb_free(modules->nulls);
    rb_free(modules);
}

/* Moves an element of an array ahead. */
static void move_ahead(void *array, size_t size, int64_t from, int64_t to) {
    char *base = array, moved[sizeof(rb_module)];
    memcpy(moved, base + (size_t)from * size, size);
    memmove(base + (size_t)(to + 1) * size, base + (size_t)to * size, (size_t)(from - to) * size);
    memcpy(base + (size_t)to * size, moved, size);
}

void rb_modules_promote(rb_modules *modules, int64_t rank) {
    int64_t to = 0;
    while (to < rank && modules->notes[to].role < RB_UNIT_SPARE &&
           modules->notes[to].score >= modules->notes[rank].score)
        to++;
    modules->notes[rank].role = RB_UNIT_MODULE;
    move_ahead(modules->list, sizeof *modules->list, rank, to);
    move_ahead(modules->notes, sizeof *modules->notes, rank, to);
    if (modules->significance)
        move_ahead(modules->significance, sizeof *modules->significance, rank, to);
}

void rb_modules_remove(rb_modules *modules, int64_t rank) {
    size_t after = (size_t)(--modules->tested - rank);
    rb_significance *significance = modules->significance;
    modules->count -= rank < modules->count;
    rb_free(modules->list[rank].samples);
    rb_free(modules->list[rank].features);
    memmove(modules->list + rank, modules->list + rank + 1, after * sizeof *modules->list);
    memmove(modules->notes + rank, modules->notes + rank + 1, after * sizeof *modules->notes);
    if (significance)
        memmove(significance + rank, significance + rank + 1, after * sizeof *significance);
}

int64_t rb_modules_called(const rb_modules *modules) {
    int64_t count = modules->count;
    while (count > 0 && modules->notes && modules->notes[count - 1].role >= RB_UNIT_SPARE)
        count--;
    return count;
}

int64_t rb_modules_column(const rb_modules *modules, int64_t feature) {
    return modules->column_of ? modules->column_of[feature] : feature;
}

int64_t rb_modules_count(const rb_modules *modules) {
    return modules->count;
}

const rb_module *rb_modules_get(const rb_modules *modules, int64_t rank) {
    return rank >= 0 && rank < modules->count ? &modules->list[rank] : NULL;
}

static rb_module_note note_of(const rb_modules *modules, int64_t rank) {
    bool there = rank >= 0 && rank < modules->count;
    return there ? modules->notes[rank] : (rb_module_note){0};
}

double rb_modules_score(const rb_modules *modules, int64_t rank) {
    return note_of(modules, rank).score;
}

bool rb_modules_other_side(const rb_modules *modules, int64_t rank) {
    return note_of(modules, rank).role == RB_UNIT_OTHER_SIDE;
}

const char *rb_modules_tested(const rb_modules *modules) {
    return modules->nulls;
}

int64_t rb_modules_permutations(const rb_modules *modules) {
    return modules->permutations;
}

const char *rb_modules_rule(const rb_modules *modules) {
    return modules->rule;
}

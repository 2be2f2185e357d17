/* Values of tables, and the tables of replications. Those of a document: document_tables.c. */
#include "modules.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* What stands in a row. */
static rb_value stored(const rb_table *table, int64_t row, const rb_table_column *column) {
    const char *at = (const char *)table->rows + (size_t)row * table->row_size + column->offset;
    rb_value v = {.kind = column->kind};
    if (column->kind == RB_VALUE_INTEGER) {
        memcpy(&v.integer, at, sizeof v.integer);
    } else {
        memcpy(&v.number, at, sizeof v.number);
        if (column->kind == RB_VALUE_CHANCE) memcpy(&v.log10, at + sizeof v.number, sizeof v.log10);
    }
    return v;
}

rb_value rb_table_value(const rb_table *table, int64_t row, const rb_table_column *column) {
    rb_value v = column->value ? column->value(table, row, column) : stored(table, row, column);
    if ((v.kind == RB_VALUE_INTEGER && v.integer < 0) || (v.kind == RB_VALUE_TEXT && !v.text))
        v.kind = RB_VALUE_NONE;
    bool number =
        v.kind == RB_VALUE_NUMBER || v.kind == RB_VALUE_SHARE || v.kind == RB_VALUE_CHANCE;
    if (number && isnan(v.number)) v.kind = RB_VALUE_NONE;
    v.number += 0.0; /* -0 becomes 0 */
    return v;
}

const rb_table_column *rb_table_find(const rb_table *table, const char *key) {
    const rb_table_column *c = table->columns;
    while (c->key && strcmp(c->key, key) != 0)
        c++;
    bool there =
        c->key && (!c->optional || (table->n_rows > 0 && rb_table_value(table, 0, c).kind));
    return there ? c : NULL;
}

bool rb_modules_say(rb_context *ctx, const rb_modules *modules, rb_module_picks *picks,
                    const void *user, char *text, size_t size) {
    enum { LONGEST = 48 };
    char list[8 * LONGEST] = "", more[32] = "";
    int64_t count = 0, left = 0;
    size_t used = 0;
    for (int64_t r = 0; r < rb_modules_called(modules); r++) {
        char note[16] = "";
        if (!picks(user, r, note)) continue;
        count++;
        left += used + LONGEST > sizeof list;
        if (left > 0) continue;
        used += (size_t)snprintf(list + used, LONGEST, "%s%lld%s%s", used ? ", " : "",
                                 (long long)rb_nth(ctx, modules->list[r].unit),
                                 rb_modules_other_side(modules, r) ? "-" : "", note);
    }
    if (left > 0) snprintf(more, sizeof more, " and %lld more", (long long)left);
    snprintf(text, size, "unit%s %s%s", count == 1 ? "" : "s", list, more);
    return count > 0;
}

rb_value rb_row_number(const rb_table *table, int64_t row, const rb_table_column *column) {
    (void)table, (void)column;
    return (rb_value){.kind = RB_VALUE_INTEGER, .integer = row};
}

rb_table rb_replication_table(const rb_replication *r) {
    static const rb_table_column columns[] = {
        {"unit", "unit", NULL, "of the first model", RB_VALUE_INTEGER, .value = rb_row_number},
        {"partner", "partner", NULL, "the unit of the second model that is assigned to it",
         RB_VALUE_INTEGER, offsetof(rb_replicated_unit, partner)},
        {"partner_correlation", "correlation", "%.3g", "of its loadings and the partner's",
         RB_VALUE_NUMBER, offsetof(rb_replicated_unit, partner_correlation)},
        {"p_value", "p-value", "%.3g", "chance of as good a partner for this unit", RB_VALUE_NUMBER,
         offsetof(rb_replicated_unit, p_value)},
        {"p_value_family", "family-wise", "%.3g", "chance of as good a partner for any unit",
         RB_VALUE_NUMBER, offsetof(rb_replicated_unit, p_value_family)},
        {"q_value", "q-value", "%.3g", "false discovery rate", RB_VALUE_NUMBER,
         offsetof(rb_replicated_unit, q_value)},
        {"best", "best", NULL, "the unit of the second model that is most similar",
         RB_VALUE_INTEGER, offsetof(rb_replicated_unit, best)},
        {"best_correlation", "its corr.", "%.3g", "of its loadings and those of the best",
         RB_VALUE_NUMBER, offsetof(rb_replicated_unit, best_correlation)},
        {0},
    };
    return (rb_table){"units", columns, r->n_units, r->units, sizeof *r->units, r};
}

static const double FOUND = 0.05;

int64_t rb_replication_found(const rb_replication *r) {
    int64_t found = 0;
    for (int64_t j = 0; j < r->n_units; j++)
        found += r->units[j].q_value <= FOUND && r->units[j].partner == r->units[j].best;
    return found;
}

int64_t rb_cohorts_found(const rb_cohorts *c) {
    int64_t both = 0;
    for (int64_t j = 0; j < c->n_units; j++)
        both += c->units[j].in[0].q_value <= FOUND && c->units[j].in[1].q_value <= FOUND;
    return both;
}

rb_table rb_cohorts_table(const rb_cohorts *c) {
    static const rb_table_column columns[] = {
        {"unit", "unit", NULL, "of the model", RB_VALUE_INTEGER, .value = rb_row_number},
        {"active_a", "active A", "%.3g", "share of the samples of the first cohort",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[0].active)},
        {"explained_a", "explained A", "%.3g", "share of the squares of its data", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[0].explained)},
        {"correlation_a", "like A", "%.3g", "of its loadings and those that fit the cohort",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[0].correlation)},
        {"p_value_a", "p A", "%.3g", "chance of as much explained by this unit", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[0].p_value)},
        {"q_value_a", "q A", "%.3g", "false discovery rate", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[0].q_value)},
        {"p_value_family_a", "family-wise A", "%.3g", "chance of as much explained by any unit",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[0].p_value_family)},
        {"active_b", "active B", "%.3g", "share of the samples of the second cohort",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[1].active)},
        {"explained_b", "explained B", "%.3g", "share of the squares of its data", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[1].explained)},
        {"correlation_b", "like B", "%.3g", "of its loadings and those that fit the cohort",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[1].correlation)},
        {"p_value_b", "p B", "%.3g", "chance of as much explained by this unit", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[1].p_value)},
        {"q_value_b", "q B", "%.3g", "false discovery rate", RB_VALUE_NUMBER,
         offsetof(rb_cohort_pair, in[1].q_value)},
        {"p_value_family_b", "family-wise B", "%.3g", "chance of as much explained by any unit",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, in[1].p_value_family)},
        {"correlation", "A like B", "%.3g", "of the loadings that fit one cohort and the other",
         RB_VALUE_NUMBER, offsetof(rb_cohort_pair, correlation)},
        {0},
    };
    return (rb_table){"units", columns, c->n_units, c->units, sizeof *c->units, c};
}

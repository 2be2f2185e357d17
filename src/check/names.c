/* What names look like: genes, by identifiers of data bases and probe sets, or by families of
 * symbols that nearly every list of genes has; and names that are empty or stand more than
 * once. */
#include "check.h"

#include <ctype.h>
#include <string.h>

/* ---- patterns: 9 is a run of digits, ~ a run of letters, ? one letter or none, * the rest; all
 * else is itself, letters in either case ---- */

static bool fits(const char *pattern, const char *name) {
    for (; *pattern; pattern++) {
        if (*pattern == '*') return true;
        if (*pattern == '9' || *pattern == '~') {
            const char *begin = name;
            while (*pattern == '9' ? isdigit((unsigned char)*name) : isalpha((unsigned char)*name))
                name++;
            if (name == begin) return false;
        } else if (*pattern == '?') {
            name += isalpha((unsigned char)*name) != 0;
        } else {
            if (tolower((unsigned char)*pattern) != tolower((unsigned char)*name)) return false;
            name++;
        }
    }
    return *name == '\0';
}

/* Whole lists of these are genes, proteins or probes. */
static const char *const identifiers[] = {
    "ENS?????9*", "AFFX-*",  "9_at",    "9_?_at", "9_??_at",   "~9_at",     "~9_?_at",
    "~9_??_at",   "ILMN_9*", "A_9_P9*", "NM_9*",  "NR_9*",     "XM_9*",     "XR_9*",
    "NP_9*",      "IMAGE:9", "LOC9",    "cg9",    "hsa-miR-*", "hsa-let-*", "mmu-miR-*",
    "HGNC:9",     "TC9*_at", "~9.9_at", NULL};

/* Some of the symbols of every list. No name of a sample should be one. */
static const char *const symbols[] = {
    "RPL9?",  "RPS9?",  "MRPL9",   "MRPS9?",   "HLA-~*",  "MT-~9?",  "CD9?",    "IL9?",   "IL9R?",
    "CCL9",   "CXCL9",  "CCR9",    "CXCR9",    "KRT9?",   "COL9A9",  "SLC9A9",  "ZNF9?",  "TMEM9?",
    "FAM9?",  "C9orf9", "LINC9",   "EIF9?",    "EIF9?9*", "PSMA9",   "PSMB9",   "PSMC9",  "PSMD9",
    "NDUFA9", "NDUFB9", "NDUFS9",  "ATP9?9*",  "ACTB",    "ACTN9",   "ACTG9",   "ACTR9",  "GAPDH",
    "MALAT1", "TP53",   "MYC",     "EGFR",     "JUN?",    "FOS?",    "STAT9?",  "MAPK9",  "MAP9K9",
    "CDK9",   "CCNB9",  "CCND9",   "TNFRSF9?", "TNFSF9?", "IGF9*",   "TUBA9?",  "TUBB9?", "HSPA9?",
    "HSPB9",  "HSP9*",  "ALDH9?9", "ADAM9",    "AKAP9",   "ARHGAP9", "ARHGEF9", "RAB9?",  "UBE9?9",
    "USP9?",  "KIF9?",  "GTF9?9",  "POLR9?",   "SNRP~9",  "HNRNP~*", "SF9B9",   "S100A9", "LGALS9",
    "ITGA9?", "ITGB9",  "GZM?",    "KLR~9",    "TRIM9",   "BCL9",    "BCL9A9",  "CASP9",  NULL};

static bool fits_one(const char *const *patterns, const char *name) {
    for (; *patterns; patterns++)
        if (fits(*patterns, name)) return true;
    return false;
}

static const double identifier_share = 0.5, symbol_share = 0.03;
enum { MIN_SYMBOLS = 3 };

static void find_genes(rb_naming *naming, const rb_names *names) {
    int64_t by_identifier = 0, by_symbol = 0;
    for (int64_t i = 0; i < names->count; i++) {
        bool identifier = fits_one(identifiers, names->text[i]);
        bool symbol = !identifier && fits_one(symbols, names->text[i]);
        by_identifier += identifier;
        by_symbol += symbol;
        if ((identifier || symbol) && !naming->example) naming->example = names->text[i];
    }
    double count = (double)names->count;
    bool all = (double)by_identifier >= identifier_share * count;
    bool some =
        by_symbol >= MIN_SYMBOLS && (double)(by_symbol + by_identifier) >= symbol_share * count;
    naming->genes = by_identifier + by_symbol;
    naming->are_genes = names->count > 0 && (all || some);
}

static rb_error find_repeated(rb_context *ctx, rb_naming *naming, const rb_names *names) {
    rb_named *sorted = rb_names_sort(ctx, names);
    if (!sorted) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < names->count; i++) {
        bool again = i > 0 && strcmp(sorted[i].text, sorted[i - 1].text) == 0;
        naming->empty += sorted[i].text[0] == '\0';
        naming->repeated += again && sorted[i].text[0];
        if (again && sorted[i].text[0] && !naming->repeated_example)
            naming->repeated_example = sorted[i].text;
    }
    rb_free(sorted);
    return RB_OK;
}

static rb_error look_at(rb_context *ctx, const rb_names *names, rb_naming *naming) {
    if (!names) return RB_OK;
    naming->there = true;
    find_genes(naming, names);
    return find_repeated(ctx, naming, names);
}

rb_error rb_look_names(rb_look *look) {
    rb_error err = look_at(look->ctx, look->source->sample_names, &look->row);
    return err ? err : look_at(look->ctx, look->source->feature_names, &look->column);
}

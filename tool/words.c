/* Words: the nearest to a mistyped one, lines of a given width, suffixes. */
#include "tool.h"

#include <string.h>
#include <strings.h>

enum { LONGEST_WORD = 40 };

static int min(int a, int b) {
    return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with a neighbour to make b of a. */
static int edit_distance(const char *a, const char *b) {
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] =
                min(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), min(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

void nearest_offer(nearest *best, const char *word) {
    size_t length = strlen(best->typed);
    /* The beginning of a word ("iter") is as near as one slip. */
    int distance = length >= 2 && strncmp(word, best->typed, length) == 0
                       ? 1
                       : edit_distance(best->typed, word);
    int limit = length <= 3 ? 1 : length <= 6 ? 2 : 3;
    if (distance <= limit && (!best->word || distance < best->distance)) {
        best->word = word;
        best->distance = distance;
    }
}

void print_wrapped(FILE *file, const char *text, int column, int indent, int width) {
    bool first = true;
    while (*text) {
        int span = (int)strcspn(text, " ");
        if (!first && column + 1 + span > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', file);
            column++;
        }
        fprintf(file, "%.*s", span, text);
        column += span;
        first = false;
        text += span;
        text += strspn(text, " ");
    }
    putc('\n', file);
}

bool has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcasecmp(path + length - tail, suffix) == 0;
}

bool among_words(const char *words, const char *word) {
    size_t length = strlen(word);
    while (words && *words) {
        size_t span = strcspn(words, " ");
        if (span == length && memcmp(words, word, length) == 0) return true;
        words += span + (words[span] == ' ');
    }
    return false;
}

/* Does a shell read the word as it stands? */
static bool plain_word(const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    return *word && strspn(word, plain) == strlen(word);
}

void put_word(FILE *file, const char *word) {
    const char *quote = plain_word(word) ? "" : "'";
    fputs(quote, file);
    for (const char *c = word; *c; c++)
        fprintf(file, *c == '\'' ? "'\\''" : "%c", *c);
    fputs(quote, file);
}

/* Journals: results of many jobs in one file, each appended when it is made; docs/howto/select.md.
 *
 *     rarebit-journal 1 COUNT BYTES\n     how many jobs, how long the key is
 *     key                                 says which jobs these are
 *     job, size, CRC-32, bytes            again and again: three 64-bit integers before the bytes
 *
 * A kill may leave the last result half written: it is cut off when the file is opened again.
 * Behind a damaged result the next sound one is searched for, byte by byte.
 */
#include "io.h"
#include "study/study.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 64, HEAD = 24, WINDOW = 1 << 16, SEARCH = 8 };
static const char magic[] = "rarebit-journal 1 ";

struct rb_journal {
    FILE *file;
    char *path;
    rb_lock *lock;
    rb_crc32 crc;
};

typedef struct record {
    int64_t job, size;
    uint64_t crc;
} record;
_Static_assert(sizeof(record) == HEAD, "as it stands in the file");

static uint64_t crc_of(const rb_journal *journal, const record *r, const void *bytes) {
    uint32_t crc = rb_crc32_add(&journal->crc, 0, r, offsetof(record, crc));
    return rb_crc32_add(&journal->crc, crc, bytes, (size_t)r->size);
}

static int64_t bytes_of(const rb_journal *journal) {
    struct stat info;
    return fstat(fileno(journal->file), &info) ? 0 : info.st_size;
}

static rb_error cannot(rb_context *ctx, const char *what, const rb_journal *journal) {
    return rb_fail(ctx, RB_ERROR_FILE, "cannot %s %s: %s", what, journal->path, strerror(errno));
}

/* ---- reading ---- */

static rb_error no_journal(rb_context *ctx, const rb_journal *journal) {
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s is not a results file of rarebit; use another name",
                   journal->path);
}

/* The head of a file, whose key is freed by rb_free. */
static rb_error read_head(rb_context *ctx, rb_journal *journal, char **key, int64_t *count) {
    char line[MAGIC_BYTES] = "";
    int64_t bytes = -1, size = bytes_of(journal);
    *key = NULL;
    bool is = fgets(line, sizeof line, journal->file) && strncmp(line, magic, strlen(magic)) == 0 &&
              strchr(line, '\n') &&
              sscanf(line + strlen(magic), "%" SCNd64 " %" SCNd64, count, &bytes) == 2;
    if (!is || *count < 0 || bytes < 0 || bytes > size - ftello(journal->file))
        return no_journal(ctx, journal);
    *key = rb_alloc(ctx, bytes + 1, 1);
    if (!*key) return RB_ERROR_MEMORY;
    (*key)[fread(*key, 1, (size_t)bytes, journal->file)] = '\0';
    return RB_OK;
}

/* Was the file just made, or the program killed while it wrote this head, which begins it as no
 * other file begins? */
static rb_error is_new(rb_context *ctx, rb_journal *journal, const char *head, bool *new) {
    int64_t size = bytes_of(journal), whole = (int64_t)strlen(head);
    char *bytes = size < whole ? rb_alloc(ctx, size, 1) : NULL;
    bool known = size == 0 || size >= (int64_t)strlen(magic);
    *new = bytes &&known &&fread(bytes, 1, (size_t)size, journal->file) ==
           (size_t)size &&memcmp(bytes, head, (size_t)size) == 0;
    rewind(journal->file);
    rb_error err = size < whole && !bytes ? RB_ERROR_MEMORY : RB_OK;
    rb_free(bytes);
    return err;
}

/* A journal while its results are read. */
typedef struct reading {
    rb_context *ctx;
    rb_journal *journal;
    int64_t count; /* of jobs */
    int64_t end;
    int64_t patience; /* so many bytes more are read twice, to search for results */
} reading;

static bool may_be(const reading *s, const record *r, int64_t place) {
    return r->job >= 0 && r->job < s->count && r->size >= 0 && r->size <= s->end - place - HEAD;
}

/* The bytes at a place: as many as there are. */
static rb_error read_at(const reading *s, int64_t place, void *to, int64_t size, int64_t *got) {
    FILE *file = s->journal->file;
    bool there = fseeko(file, place, SEEK_SET) == 0;
    *got = there ? (int64_t)fread(to, 1, (size_t)size, file) : 0;
    return there && !ferror(file) ? RB_OK : cannot(s->ctx, "read", s->journal);
}

/* The result at a place; *bytes is NULL where there is none, or a damaged one. */
static rb_error read_record(const reading *s, int64_t place, record *r, void **bytes) {
    int64_t got;
    *bytes = NULL;
    rb_error err = read_at(s, place, r, HEAD, &got);
    if (err || got < HEAD || !may_be(s, r, place)) return err;
    *bytes = rb_alloc(s->ctx, r->size, 1);
    if (!*bytes) return RB_ERROR_MEMORY;
    err = read_at(s, place + HEAD, *bytes, r->size, &got);
    if (err || got < r->size || crc_of(s->journal, r, *bytes) != r->crc) {
        rb_free(*bytes);
        *bytes = NULL;
    }
    return err;
}

/* The first sound result in a window of the file. */
static rb_error search_window(reading *s, const char *window, int64_t size, int64_t *place,
                              record *r, void **bytes) {
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && !*bytes && i + HEAD <= size; i++) {
        memcpy(r, window + i, HEAD);
        if (!may_be(s, r, *place + i) || r->size > s->patience) continue;
        s->patience -= r->size;
        err = read_record(s, *place + i, r, bytes);
        if (*bytes) *place += i;
    }
    return err;
}

/* The first sound result behind a place, which becomes its own; *bytes is NULL if there is none. */
static rb_error find_next(reading *s, int64_t *place, record *r, void **bytes) {
    int64_t got = WINDOW;
    rb_error err = RB_OK;
    char *window = rb_alloc(s->ctx, WINDOW, 1);
    if (!window) return RB_ERROR_MEMORY;
    for (++*place; !err && got == WINDOW; *place += WINDOW - HEAD + 1) {
        err = read_at(s, *place, window, WINDOW, &got);
        if (!err) err = search_window(s, window, got, place, r, bytes);
        if (*bytes) break;
    }
    rb_free(window);
    return err;
}

/* Is the end of the file what a kill leaves, a result that is longer than what is there? */
static rb_error is_cut(const reading *s, int64_t place, bool *cut) {
    record r;
    int64_t got;
    rb_error err = read_at(s, place, &r, HEAD, &got);
    *cut =
        !err && (got < HEAD || (r.job >= 0 && r.job < s->count && r.size > s->end - place - HEAD));
    return err;
}

/* What became of the results. */
typedef struct tally {
    int64_t kept, lost, bytes; /* lost: places where some are, and their bytes */
} tally;

/* What stands behind the last sound result. */
static rb_error look_at_end(const reading *s, int64_t place, tally *t) {
    bool cut;
    rb_error err = is_cut(s, place, &cut);
    if (!err && cut) {
        rb_log(s->ctx, RB_LOG_INFO, "the last result in %s is incomplete and left out",
               s->journal->path);
    } else {
        t->lost++;
        t->bytes += s->end - place;
    }
    return err;
}

/* Hands over what is there; *end is behind the last sound result. */
static rb_error read_records(rb_context *ctx, rb_journal *journal, const rb_journal_head *head,
                             int64_t *end) {
    reading s = {ctx, journal, head->count, bytes_of(journal), 0};
    rb_error err = RB_OK;
    tally t = {0};
    s.patience = SEARCH * s.end;
    *end = ftello(journal->file);
    for (int64_t place = *end; !err && place < s.end;) {
        record r;
        void *bytes;
        err = read_record(&s, place, &r, &bytes);
        if (!err && !bytes) err = find_next(&s, &place, &r, &bytes);
        if (!err && !bytes) err = look_at_end(&s, *end, &t);
        if (err || !bytes) break;
        t.lost += place > *end;
        t.bytes += place - *end;
        t.kept++;
        *end = place += HEAD + r.size;
        err = head->take(ctx, r.job, (rb_bytes){bytes, r.size}, head->user);
    }
    if (!err && t.lost > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%s is damaged: at least %lld of its results are lost (%lld bytes), %lld are kept; "
               "the missing ones are computed again",
               journal->path, (long long)t.lost, (long long)t.bytes, (long long)t.kept);
    }
    return err;
}

/* ---- is it of these jobs? ---- */

/* The first line of either text that differs. */
static rb_error other_jobs(rb_context *ctx, const char *path, const char *before, const char *now) {
    while (*before && *now) {
        int a = (int)strcspn(before, "\n"), b = (int)strcspn(now, "\n");
        if (a != b || strncmp(before, now, (size_t)a) != 0) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "%s holds results of another call, with '%.*s' instead of '%.*s'; "
                           "give the same options and data, or another file",
                           path, a, before, b, now);
        }
        before += a + (before[a] != '\0');
        now += b + (now[b] != '\0');
    }
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%s holds results of another call; give the same options and data, or another "
                   "file",
                   path);
}

/* ---- writing ---- */

/* Freed by rb_free; NULL: out of memory. */
static char *make_head(rb_context *ctx, const char *key, int64_t count) {
    size_t size = MAGIC_BYTES + strlen(key);
    char *head = rb_alloc(ctx, (int64_t)size, 1);
    if (head) snprintf(head, size, "%s%" PRId64 " %zu\n%s", magic, count, strlen(key), key);
    return head;
}

static rb_error write_head(rb_context *ctx, rb_journal *journal, const char *head) {
    rewind(journal->file);
    bool good = ftruncate(fileno(journal->file), 0) == 0 && fputs(head, journal->file) >= 0;
    return good && fflush(journal->file) == 0 ? RB_OK : cannot(ctx, "write", journal);
}

static rb_error add(rb_context *ctx, rb_journal *journal, int64_t job, rb_bytes result) {
    record r = {.job = job, .size = result.size};
    r.crc = crc_of(journal, &r, result.data);
    bool good = fwrite(&r, sizeof r, 1, journal->file) == 1 &&
                fwrite(result.data, 1, (size_t)result.size, journal->file) == (size_t)result.size;
    return good && fflush(journal->file) == 0 ? RB_OK : cannot(ctx, "write", journal);
}

/* ---- opening ---- */

static void close_journal(rb_journal *journal) {
    if (!journal) return;
    if (journal->file) fclose(journal->file);
    rb_lock_release(journal->lock);
    rb_free(journal->path);
    rb_free(journal);
}

static rb_error open_file(rb_context *ctx, const char *path, const char *mode, rb_journal **out) {
    rb_journal *journal = *out = rb_alloc_zero(ctx, 1, sizeof *journal);
    if (!journal) return RB_ERROR_MEMORY;
    rb_crc32_prepare(&journal->crc);
    journal->path = rb_copy_text(ctx, path);
    if (!journal->path) return RB_ERROR_MEMORY;
    bool writes = *mode == 'w';
    rb_error err = writes ? rb_lock_take(ctx, path, &journal->lock) : RB_OK;
    if (err) return err;
    if (access(path, F_OK) == 0) mode = writes ? "r+b" : "rb";
    bool other = access(path, F_OK) == 0 && !rb_is_regular(path);
    if (other) return no_journal(ctx, journal);
    journal->file = fopen(path, mode);
    return journal->file ? RB_OK : cannot(ctx, writes ? "write" : "read", journal);
}

static rb_error begin(rb_context *ctx, rb_journal *journal, const rb_journal_head *head) {
    char *key = NULL, *own = make_head(ctx, head->key, head->count);
    int64_t count;
    bool new = false;
    rb_error err = own ? is_new(ctx, journal, own, &new) : RB_ERROR_MEMORY;
    if (!err && new) err = write_head(ctx, journal, own);
    rb_free(own);
    err = err || new ? err : read_head(ctx, journal, &key, &count);
    if (err || !key) return err; /* a new one has none */
    if (strcmp(key, head->key) != 0 || count != head->count)
        err = other_jobs(ctx, journal->path, key, head->key);
    rb_free(key);
    int64_t end;
    err = err ? err : read_records(ctx, journal, head, &end);
    if (err) return err;
    return ftruncate(fileno(journal->file), end) == 0 && fseeko(journal->file, end, SEEK_SET) == 0
               ? RB_OK
               : cannot(ctx, "write", journal);
}

static rb_error open_journal(rb_context *ctx, const char *path, const rb_journal_head *head,
                             rb_journal **journal) {
    rb_error err = open_file(ctx, path, "w+b", journal);
    err = err ? err : begin(ctx, *journal, head);
    if (err) {
        close_journal(*journal);
        *journal = NULL;
    }
    return err;
}

const rb_journal_store rb_journals = {open_journal, add, close_journal};

/* ---- merging ---- */

typedef struct merging {
    rb_journal *to;
    char *key;   /* of the first file */
    char *there; /* per job: is it in? */
    int64_t count, found;
} merging;

static rb_error add_once(rb_context *ctx, int64_t job, rb_bytes bytes, void *user) {
    merging *all = user;
    rb_error err = all->there[job] ? RB_OK : add(ctx, all->to, job, bytes);
    all->found += !all->there[job];
    all->there[job] = 1;
    rb_free(bytes.data);
    return err;
}

static rb_error begin_merged(rb_context *ctx, merging *all) {
    char *head = make_head(ctx, all->key, all->count);
    all->there = rb_alloc_zero(ctx, all->count, 1);
    rb_error err = head && all->there ? write_head(ctx, all->to, head) : RB_ERROR_MEMORY;
    rb_free(head);
    return err;
}

static rb_error merge_one(rb_context *ctx, const char *path, merging *all) {
    rb_journal *from = NULL;
    char *key = NULL;
    int64_t count = 0;
    rb_error err = open_file(ctx, path, "rb", &from);
    err = err ? err : read_head(ctx, from, &key, &count);
    if (!err && key && all->key && (strcmp(key, all->key) != 0 || count != all->count))
        err = other_jobs(ctx, path, key, all->key);
    if (!err && key && !all->key) {
        all->key = key;
        all->count = count;
        key = NULL;
        err = begin_merged(ctx, all);
    }
    rb_journal_head head = {all->key, all->count, add_once, all};
    int64_t end;
    err = err ? err : read_records(ctx, from, &head, &end);
    rb_free(key);
    close_journal(from);
    return err;
}

rb_error rb_journal_merge(rb_context *ctx, const char *const *paths, int n_paths, const char *path,
                          int64_t *found, int64_t *count) {
    merging all = {0};
    rb_staged *staged = NULL;
    rb_error err = rb_staged_begin(ctx, path, &staged);
    err = err ? err : open_file(ctx, rb_staged_path(staged), "w+b", &all.to);
    for (int i = 0; !err && i < n_paths; i++)
        err = merge_one(ctx, paths[i], &all);
    close_journal(all.to);
    rb_free(all.key);
    rb_free(all.there);
    *found = all.found;
    *count = all.count;
    return rb_staged_end(ctx, err, staged);
}

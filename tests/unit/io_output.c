/* Promises of src/io/output.c: a file appears whole or not at all, and nothing is left beside
 * it. */
#include "../errors.h"
#include "io/io.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static rb_context *ctx;
static char folder[64];

static int enter(void **state) {
    (void)state;
    strcpy(folder, "/tmp/rarebit-output-XXXXXX");
    return rb_context_create(&ctx) || !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state) {
    (void)state;
    rb_context_free(ctx);
    return chdir("/") || rmdir(folder); /* fails when a test leaves a file behind */
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *path, const char *text) {
    char found[64] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

static int files_here(void) {
    int count = 0;
    DIR *here = opendir(".");
    assert_non_null(here);
    while (readdir(here))
        count++;
    closedir(here);
    return count - 2;
}

/* What the callback was told. */
struct told {
    int made, gone;
    char path[256];
};

static void on_temporary(const char *path, bool there, void *user) {
    struct told *told = user;
    told->made += there;
    told->gone += !there;
    if (there) {
        assert_int_equal(access(path, F_OK), 0);
        snprintf(told->path, sizeof told->path, "%s", path);
    } else {
        assert_int_equal(access(path, F_OK), -1);
        assert_string_equal(path, told->path);
    }
}

/* A program that is ended by a signal must know what to remove. */
static void the_temporary_file_is_told(void **state) {
    (void)state;
    struct told told = {0};
    rb_staged *output;
    rb_context_on_temporary(ctx, on_temporary, &told);
    assert_int_equal(rb_staged_begin(ctx, "a", &output), RB_OK);
    assert_int_equal(told.made, 1);
    assert_int_equal(told.gone, 0);
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_int_equal(told.gone, 1);
    assert_int_equal(rb_staged_begin(ctx, "a", &output), RB_OK);
    rb_context_on_temporary(ctx, NULL, NULL);
    rb_staged_abandon(output);
    assert_int_equal(told.made, 2);
    assert_int_equal(told.gone, 2);
    assert_int_equal(rb_staged_begin(ctx, "/dev/null", &output), RB_OK);
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_int_equal(told.made, 2);
    unlink("a");
}

static void the_old_file_stays_until_commit(void **state) {
    (void)state;
    rb_staged *output;
    write_text("a", "old");
    assert_int_equal(chmod("a", 0640), 0);
    assert_int_equal(rb_staged_begin(ctx, "a", &output), RB_OK);
    assert_string_not_equal(output->path, "a");
    write_text(output->path, "new");
    assert_text("a", "old");
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_text("a", "new");
    struct stat info;
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(files_here(), 1);
    unlink("a");
}

static void abandoning_leaves_nothing(void **state) {
    (void)state;
    rb_staged *output;
    assert_int_equal(rb_staged_begin(ctx, "a", &output), RB_OK);
    assert_int_equal(files_here(), 1);
    rb_staged_abandon(output);
    assert_int_equal(files_here(), 0);
    rb_staged_abandon(NULL);
}

static void two_writers_do_not_meet(void **state) {
    (void)state;
    rb_staged *first, *second;
    assert_int_equal(rb_staged_begin(ctx, "a", &first), RB_OK);
    assert_int_equal(rb_staged_begin(ctx, "a", &second), RB_OK);
    assert_string_not_equal(first->path, second->path);
    write_text(first->path, "1");
    write_text(second->path, "2");
    assert_int_equal(rb_staged_commit(ctx, second), RB_OK);
    assert_text("a", "2");
    assert_int_equal(rb_staged_commit(ctx, first), RB_OK);
    assert_text("a", "1");
    unlink("a");
}

static void a_link_stays_and_its_file_is_replaced(void **state) {
    (void)state;
    rb_staged *output;
    write_text("a", "old");
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(rb_staged_begin(ctx, "link", &output), RB_OK);
    write_text(output->path, "new");
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_text("a", "new");
    struct stat info;
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink("a");
    unlink("link");
}

static void long_names_fit(void **state) {
    (void)state;
    char name[256];
    rb_staged *output;
    memset(name, 'x', 255);
    name[255] = '\0';
    assert_int_equal(rb_staged_begin(ctx, name, &output), RB_OK);
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_int_equal(unlink(name), 0);
}

static void refuse(const char *path, const char *what) {
    rb_staged *output;
    assert_int_equal(rb_staged_check(ctx, path), RB_ERROR_FILE);
    assert_error(ctx, rb_staged_begin(ctx, path, &output), RB_ERROR_FILE, path);
    assert_non_null(strstr(rb_context_error(ctx), what));
    assert_null(output);
}

static void places_that_take_no_file_are_refused(void **state) {
    (void)state;
    mkdir("sub", 0700);
    write_text("file", "");
    refuse("sub", "folder");
    refuse("sub/", "folder");
    refuse("new/", "folder");
    refuse("missing/a", "there is no folder 'missing'");
    refuse("file/a", "there is no folder 'file'");
    refuse("", "empty");
    unlink("file");
    rmdir("sub");
}

static void an_unwritable_folder_is_refused(void **state) {
    (void)state;
    mkdir("sub", 0555);
    bool root = geteuid() == 0; /* who may write everywhere, and is somebody else for this test */
    if (root) assert_int_equal(setresuid(65534, 65534, 0), 0);
    refuse("sub/a", "no file can be made in its folder");
    if (root) assert_int_equal(setresuid(0, 0, 0), 0);
    rmdir("sub");
}

static void devices_and_pipes_are_written_directly(void **state) {
    (void)state;
    rb_staged *output;
    assert_int_equal(rb_staged_begin(ctx, "/dev/null", &output), RB_OK);
    assert_string_equal(output->path, "/dev/null");
    assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(rb_staged_begin(ctx, "pipe", &output), RB_OK);
    assert_string_equal(output->path, "pipe");
    rb_staged_abandon(output);
    assert_int_equal(unlink("pipe"), 0); /* it was not thrown away */
}

static void a_failed_commit_leaves_nothing(void **state) {
    (void)state;
    rb_staged *output;
    assert_int_equal(rb_staged_begin(ctx, "a", &output), RB_OK);
    mkdir("a", 0700);
    assert_error(ctx, rb_staged_commit(ctx, output), RB_ERROR_FILE, "cannot write a");
    assert_int_equal(rmdir("a"), 0);
    assert_int_equal(files_here(), 0);
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    rb_staged *output;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_staged_begin(ctx, "a", &output);
        if (!err) err = rb_staged_commit(ctx, output);
        assert_int_equal(files_here(), err ? 0 : 1);
    }
    assert_true(n > 1);
    unlink("a");
}

/* A link whose target is missing is neither replaced nor followed. */
static void a_link_to_nothing_is_refused(void **state) {
    (void)state;
    rb_staged *output;
    char target[16] = "";
    assert_int_equal(symlink("nothing", "link"), 0);
    assert_error(ctx, rb_staged_begin(ctx, "link", &output), RB_ERROR_FILE,
                 "link to a missing file");
    assert_int_equal(rb_staged_check(ctx, "link"), RB_ERROR_FILE);
    assert_int_equal(readlink("link", target, sizeof target), 7);
    assert_string_equal(target, "nothing");
    assert_int_equal(files_here(), 1);
    unlink("link");
}

/* Takes the lock of a file in a process that is killed then. */
static void be_killed(const char *path) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        rb_lock *lock;
        if (!rb_lock_take(ctx, path, &lock)) raise(SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* What writes again and again finds nothing that a killed process left, not even of a link, and
 * follows none; of others it removes nothing. */
static void written_again_it_takes_what_was_left(void **state) {
    (void)state;
    rb_staged *output;
    rb_lock *lock;
    write_text("precious", "kept");
    for (int times = 0; times < 2; times++) {
        be_killed("file");
        if (times)
            write_text(".file.tmp", "left");
        else
            assert_int_equal(symlink("precious", ".file.tmp"), 0);
        assert_int_equal(rb_lock_take(ctx, "file", &lock), RB_OK);
        assert_int_equal(access(".file.tmp", F_OK), -1);
        assert_int_equal(rb_staged_begin_as(ctx, "file", true, &output), RB_OK);
        write_text(output->path, "new");
        assert_int_equal(rb_staged_commit(ctx, output), RB_OK);
        assert_text("file", "new");
        assert_text("precious", "kept");
        rb_lock_release(lock);
        assert_int_equal(files_here(), 2);
    }
    write_text(".file.tmp", "somebody's");
    assert_int_equal(rb_lock_take(ctx, "file", &lock), RB_OK);
    assert_error(ctx, rb_staged_begin_as(ctx, "file", true, &output), RB_ERROR_FILE,
                 ".file.tmp is in the way");
    rb_lock_release(lock);
    assert_text(".file.tmp", "somebody's");
    unlink("file");
    unlink("precious");
    unlink(".file.tmp");
}

/* A file of the name of a lock that somebody else made is locked, but stays as it is. */
static void a_file_of_others_stays(void **state) {
    (void)state;
    static const char *const texts[] = {"", "precious", "rarebit lock\nand more"};
    rb_lock *one, *two;
    for (int i = 0; i < 3; i++) {
        write_text(".file.lock", texts[i]);
        struct told told = {0};
        rb_context_on_temporary(ctx, on_temporary, &told);
        assert_int_equal(rb_lock_take(ctx, "file", &one), RB_OK);
        assert_int_equal(rb_lock_take(ctx, "file", &two), RB_ERROR_FILE);
        rb_lock_release(one);
        assert_int_equal(told.made, 0); /* nor does the program remove it at a signal */
        assert_text(".file.lock", texts[i]);
    }
    unlink(".file.lock");
}

/* A lock is one's own, by whatever name; it goes when it is let go, and its file with it. */
static void a_lock_is_of_one(void **state) {
    (void)state;
    rb_lock *one, *two;
    write_text("file", "");
    assert_int_equal(symlink("file", "link"), 0);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(rb_lock_take(ctx, "file", &one), RB_OK);
        assert_non_null(one);
        assert_int_equal(rb_lock_take(ctx, "file", &two), RB_ERROR_FILE);
        assert_error(ctx, rb_lock_take(ctx, "./link", &two), RB_ERROR_FILE,
                     "is being written by another process");
        assert_null(two);
        rb_lock_release(one);
        assert_int_equal(files_here(), 2);
    }
    assert_int_equal(rb_lock_take(ctx, "none/file", &one), RB_OK); /* nor could it be written */
    assert_null(one);
    rb_lock_release(NULL);
    unlink("link");
    unlink("file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_temporary_file_is_told),
        cmocka_unit_test(the_old_file_stays_until_commit),
        cmocka_unit_test(abandoning_leaves_nothing),
        cmocka_unit_test(two_writers_do_not_meet),
        cmocka_unit_test(a_link_stays_and_its_file_is_replaced),
        cmocka_unit_test(written_again_it_takes_what_was_left),
        cmocka_unit_test(a_link_to_nothing_is_refused),
        cmocka_unit_test(a_file_of_others_stays),
        cmocka_unit_test(a_lock_is_of_one),
        cmocka_unit_test(long_names_fit),
        cmocka_unit_test(places_that_take_no_file_are_refused),
        cmocka_unit_test(an_unwritable_folder_is_refused),
        cmocka_unit_test(devices_and_pipes_are_written_directly),
        cmocka_unit_test(a_failed_commit_leaves_nothing),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}

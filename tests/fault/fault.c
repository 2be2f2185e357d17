/* Runs a command and lets one of its calls to the system fail, as a broken disk or a full one
 * would.
 *
 *   fault read|write|signal N FOLDER COMMAND [ARGUMENT...]
 *
 * The N-th call (from 1) on a regular file below FOLDER fails: a read with EIO; a write, sync,
 * truncation, renaming or opening for writing with ENOSPC; or in place of failing SIGTERM comes
 * with one of these. The exit status is the command's (128 + the number of a signal). When the
 * fault has come to pass, its name goes to file descriptor 3, if that is open.
 *
 * The kernel asks us before each such call (seccomp's user notification), whether it comes from the
 * C library, from HDF5 or from zlib, in whatever thread. Where the kernel cannot, the exit status
 * is 77. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 77

enum { MAX_SECONDS = 60 };

/* Which argument of a call names the file. */
typedef enum where { DESCRIPTOR, PATH_FIRST, PATH_SECOND } where;

typedef struct call {
    int number;
    where file;
    bool read;
    const char *name;
} call;

static const call CALLS[] = {
    {SYS_read, DESCRIPTOR, true, "read"},
    {SYS_pread64, DESCRIPTOR, true, "pread64"},
    {SYS_readv, DESCRIPTOR, true, "readv"},
    {SYS_write, DESCRIPTOR, false, "write"},
    {SYS_pwrite64, DESCRIPTOR, false, "pwrite64"},
    {SYS_writev, DESCRIPTOR, false, "writev"},
    {SYS_fsync, DESCRIPTOR, false, "fsync"},
    {SYS_fdatasync, DESCRIPTOR, false, "fdatasync"},
    {SYS_ftruncate, DESCRIPTOR, false, "ftruncate"},
    {SYS_openat, PATH_SECOND, false, "openat"},
    {SYS_renameat, PATH_SECOND, false, "renameat"},
    {SYS_renameat2, PATH_SECOND, false, "renameat2"},
#ifdef SYS_rename
    {SYS_rename, PATH_FIRST, false, "rename"},
    {SYS_open, PATH_FIRST, false, "open"},
#endif
};
enum { N_CALLS = sizeof CALLS / sizeof CALLS[0] };

static const call *find_call(int number) {
    for (int i = 0; i < N_CALLS; i++)
        if (CALLS[i].number == number) return &CALLS[i];
    return NULL;
}

/* Makes the kernel ask about the calls of this process from now on; returns whom it asks. */
static int install_filter(void) {
    struct sock_filter program[N_CALLS + 3];
    int n = 0;
    program[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < N_CALLS; i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)CALLS[i].number, (uint8_t)(N_CALLS - i), 0);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog filter = {(unsigned short)n, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &filter);
}

static void send_descriptor(int channel, int descriptor) {
    char byte = 0;
    struct iovec text = {&byte, 1};
    union {
        char capacity[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control.capacity;
        message.msg_controllen = sizeof control.capacity;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    sendmsg(channel, &message, 0);
}

static int receive_descriptor(int channel) {
    char byte;
    struct iovec text = {&byte, 1};
    union {
        char capacity[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = control.capacity,
                             .msg_controllen = sizeof control.capacity};
    int descriptor = -1;
    if (recvmsg(channel, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

/* The file that a call is about; "" when it cannot be known. */
static void file_of(const struct seccomp_notif *asked, const call *c, char *path, size_t size) {
    path[0] = 0;
    if (c->file == DESCRIPTOR) {
        char link[64];
        snprintf(link, sizeof link, "/proc/%u/fd/%d", asked->pid, (int)asked->data.args[0]);
        ssize_t length = readlink(link, path, size - 1);
        path[length > 0 ? length : 0] = 0;
        return;
    }
    struct iovec here = {path, size - 1};
    uint64_t address = asked->data.args[c->file == PATH_FIRST ? 0 : 1];
    /* Paths end long before a page does, mostly; ask again for less where it does not. */
    for (here.iov_len = size - 1; here.iov_len > 0; here.iov_len /= 2) {
        struct iovec there = {(void *)(uintptr_t)address, here.iov_len}; /* NOLINT */
        ssize_t length = process_vm_readv((pid_t)asked->pid, &here, 1, &there, 1, 0);
        if (length > 0) {
            path[length] = 0;
            return;
        }
    }
}

/* Folders are synced after a file has got its name: what fails then changes nothing. */
static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool opens_for_reading(const struct seccomp_notif *asked, const call *c) {
    if (strncmp(c->name, "open", 4) != 0) return false;
    int flags = (int)asked->data.args[c->file == PATH_FIRST ? 1 : 2];
    return (flags & O_ACCMODE) == O_RDONLY;
}

/* Answers every question until the command has ended. */
static void supervise(int listener, const char *fault, long n, const char *folder, int report) {
    bool reads = strcmp(fault, "read") == 0;
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    long seen = 0;
    for (;;) {
        if (poll(&waiting, 1, -1) < 0 && errno == EINTR) continue;
        if (!(waiting.revents & POLLIN)) return;
        struct seccomp_notif asked = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked)) continue;
        struct seccomp_notif_resp answer = {.id = asked.id,
                                            .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        const call *c = find_call(asked.data.nr);
        char path[4096];
        if (c && c->read == reads && !opens_for_reading(&asked, c)) {
            file_of(&asked, c, path, sizeof path);
            if (strncmp(path, folder, strlen(folder)) == 0 && !is_folder(path) && ++seen == n) {
                if (strcmp(fault, "signal") == 0) {
                    kill((pid_t)asked.pid, SIGTERM);
                } else {
                    answer.flags = 0;
                    answer.error = reads ? -EIO : -ENOSPC;
                }
                if (report >= 0) dprintf(report, "%s of %s\n", c->name, path);
            }
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fputs("usage: fault read|write|signal N FOLDER COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    int report = fcntl(3, F_DUPFD_CLOEXEC, 3);
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel)) return CANNOT;
    pid_t child = fork();
    if (child == 0) {
        int listener = install_filter();
        send_descriptor(channel[1], listener);
        if (listener < 0) _exit(CANNOT);
        close(listener);
        alarm(MAX_SECONDS); /* a command that hangs ends by SIGALRM */
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    close(channel[1]);
    int listener = receive_descriptor(channel[0]);
    if (listener < 0) return CANNOT;
    supervise(listener, argv[1], strtol(argv[2], NULL, 10), argv[3], report);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

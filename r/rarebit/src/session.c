/* The context of the session; errors, log messages and interrupts as R has them. */
#include "binding.h"

#include <rarebit/deep.h>

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

typedef struct log_entry {
    rb_log_level level;
    char *text;
} log_entry;

static rb_context *session;
static struct {
    log_entry *entries;
    int count, room;
} messages;
static struct sigaction before;
static volatile sig_atomic_t signalled; /* SIGINT came */
static SEXP unwinding;                  /* a jump of R's that waits for the library's return */
static call_frame *running;             /* the innermost call */

/* Out of memory: the message is lost, the call is not. */
static void on_log(rb_log_level level, const char *text, void *user) {
    (void)user;
    if (messages.count == messages.room) {
        int room = messages.room ? 2 * messages.room : 8;
        log_entry *more = realloc(messages.entries, (size_t)room * sizeof *more);
        if (!more) return;
        messages.entries = more;
        messages.room = room;
    }
    char *copy = malloc(2 * strlen(text) + 1);
    if (!copy) return;
    spell(text, copy);
    messages.entries[messages.count++] = (log_entry){level, copy};
}

const char **messages_of(rb_log_level level) {
    const char **texts = (const char **)R_alloc((size_t)messages.count + 1, sizeof *texts);
    int n = 0;
    for (int i = 0; i < messages.count; i++)
        if (messages.entries[i].level == level) texts[n++] = messages.entries[i].text;
    texts[n] = NULL;
    return texts;
}

rb_context *context(void) {
    if (session) return session;
    if (rb_context_new(&session)) refuse("out of memory");
    rb_context_on_log(session, on_log, NULL);
    rb_context_count_from(session, 1);
#ifdef RAREBIT_NETS
    if (rb_nets_use(session)) refuse("out of memory");
#endif
#ifdef RAREBIT_IO
    binding_use_files(session);
#endif
    return session;
}

/* ---- interrupts ---- */

static void on_signal(int number) {
    (void)number;
    signalled = 1;
    rb_context_stop(session);
}

static SEXP progress_list(const rb_progress *p) {
    static const char *const names[] = {"iteration", "iterations", "objective",
                                        "seconds",   "elapsed",    "remaining"};
    double values[] = {(double)p->iteration, (double)p->iterations, p->objective, p->seconds,
                       p->elapsed,           p->remaining};
    SEXP list = PROTECT(named_list(names, 6));
    for (int i = 0; i < 6; i++)
        SET_VECTOR_ELT(list, i, Rf_ScalarReal(values[i]));
    UNPROTECT(1);
    return list;
}

typedef struct told {
    const rb_progress *progress;
    int stop;
} told;

/* May jump: only by in_r. Graphical consoles have interrupts without a signal. */
static void tell(void *user) {
    told *t = user;
    R_CheckUserInterrupt();
    if (running->each == R_NilValue) return;
    SEXP progress = PROTECT(progress_list(t->progress));
    SEXP call = PROTECT(Rf_lang2(running->each, progress));
    SEXP answer = PROTECT(Rf_eval(call, R_GlobalEnv));
    t->stop = TYPEOF(answer) == LGLSXP && XLENGTH(answer) == 1 && LOGICAL(answer)[0] == FALSE;
    UNPROTECT(3);
}

typedef struct jump {
    void (*jumps)(void *);
    void *user;
    jmp_buf back;
} jump;

static SEXP call_jumps(void *user) {
    jump *j = user;
    j->jumps(j->user);
    return R_NilValue;
}

static void stay(void *user, Rboolean jumping) {
    if (jumping) longjmp(((jump *)user)->back, 1);
}

/* An error, interrupt or restart of R's ends the call of the library, and goes on in check(). */
rb_error in_r(void (*jumps)(void *), void *user) {
    if (unwinding) return RB_ERROR_INTERRUPTED;
    jump j = {.jumps = jumps, .user = user};
    SEXP token = R_MakeUnwindCont();
    R_PreserveObject(token);
    if (setjmp(j.back)) {
        unwinding = token;
        return RB_ERROR_INTERRUPTED;
    }
    R_UnwindProtect(call_jumps, &j, stay, &j, token);
    R_ReleaseObject(token);
    return RB_OK;
}

static rb_error on_progress(const rb_progress *progress, void *user) {
    (void)user;
    told t = {progress, 0};
    rb_error err = in_r(tell, &t);
    return t.stop ? RB_ERROR_INTERRUPTED : err;
}

/* The outermost call alone sets the threads, which the others must not change under it, and the
 * handler of the signal; a request to stop that came before a call within it holds for that too. */
void call_begin(call_frame *frame, int threads, SEXP each) {
    struct sigaction action = {.sa_handler = on_signal};
    rb_context *ctx = context();
    if (!running) {
        if (threads != rb_context_threads(ctx)) check(rb_context_set_threads(ctx, threads));
        rb_context_clear_stop(ctx);
        rb_context_on_progress(ctx, on_progress, NULL);
        signalled = 0;
        sigemptyset(&action.sa_mask);
        sigaction(SIGINT, &action, &before);
    }
    *frame = (call_frame){each, running};
    running = frame;
}

void call_end(call_frame *frame) {
    running = frame->outer;
    if (!running) sigaction(SIGINT, &before, NULL);
}

void check(rb_error err) {
    SEXP token = PROTECT(unwinding ? unwinding : R_NilValue);
    if (unwinding) R_ReleaseObject(unwinding);
    unwinding = NULL;
    if (signalled) {
        struct sigaction own;
        signalled = 0;
        rb_context_clear_stop(session);
        sigaction(SIGINT, &before, &own);
        raise(SIGINT); /* R's own handler notes it */
        sigaction(SIGINT, &own, NULL);
        R_CheckUserInterrupt();
    }
    if (token != R_NilValue) R_ContinueUnwind(token);
    UNPROTECT(1);
    if (err) {
        const char *message = rb_context_error(session);
        char *spelt = R_alloc(2 * strlen(message) + 1, 1);
        spell(message, spelt);
        Rf_errorcall(R_NilValue, "%s", spelt);
    }
}

void refuse(const char *sentence) {
    Rf_errorcall(R_NilValue, "%s", sentence);
}

/* ---- for R ---- */

/* The messages since the last time: their texts, with the names "warning" and "info". */
SEXP binding_messages(void) {
    int n = messages.count;
    SEXP texts = PROTECT(Rf_allocVector(STRSXP, n)), levels = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        log_entry *m = &messages.entries[i];
        SET_STRING_ELT(texts, i, Rf_mkCharCE(m->text, CE_UTF8));
        SET_STRING_ELT(levels, i, Rf_mkChar(m->level == RB_LOG_WARNING ? "warning" : "info"));
    }
    for (int i = 0; i < n; i++)
        free(messages.entries[i].text);
    messages.count = 0;
    Rf_setAttrib(texts, R_NamesSymbol, levels);
    UNPROTECT(2);
    return texts;
}

/* What there is beside the core. */
static const struct {
    const char *library;
    const bool *there;
} parts[] = {{"io", &has_files}, {"nets", &has_nets}, {"media", &has_media}};

void need(const char *library) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(parts[i].library, library) && !*parts[i].there)
            Rf_errorcall(R_NilValue, "this rarebit was built without librarebit-%s%s", library,
                         i ? ": install it, and then this package again"
                           : ": it reads and writes no files; saveRDS keeps models");
}

SEXP binding_need(SEXP library) {
    need(text_of(library));
    return R_NilValue;
}

/* What computes, as rb_build_info has it, and which libraries are there. */
SEXP binding_build(void) {
    static const char *const names[] = {"version",     "compiler", "kernels", "blas", "blas_core",
                                        "blas_advice", "files",    "nets",    "media"};
    SEXP list = PROTECT(named_list(names, 9));
    SET_VECTOR_ELT(list, 0, text_to(rb_version()));
    for (int i = 1; i < 6; i++)
        SET_VECTOR_ELT(list, i, text_to(rb_build_info(context(), names[i])));
    for (int i = 0; i < 3; i++)
        SET_VECTOR_ELT(list, 6 + i, Rf_ScalarLogical(*parts[i].there));
    UNPROTECT(1);
    return list;
}

SEXP binding_set_kernels(SEXP name) {
    check(rb_context_set_kernels(context(), text_of(name)));
    return R_NilValue;
}

SEXP binding_set_min_shared(SEXP share) {
    check(rb_context_set_min_shared(context(), Rf_asReal(share)));
    return R_NilValue;
}

SEXP binding_methods(void) {
    rb_context *ctx = context();
    int n = 0;
    while (rb_context_method(ctx, n))
        n++;
    SEXP titles = PROTECT(Rf_allocVector(STRSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        SET_STRING_ELT(titles, i, Rf_mkChar(rb_context_method(ctx, i)->title));
        SET_STRING_ELT(names, i, Rf_mkChar(rb_context_method(ctx, i)->name));
    }
    Rf_setAttrib(titles, R_NamesSymbol, names);
    UNPROTECT(2);
    return titles;
}

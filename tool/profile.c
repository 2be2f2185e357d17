/* What fit --profile tells: a line for each phase. */
#include "tool.h"

typedef struct phase {
    const char *name;
    double seconds, flops, bytes;
} phase;

static phase phase_of(const invocation *call, int index) {
    phase p = {0};
    p.name = rb_context_phase(call->ctx, index, &p.seconds, &p.flops, &p.bytes);
    return p;
}

static rb_error print_json(const invocation *call) {
    json_t *list = json_array(), *json = json_object();
    int i = 0;
    for (phase p = phase_of(call, 0); p.name; p = phase_of(call, ++i)) {
        rb_json_add(&list, NULL,
                    json_pack("{ss so so so}", "phase", p.name, "seconds",
                              rb_json_rounded(p.seconds, 4), "flops", rb_json_number(p.flops),
                              "bytes", rb_json_number(p.bytes)));
    }
    rb_json_add(&json, "phases", list);
    return json_put(call->ctx, stdout, json);
}

static double seconds_of_all(const invocation *call) {
    double sum = 0;
    int i = 0;
    for (phase p = phase_of(call, 0); p.name; p = phase_of(call, ++i))
        sum += p.seconds;
    return sum;
}

int report_profile(const invocation *call) {
    int i = 0;
    if (!option_flag(call, "profile")) return STATUS_DONE;
    if (option_flag(call, "json")) return report_failure(call->ctx, print_json(call));
    double all = seconds_of_all(call);
    report("%-22s %9s %6s %8s %8s %8s", "phase", "seconds", "share", "Gflop", "Gflop/s", "GB");
    for (phase p = phase_of(call, 0); p.name; p = phase_of(call, ++i)) {
        double rate = p.seconds > 0 ? p.flops / p.seconds : 0;
        report("%-22s %9.3f %4.0f %% %8.3g %8.3g %8.3g", p.name, p.seconds, 100 * p.seconds / all,
               1e-9 * p.flops, 1e-9 * rate, 1e-9 * p.bytes);
    }
    return STATUS_DONE;
}

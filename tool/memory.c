/* The memory that a fit will need, said before it begins. */
#include "tool.h"

#include <unistd.h>

void size_text(double bytes, char *buffer, size_t size) {
    static const char *const units[] = {"MB", "GB", "TB"};
    double value = bytes * 1e-6;
    int unit = 0;
    for (; unit < 2 && value >= 1000; unit++)
        value *= 1e-3;
    if (value > 1000)
        snprintf(buffer, size, "more than 1000 TB");
    else
        snprintf(buffer, size, "%.*f %s", value < 10, value, units[unit]);
}

int check_memory(const invocation *call, const rb_source *source,
                 rb_error (*of)(rb_context *ctx, const rb_options *options, const rb_source *source,
                                int64_t *bytes)) {
    int64_t bytes = 0;
    double value = rb_source_type(source) == RB_FLOAT32 ? sizeof(float) : sizeof(double);
    double values = (double)rb_source_samples(source) * (double)rb_source_features(source);
    double data = rb_source_sparse(source) ? 0 : values * value;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char needed[32], other[32];
    rb_error err = of(call->ctx, call->options, source, &bytes);
    if (err) return report_failure(call->ctx, err);
    bool fits = (double)bytes <= machine;
    size_text((double)bytes, needed, sizeof needed);
    size_text(fits ? data : machine, other, sizeof other);
    if (!fits) {
        return report_error(
            "the fit would need %s of memory, and this machine has %s; use fewer --units", needed,
            other);
    }
    if ((double)bytes + data > 1e9)
        report("the fit needs about %s of memory, besides %s of data", needed, other);
    return STATUS_DONE;
}

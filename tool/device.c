/* Devices: librarebit-cl is loaded when one is asked for. */
#include "tool.h"

#include <rarebit/cl.h>

const rb_cl_functions *device_library(void) {
    const rb_cl_functions *functions = table_beside("librarebit-cl", "rb_cl_table");
    return functions && functions->size == sizeof *functions ? functions : NULL;
}

const rb_option_group *device_group(void) {
    static const rb_option table[] = {
        {TEXT_OPTION("device"), "DEVICE",
         "compute on a device of OpenCL: cl for the first GPU, or cl:N ('rarebit devices' lists "
         "them); for rfn, linca, nmf-et and mca"},
        {0},
    };
    static const rb_option_group group = {sizeof(rb_option), "Device", table};
    return &group;
}

static int without_library(void) {
    return report_error(
        "devices need librarebit-cl, which is not beside this rarebit; it is built where "
        "OpenCL and CLBlast are found");
}

int device_begin(const invocation *call, rb_device **device) {
    const char *text = option_text(call, "device");
    char message[RB_DEVICE_MESSAGE];
    *device = NULL;
    if (!text) return STATUS_DONE;
    const rb_cl_functions *cl = device_library();
    if (!cl) return without_library();
    rb_error err = cl->open(text, device, message);
    err =
        err ? rb_context_fail(call->ctx, err, message) : rb_context_set_device(call->ctx, *device);
    return report_failure(call->ctx, err);
}

void device_end(const invocation *call, rb_device *device) {
    (void)rb_context_set_device(call->ctx, NULL);
    if (device) device_library()->close(device);
}

static json_t *device_json(int index, const rb_cl_info *info) {
    char name[16];
    snprintf(name, sizeof name, "cl:%d", index);
    return json_pack("{ss ss ss ss sf sb}", "device", name, "name", info->name, "platform",
                     info->platform, "driver", info->driver, "memory", info->memory, "gpu",
                     info->gpu);
}

static rb_error list_json(rb_context *ctx, const rb_cl_functions *cl) {
    json_t *list = json_array();
    for (int i = 0; list && i < cl->count(); i++) {
        rb_cl_info info = {.size = sizeof info};
        if (!cl->about(i, &info)) json_array_append_new(list, device_json(i, &info));
    }
    return json_put(ctx, stdout, json_pack("{so}", "devices", list));
}

static void list_text(const rb_cl_functions *cl) {
    for (int i = 0; i < cl->count(); i++) {
        rb_cl_info info = {.size = sizeof info};
        if (cl->about(i, &info)) continue;
        printf("cl:%-3d %s, %.1f GB, %s (%s, driver %s)\n", i, info.gpu ? "GPU" : "processor",
               info.memory * 1e-9, info.name, info.platform, info.driver);
    }
}

static int run(invocation *call) {
    const rb_cl_functions *cl = device_library();
    if (!cl) return without_library();
    if (option_flag(call, "json")) return report_failure(call->ctx, list_json(call->ctx, cl));
    if (cl->count() == 0) return report_error("OpenCL finds no device; install the driver of one");
    list_text(cl);
    return STATUS_DONE;
}

const command devices_command = {
    .words = "devices",
    .summary = "list the devices that fits can run on",
    .description = "Lists the devices of OpenCL, with the names that --device of 'fit' and "
                   "'encode' takes.",
    .groups = {json_group, general_group},
    .examples = {{"Which devices are there?", "devices"},
                 {"A fit on the first GPU", "fit rfn X.npy -k 500 --device cl -o model.h5"}},
    .run = run,
};

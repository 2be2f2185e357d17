/* The functions that R may call, for loader.c. */
#include "binding.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "calls.h"

RB_API extern const R_CallMethodDef binding_calls[];

/* In the place of what a library that is not there would do: R asks binding_need before. */
SEXP binding_absent(void) {
    refuse("this rarebit was built without what is asked for");
    return R_NilValue;
}

const R_CallMethodDef binding_calls[] = {
    {"C_messages", (DL_FUNC)&binding_messages, 0},
    {"C_build", (DL_FUNC)&binding_build, 0},
    {"C_need", (DL_FUNC)&binding_need, 1},
    {"C_methods", (DL_FUNC)&binding_methods, 0},
    {"C_set_kernels", (DL_FUNC)&binding_set_kernels, 1},
    {"C_set_min_shared", (DL_FUNC)&binding_set_min_shared, 1},
    {"C_data", (DL_FUNC)&binding_data, 4},
    {"C_blocks", (DL_FUNC)&binding_blocks, 4},
    {"C_first", (DL_FUNC)&binding_first, 2},
    {"C_covariates", (DL_FUNC)&binding_covariates, 2},
    {"C_data_info", (DL_FUNC)&binding_data_info, 1},
    {"C_options", (DL_FUNC)&binding_options, 3},
    {"C_option_table", (DL_FUNC)&binding_option_table, 1},
    {"C_device", (DL_FUNC)&binding_device, 1},
    {"C_fit", (DL_FUNC)&binding_fit, 5},
    {"C_model_bytes", (DL_FUNC)&binding_model_bytes, 1},
    {"C_model_of_bytes", (DL_FUNC)&binding_model_of_bytes, 1},
    {"C_is_there", (DL_FUNC)&binding_is_there, 1},
    {"C_model_info", (DL_FUNC)&binding_model_info, 1},
    {"C_model_array", (DL_FUNC)&binding_model_array, 2},
    {"C_model_array_names", (DL_FUNC)&binding_model_array_names, 1},
    {"C_model_attributes", (DL_FUNC)&binding_model_attributes, 1},
    {"C_set_attribute", (DL_FUNC)&binding_set_attribute, 3},
    {"C_model_history", (DL_FUNC)&binding_model_history, 1},
    {"C_encode", (DL_FUNC)&binding_encode, 3},
    {"C_reconstruct", (DL_FUNC)&binding_reconstruct, 3},
    {"C_sample", (DL_FUNC)&binding_sample, 6},
    {"C_evaluate", (DL_FUNC)&binding_evaluate, 3},
    {"C_states", (DL_FUNC)&binding_states, 4},
    {"C_view", (DL_FUNC)&binding_view, 3},
    {"C_modules", (DL_FUNC)&binding_modules, 5},
    {"C_compare", (DL_FUNC)&binding_compare, 4},
    {"C_report", (DL_FUNC)&binding_report, 5},
    {"C_consensus", (DL_FUNC)&binding_consensus, 4},
    {"C_select", (DL_FUNC)&binding_select, 4},
    {"C_simulate", (DL_FUNC)&binding_simulate, 2},
    {"C_check", (DL_FUNC)&binding_check, 3},
    {"C_compare_models", (DL_FUNC)&binding_compare_models, 4},
    {"C_compare_cohorts", (DL_FUNC)&binding_compare_cohorts, 5},
    {"C_rerun", (DL_FUNC)&binding_rerun, 4},
    {"C_read", (DL_FUNC)&binding_read, 1},
    {"C_keep", (DL_FUNC)&binding_keep, 2},
    {"C_kept", (DL_FUNC)&binding_kept, 1},
#ifdef RAREBIT_NETS
    {"C_stack", (DL_FUNC)&binding_stack, 4},
    {"C_finetune", (DL_FUNC)&binding_finetune, 6},
    {"C_grid", (DL_FUNC)&binding_grid, 6},
    {"C_score", (DL_FUNC)&binding_score, 3},
    {"C_outputs", (DL_FUNC)&binding_outputs, 1},
#else
    {"C_stack", (DL_FUNC)&binding_absent, 4},
    {"C_finetune", (DL_FUNC)&binding_absent, 6},
    {"C_grid", (DL_FUNC)&binding_absent, 6},
    {"C_score", (DL_FUNC)&binding_absent, 3},
    {"C_outputs", (DL_FUNC)&binding_absent, 1},
#endif
#ifdef RAREBIT_MEDIA
    {"C_patches", (DL_FUNC)&binding_patches, 3},
    {"C_segments", (DL_FUNC)&binding_segments, 2},
    {"C_denoise", (DL_FUNC)&binding_denoise, 5},
#else
    {"C_patches", (DL_FUNC)&binding_absent, 3},
    {"C_segments", (DL_FUNC)&binding_absent, 2},
    {"C_denoise", (DL_FUNC)&binding_absent, 5},
#endif
#ifdef RAREBIT_IO
    {"C_write", (DL_FUNC)&binding_write, 2},
    {"C_merge", (DL_FUNC)&binding_merge, 2},
    {"C_open", (DL_FUNC)&binding_open, 2},
    {"C_save", (DL_FUNC)&binding_save, 2},
    {"C_load", (DL_FUNC)&binding_load, 1},
#else
    {"C_write", (DL_FUNC)&binding_absent, 2},
    {"C_merge", (DL_FUNC)&binding_absent, 2},
    {"C_open", (DL_FUNC)&binding_absent, 2},
    {"C_save", (DL_FUNC)&binding_absent, 2},
    {"C_load", (DL_FUNC)&binding_absent, 1},
#endif
#if defined(RAREBIT_IO) && defined(RAREBIT_NETS)
    {"C_export", (DL_FUNC)&binding_export, 3},
    {"C_import", (DL_FUNC)&binding_import, 2},
#else
    {"C_export", (DL_FUNC)&binding_absent, 3},
    {"C_import", (DL_FUNC)&binding_absent, 2},
#endif
#if defined(RAREBIT_MEDIA) && defined(RAREBIT_NETS)
    {"C_kernels", (DL_FUNC)&binding_kernels, 5},
#else
    {"C_kernels", (DL_FUNC)&binding_absent, 5},
#endif
    {NULL, NULL, 0},
};

/* For R that loads the binding itself, without the loader. */
attribute_visible void R_init_binding(DllInfo *dll);

void R_init_binding(DllInfo *dll) {
    R_registerRoutines(dll, NULL, binding_calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
}

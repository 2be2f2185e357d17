/* What R calls by .Call, registered in register.c. */
#ifndef RAREBIT_CALLS_H
#define RAREBIT_CALLS_H

#include "binding.h"

SEXP binding_messages(void);
SEXP binding_build(void);
SEXP binding_need(SEXP library);
SEXP binding_methods(void);
SEXP binding_set_kernels(SEXP name);
SEXP binding_set_min_shared(SEXP share);

SEXP binding_data(SEXP x, SEXP columns, SEXP sample_names, SEXP feature_names);
SEXP binding_blocks(SEXP read, SEXP dim, SEXP sample_names, SEXP feature_names);
SEXP binding_first(SEXP data, SEXP count);
SEXP binding_covariates(SEXP data, SEXP covariates);
SEXP binding_data_info(SEXP data);
SEXP binding_read(SEXP data);

SEXP binding_options(SEXP what, SEXP names, SEXP values);
SEXP binding_option_table(SEXP what);

SEXP binding_device(SEXP name);
SEXP binding_fit(SEXP options, SEXP data, SEXP start, SEXP threads, SEXP each);
SEXP binding_model_bytes(SEXP model);
SEXP binding_model_of_bytes(SEXP raw);
SEXP binding_keep(SEXP model, SEXP data);
SEXP binding_kept(SEXP model);
SEXP binding_is_there(SEXP pointer);
SEXP binding_model_info(SEXP model);
SEXP binding_model_array(SEXP model, SEXP name);
SEXP binding_model_array_names(SEXP model);
SEXP binding_model_attributes(SEXP model);
SEXP binding_set_attribute(SEXP model, SEXP name, SEXP value);
SEXP binding_model_history(SEXP model);
SEXP binding_encode(SEXP model, SEXP data, SEXP threads);
SEXP binding_reconstruct(SEXP model, SEXP data, SEXP threads);
SEXP binding_sample(SEXP model, SEXP data, SEXP count, SEXP noise, SEXP seed, SEXP threads);
SEXP binding_evaluate(SEXP model, SEXP data, SEXP threads);
SEXP binding_states(SEXP model, SEXP data, SEXP values, SEXP threads);
SEXP binding_view(SEXP model, SEXP data, SEXP features);
SEXP binding_modules(SEXP model, SEXP data, SEXP options, SEXP blocks, SEXP threads);
SEXP binding_compare(SEXP data, SEXP labels, SEXP options, SEXP threads);
SEXP binding_consensus(SEXP options, SEXP data, SEXP threads, SEXP each);
SEXP binding_report(SEXP model, SEXP data, SEXP options, SEXP asks, SEXP threads);
SEXP binding_select(SEXP options, SEXP data, SEXP threads, SEXP each);
SEXP binding_simulate(SEXP what, SEXP options);
SEXP binding_check(SEXP data, SEXP options, SEXP threads);
SEXP binding_compare_models(SEXP first, SEXP second, SEXP options, SEXP threads);
SEXP binding_compare_cohorts(SEXP model, SEXP first, SEXP second, SEXP options, SEXP threads);
SEXP binding_rerun(SEXP model, SEXP data, SEXP start, SEXP threads);

SEXP binding_absent(void); /* in the place of what is not there */

/* Of nets. */
SEXP binding_stack(SEXP options, SEXP data, SEXP threads, SEXP each);
SEXP binding_finetune(SEXP options, SEXP start, SEXP train, SEXP valid, SEXP threads, SEXP each);
SEXP binding_grid(SEXP options, SEXP values, SEXP start, SEXP train, SEXP valid, SEXP threads);
SEXP binding_score(SEXP model, SEXP samples, SEXP threads);
SEXP binding_outputs(SEXP model);
SEXP binding_export(SEXP model, SEXP filter, SEXP path);
SEXP binding_import(SEXP path, SEXP like);

/* Of images and sounds. */
SEXP binding_patches(SEXP files, SEXP options, SEXP whitening);
SEXP binding_segments(SEXP files, SEXP options);
SEXP binding_kernels(SEXP model, SEXP filter, SEXP size, SEXP whitening, SEXP path);
SEXP binding_denoise(SEXP model, SEXP image, SEXP options, SEXP output, SEXP threads);

/* Of files. */
SEXP binding_write(SEXP data, SEXP path);
SEXP binding_merge(SEXP parts, SEXP path);
SEXP binding_open(SEXP path, SEXP options);
SEXP binding_save(SEXP model, SEXP path);
SEXP binding_load(SEXP path);

/* Finalizers of what is held while values of R are made of it. */
void binding_free_bytes(SEXP holder);
void binding_free_metrics(SEXP holder);
void binding_free_modules(SEXP holder);

void binding_use_files(rb_context *context);

#endif

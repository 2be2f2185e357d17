/* How answers are shown: tables at the terminal, rows of files, JSON. */
#ifndef TOOL_ANSWERS_TABLES_H
#define TOOL_ANSWERS_TABLES_H

#include "answers.h"

void print_sets(const answers *a);
void print_classes(const answers *a);
void print_covariates(const answers *a);

result_table table_of_sets(const answers *a);
result_table table_of_classes(const answers *a);
result_table table_of_covariates(const answers *a);

void add_sets(json_t **to, const answers *a);
void add_classes(json_t **to, const answers *a);
void add_covariates(json_t **to, const answers *a);

#endif

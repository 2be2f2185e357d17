#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The file of the running program, into a buffer of that size; false: it cannot be told. */
bool own_path(char *path, size_t size);

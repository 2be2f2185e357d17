/* Libraries that are loaded when they are needed: from beside the tool or from where they are
 * installed with it, and from nowhere else. */
#include "own_path.h"
#include "tool.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

/* "FOLDER/FILE", FOLDER that of the tool and `below` from there. */
static void *load_from(const char *below, const char *file) {
    char path[PATH_MAX + 256];
    char *slash = own_path(path, PATH_MAX) ? strrchr(path, '/') : NULL;
    if (!slash) return NULL;
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s%s", below, file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

const void *table_beside(const char *library, const char *function) {
    char file[128];
    snprintf(file, sizeof file, "%s%s", library, RAREBIT_SUFFIX);
    void *loaded = load_from("", file);
    if (!loaded) loaded = load_from("../" RAREBIT_LIBDIR "/", file);
    const void *(*table)(void) = NULL;
    if (loaded) *(void **)&table = dlsym(loaded, function);
    return table ? table() : NULL;
}

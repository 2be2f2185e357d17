/* Fuzz target: 10x folders. An input holds the three files, with a 0 byte between them. */
#include "driver/read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"matrix.mtx", "barcodes.tsv", "features.tsv"};
enum { FILES = 3 };

/* Writes what stands before the next 0 byte; returns what stands behind it. */
static const uint8_t *write_part(const char *name, const uint8_t *data, const uint8_t *end) {
    const uint8_t *stop = data < end ? memchr(data, 0, (size_t)(end - data)) : NULL;
    const uint8_t *part_end = stop ? stop : end;
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(data, 1, (size_t)(part_end - data), file) != (size_t)(part_end - data) ||
        fclose(file))
        abort();
    return stop ? stop + 1 : end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char folder[] = "/dev/shm/rarebit-fuzz-XXXXXX", path[64];
    if (!mkdtemp(folder)) abort();
    const uint8_t *end = data + size;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        data = write_part(path, data, end);
    }
    fuzz_read_path(&rb_format_tenx, folder);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

/* Runs a target over files and over all files of folders: the corpus as a plain test. */
#include "read.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int replayed;

static bool replay_file(const char *path) {
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info)) {
        perror(path);
        return false;
    }
    uint8_t *data = malloc((size_t)info.st_size + 1);
    size_t size = data ? fread(data, 1, (size_t)info.st_size, file) : 0;
    fclose(file);
    if (!data) return false;
    printf("%s\n", path);
    fflush(stdout); /* so that the last line names the file that broke it */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
    return true;
}

static bool replay(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return replay_file(path);
    bool good = true;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[PATH_MAX];
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < PATH_MAX)
            good = replay_file(name) && good;
    }
    closedir(folder);
    return good;
}

int main(int argc, char **argv) {
    bool good = true;
    for (int i = 1; i < argc; i++)
        good = replay(argv[i]) && good;
    printf("%d inputs replayed\n", replayed);
    return good && replayed > 0 ? 0 : 1;
}

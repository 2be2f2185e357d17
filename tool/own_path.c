/* Where the running program is, as each system tells it. That of macOS was compiled against a stub
 * alone (tests/install/macos.sh), never tried there. */
#include "own_path.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <stdint.h>

bool own_path(char *path, size_t size) {
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
}
#else
#include <unistd.h>

bool own_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) path[length] = '\0';
    return length > 0;
}
#endif

# Another project takes this one in by add_subdirectory: it links to the names that find_package gives, builds neither
# tests nor benchmarks, needs no C++, and keeps its flags. BUILD_SHARED_LIBS says which kind of libraries it builds. By itself, flags that somebody sets are kept.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/main.c" <<'END_OF_C'
#include <rarebit/rarebit.h>
#include <stdio.h>
int main(void) {
    return puts(rb_version()) < 0;
}
END_OF_C
cat >"$work/CMakeLists.txt" <<END_OF_LISTS
cmake_minimum_required(VERSION 3.18)
project(outside C)
add_subdirectory("$SOURCE" rarebit)
add_executable(outside main.c)
target_link_libraries(outside rarebit::rarebit)
if(NOT DEFINED BUILD_SHARED_LIBS)
  add_executable(outside_static main.c)
  target_link_libraries(outside_static rarebit::rarebit_static)
elseif(BUILD_SHARED_LIBS AND TARGET rarebit_core_static OR NOT BUILD_SHARED_LIBS AND TARGET rarebit_core_shared)
  message(FATAL_ERROR "BUILD_SHARED_LIBS is \${BUILD_SHARED_LIBS}, but the other kind is built as well")
endif()
get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
get_property(tests DIRECTORY "$SOURCE" PROPERTY SUBDIRECTORIES)
if(NOT languages STREQUAL "C" OR tests)
  message(FATAL_ERROR "languages: \${languages}; folders that come along: \${tests}")
endif()
END_OF_LISTS
configure() {
    "$CMAKE" -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" \
        >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
# compiled FOLDER FLAG: is that how files of the library are compiled?
compiled() {
    grep -qE "\"command\".* $2 .*src/base/" "$work/$1/compile_commands.json"
}
configure -S "$work" -B "$work/build" -DCMAKE_BUILD_TYPE=Release
compiled build -O1
if compiled build '-O[23]' || grep -E 'tests/unit|/bench/|/fuzz/' "$work/build/compile_commands.json"; then
    echo "a project around this one gets other flags than its own, or tests" >&2
    exit 1
fi

for shared in ON OFF; do
    configure -S "$work" -B "$work/kind$shared" -DBUILD_SHARED_LIBS=$shared
done

configure -S "$SOURCE" -B "$work/alone" -DRAREBIT_IO=OFF
compiled alone -O1
if compiled alone -O2; then
    echo "flags of a release that somebody set are not kept" >&2
    exit 1
fi
configure -S "$SOURCE" -B "$work/unset" -DRAREBIT_IO=OFF -UCMAKE_C_FLAGS_RELEASE
compiled unset '-O2 -g'

# A checkout that was moved or copied with its build folder builds again; what else is in that folder
# stays, and so does the build of another project.
set -eu
unset RAREBIT_BUILD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/first"
cp "$SOURCE/run" "$work/first/run"
cd "$work/first"
say() {
    cat >CMakeLists.txt <<END_OF_LISTS
cmake_minimum_required(VERSION 3.18)
project($1 LANGUAGES NONE)
add_custom_target(built ALL COMMAND \${CMAKE_COMMAND} -E touch \${PROJECT_SOURCE_DIR}/built)
END_OF_LISTS
}
say rarebit

builds() {
    rm -f built
    ./run build 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
    [ -f built ] || { echo "$1: nothing was built" >&2; exit 1; }
}
anew() {
    [ "$(grep -c "made anew" "$work/err")" = "$1" ] || { echo "$2: $(cat "$work/err")" >&2; exit 1; }
}

builds "the first time"
mkdir build/demo
echo kept >build/demo/result
builds "the second time"
anew 0 "built anew without need"
cp -r "$work/first" "$work/copied"
cd "$work/copied"
builds "a copy"
anew 1 "a copy"
mv "$work/first" "$work/moved"
cd "$work/moved"
builds "a checkout that was moved"
anew 1 "a checkout that was moved"
[ "$(cat build/demo/result)" = kept ]
builds "the next time"
anew 0 "built anew twice"
ln -s "$work/moved" "$work/link"
cd "$work/link"
builds "through a link"
anew 0 "built anew through a link"

say other
rm -rf build
builds "another project"
cp -r "$work/moved" "$work/foreign"
cd "$work/foreign"
! ./run build 2>"$work/err" || { echo "the build of another project was taken" >&2; exit 1; }
[ -f build/CMakeCache.txt ]

# Records the interface of this version for tests/install/abi.sh: what abidw (abigail-tools) reads from
# the shared libraries of a build folder, the public headers, and a client of them. Run it when a
# version is made: sh tests/install/abi/update.sh [BUILD]
set -eu
cd "$(dirname "$0")/../../.."
build=${1:-build}
kept=tests/install/abi/kept
new=$(mktemp -d tests/install/abi/new-XXXXXX)
trap 'rm -rf "$new"' EXIT
mkdir "$new/include"
for library in rarebit rarebit-io rarebit-plot; do
    sh tests/install/abi/dump.sh "$build/lib$library.so" "$new/$library.abi"
done
cp -r include/rarebit "$new/include/"
cp examples/fit.c "$new/client.c"
chmod 755 "$new"
rm -rf $kept # all of it is made: nothing can fail any more
mv "$new" $kept

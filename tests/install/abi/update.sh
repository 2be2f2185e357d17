# Records the interface of this version for tests/install/abi.sh: what abidw (abigail-tools) reads from
# the shared libraries of a build folder, the public headers, and a client of them. Run it when a
# version is made: sh tests/install/abi/update.sh [BUILD]
set -eu
cd "$(dirname "$0")/../../.."
build=${1:-build}
kept=tests/install/abi/kept
rm -rf $kept
mkdir -p $kept/include
for library in rarebit rarebit-io rarebit-plot; do
    sh tests/install/abi/dump.sh "$build/lib$library.so" $kept/$library.abi
done
cp -r include/rarebit $kept/include/
cp examples/fit.c $kept/client.c

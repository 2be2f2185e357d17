# Fits on a device of OpenCL: pocl will do.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --samples 120 --features 30 --seed 1 -o X.npy -q

# A copy of the tool has no librarebit-cl beside it, not even one in the working directory.
mkdir alone
cp "$RAREBIT" alone/rarebit
touch librarebit-cl.so.0.1
if alone/rarebit fit rfn X.npy -k 3 --device cl -o m.h5 2>err; then fail "fitted without librarebit-cl"; fi
grep -q "librarebit-cl, which is not beside this rarebit" err || fail "$(cat err)"
alone/rarebit version | grep -q 'devices *no librarebit-cl' || fail "version tells of a librarebit-cl"

[ -f "$BUILD/librarebit-cl.so" ] || skip "built without librarebit-cl" ocl-icd-opencl-dev libclblast-dev
expect 0 version
tells "librarebit-cl (OpenCL)"
"$RAREBIT" devices >devices 2>/dev/null || skip "no device of OpenCL" pocl-opencl-icd
grep -q '^cl:0 ' devices || fail "devices lists no cl:0"
expect 0 devices --json
tells '"device": "cl:0"'

expect 0 fit rfn X.npy -k 3 --iterations 20 --seed 1 --device cl:0 --details -o m.h5
says "MB per iteration"
expect 0 info m.h5
tells "cl:0 "
expect 0 encode m.h5 X.npy --device cl:0 -o there.npy
expect 0 encode m.h5 X.npy -o here.npy
# alike WHAT SHARE: here.npy and there.npy are, but for that share of the largest.
alike() {
    /usr/bin/python3 -c "
import numpy
here, there = numpy.load('here.npy'), numpy.load('there.npy')
assert abs(here - there).max() <= $2 * here.max() > 0, abs(here - there).max()
" || fail "$1 of the device are others"
}
alike codes 1e-5

# Rows of bars: the causes are found, with the fields and codes of the processor.
for row in "linca signed" "nmf-et linear" "mca max"; do
    set -- $row
    expect 0 simulate bars --style "$2" --samples 500 --seed 1 -o Y.npy --truth fields.npy -q
    expect 0 fit "$1" Y.npy -k 10 --iterations 60 --seed 1 -o here.h5 -q
    expect 0 fit "$1" Y.npy -k 10 --iterations 60 --seed 1 --device cl -o there.h5 --details
    says "MB per iteration"
    expect 0 evaluate there.h5 Y.npy --truth fields.npy --json
    [ "$(number causes_found <out)" = 10 ] || fail "$1: causes found: $(cat out)"
    for model in here there; do expect 0 reconstruct $model.h5 Y.npy -o $model.npy -q; done
    alike "fields of $1" 1e-4
    expect 0 encode here.h5 Y.npy -o here.npy -q
    expect 0 encode here.h5 Y.npy --device cl -o there.npy -q
    alike "codes of $1" 1e-4
done
expect 1 encode here.h5 Y.npy --device cl --map states.tsv -o n.npy
says "a device finds no most probable states; ask for them without --device"
[ ! -e states.tsv ] && [ ! -e n.npy ] || fail "a refused encode left a file"
expect 1 encode m.h5 X.npy --device cl:77 -o n.npy
says "there is no device cl:77"
expect 1 rerun m.h5
tells "the device"
expect 1 fit rfn X.npy -k 3 --device cl:77 -o n.h5
says "there is no device cl:77"
expect 2 fit rfn X.npy -k 3 --device gpu -o n.h5
says "--device is 'gpu', but must be cl, or cl:0"
expect 1 fit rfn X.npy -k 3 --device cl --noise full -o n.h5
says "a device needs --noise diagonal"
expect 1 fit nmf-et Y.npy -k 3 --device cl --noise poisson -o n.h5
says "a device has linca, nmf-et and mca with Gaussian noise"
expect 1 fit kmeans X.npy -k 3 --device cl -o n.h5
says "does not run on a device"

# No driver: a sentence.
OCL_ICD_VENDORS=$PWD/alone "$RAREBIT" fit rfn X.npy -k 3 --device cl -o n.h5 2>err && fail "fitted without a driver"
grep -q "OpenCL finds no device" err || fail "$(cat err)"
finish

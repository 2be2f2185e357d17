# A name whose suffix says a format that is not written is refused before anything is read: the
# inputs of these commands are not there.
. "$SOURCE/tests/cli/lib/lib.sh"

for suffix in jpg pdf doc; do
    for line in "encode m.h5 X.npy" "reconstruct m.h5 X.npy" "convert X.npy" "patches X.png" \
        "segments X.wav --length 5" "simulate bars" "simulate biclusters"; do
        # shellcheck disable=SC2086 # words
        refuses "its suffix must be one of .npy, .tsv" $line -o out.$suffix
    done
    for kind in history codes filters modules fields quality evidence; do
        refuses "must end in .png or .svg: 'out.$suffix'" plot $kind m.h5 X.npy -o out.$suffix
    done
    refuses "must end in .png or .svg: 'out.$suffix'" plot unit m.h5 X.npy --unit 0 -o out.$suffix
    refuses "use the suffix .tsv, .json or .gmt" modules m.h5 X.npy -o out.$suffix
done
refuses "one of .npy, .tsv" simulate bars -o Y.npy --truth fields.jpg
refuses "one of .npy, .tsv" simulate bars -o Y.npy --states states.jpg
refuses "modules are written as JSON" simulate biclusters -o X.npy --truth truth.jpg
refuses "states are written as text with tabs" encode m.h5 X.npy -o c.npy --map states.pdf
for suffix in jpg pdf npy tsv csv png h5ad; do
    refuses "a model is written as HDF5; give a name that ends in .h5" fit rfn X.npy -o model.$suffix
done
mkdir x.tsv
for line in "encode m.h5 X.npy --format tsv -o x.tsv/y.csv" "convert X.npy --format npy -o y.csv.gz" \
    "modules m.h5 X.npy --format json -o y.tsv" "modules m.h5 X.npy --format tsv -o y.tsv.gz"; do
    # shellcheck disable=SC2086 # words
    refuses "has another suffix; leave --format out or give a name that ends in" $line
done
rmdir x.tsv
only

# A picture that is to be denoised is not read first.
expect 0 simulate bars --samples 50 --seed 1 -o Y.npy -q
expect 0 fit mca Y.npy -k 2 --iterations 2 --seed 1 -o model -q
exists model
refuses "an image goes to .png, .pgm, .ppm or .npy" denoise model nothing.png --size 5x5 -o out.jpg
# What is no file has no suffix; one that is asked for otherwise needs none.
expect 0 encode model Y.npy -o - -q
tells "unit0"
expect 0 encode model Y.npy --format tsv -o codes.tsv.gz -q
expect 0 modules model Y.npy --format gmt -o modules.txt -q
exists codes.tsv.gz
exists modules.txt
rm codes.tsv.gz modules.txt
expect 0 encode model Y.npy -o /dev/null -q
only Y.npy model
finish

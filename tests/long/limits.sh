# A fit in batches, and one of all samples, of a file ten times as large as the limit of memory
# (the data segment: ulimit -d). Takes 2.3 GB of disk and some minutes; not a test of the suite.
# RAREBIT is the tool, build/rarebit by default.
set -eu
rarebit=$(realpath "${RAREBIT:-build/rarebit}")
limit=220000 # KB; OpenBLAS takes 128 MB of it
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
"$rarebit" simulate biclusters --samples 285000 --features 1000 --seed 1 -o X.npy -q
size=$(($(wc -c <X.npy) / 1024))
[ "$size" -ge $((10 * limit)) ] || exit 1
echo "file $size KB, limit $limit KB"
for batch in 1000 0; do
    (
        ulimit -d "$limit"
        "$rarebit" fit rfn X.npy -k 3 --iterations 1 --batch-size "$batch" --threads 1 --seed 1 -o m.h5 -q
        "$rarebit" evaluate m.h5 X.npy --threads 1
    )
    echo "batch size $batch: done"
done

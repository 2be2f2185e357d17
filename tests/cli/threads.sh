# The same bits for any number of threads, in each step: blocks have at most 16 384 samples, so there are
# three of them, each of many tasks.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --samples 35000 --features 12 --seed 3 -o X.npy -q
for threads in 1 2 3 8; do
    expect 0 fit rfn X.npy -k 5 --iterations 10 --seed 1 --threads $threads -o m$threads.h5 -q
    expect 0 encode m$threads.h5 X.npy --threads $threads -o c$threads.npy -q
    expect 0 reconstruct m$threads.h5 X.npy --threads $threads -o r$threads.npy -q
    expect 0 modules m$threads.h5 X.npy --threads $threads -o t$threads.tsv -q
    expect 0 evaluate m$threads.h5 X.npy --threads $threads --json -q
    sed 's/, "provenance": .*//' out >e$threads.json # which names the command
    for result in c.npy r.npy t.tsv e.json; do
        same "${result%.*}1.${result#*.}" "${result%.*}$threads.${result#*.}"
    done
done
finish

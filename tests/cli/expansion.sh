# Files that are small and whose content is not: more than so many times their size is refused, in little
# memory and time, by a sentence that names the file, its size and the option; with a higher limit they
# are read.
. "$SOURCE/tests/cli/lib/lib.sh"

# $1 copies of a text
copies() {
    yes "$2" | head -n "$1" | tr -d '\n'
}

# 0.1 allows 25.6 kB for a file of less than 256 kB.
bomb() {
    breaks "would need more than 25.6 kB of memory; if you trust the file, raise --max-expansion, which is 0.1" "$@" --max-expansion 0.1 -q
    expect 0 "$@" -q
}

copies 40000 '1,' | gzip -9 >comma.csv.gz
yes 1 | head -n 20000 | gzip -9 >rows.csv.gz
{
    echo 1
    copies 2000 ' '
    echo
    echo 2
} >blank.csv
copies 30000 ' ' | cat blank.csv - | gzip -9 >blanks.csv.gz
{
    printf 'P5 200 200 255\n'
    head -c 40000 /dev/zero
} | gzip -9 >x.pgm.gz
{
    printf '\000\000\010\002\000\000\001\000\000\000\001\000'
    head -c 65536 /dev/zero
} | gzip -9 >x.idx.gz
{
    printf 'RIFF\377\377\377\377WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\100\037\000\000'
    printf '\001\000\010\000data\360\377\377\377'
    head -c 60000 /dev/zero
} | gzip -9 >x.wav.gz
printf '%%%%MatrixMarket matrix coordinate real general\n4 50000 1\n1 1 1\n' >wide.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n50000 4 1\n1 1 1\n' >tall.mtx
mkdir cells
yes AAA | head -n 30 >cells/barcodes.tsv
yes gene | head -n 20000 | gzip -9 >cells/features.tsv.gz
printf '%%%%MatrixMarket matrix coordinate integer general\n20000 30 1\n1 1 1\n' | gzip >cells/matrix.mtx.gz
for data in comma.csv.gz rows.csv.gz blanks.csv.gz x.pgm.gz x.idx.gz wide.mtx tall.mtx cells; do
    bomb info $data
    bomb convert $data -o big.npy
done
bomb segments x.wav.gz --length 10 --step 1000 -o segments.npy
bomb patches x.pgm.gz --size 5x5 --count 3 -o patches.npy

# A picture that libpng packs: that of a history, of many pixels of one colour.
expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 3 --iterations 5 --seed 1 -o m.h5 -q
expect 0 plot history m.h5 -o history.png
bomb info history.png

# Models and checkpoints are read with the same limit.
breaks "m.h5 has 2" encode m.h5 X.npy -o codes.npy --max-expansion 0.005
resume="fit rfn X.npy -k 3 --iterations 100000000 --parameter-tolerance 0 --seed 1 --checkpoint c.h5 --checkpoint-every 1 -o m2.h5 -q"
# shellcheck disable=SC2086
"$RAREBIT" $resume 2>err &
pid=$!
until [ -s c.h5 ] || ! kill -0 $pid 2>/dev/null; do
    sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
# shellcheck disable=SC2086
breaks "c.h5 has " $resume --max-expansion 0.025
# Data that are not compressed never expand that far; a limit must be above 0.
expect 0 info X.npy --max-expansion 1
refuses "max-expansion is '0', but must be a number above 0" info X.npy --max-expansion 0
refuses "max-expansion" info X.npy --max-expansion nan
finish

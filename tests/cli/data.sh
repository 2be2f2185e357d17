# info, convert, simulate, version: what they print and write.
. "$SOURCE/tests/cli/lib/lib.sh"

printf 'a,b,c\n1,0,3\n4,5,-6.5\n' >small.csv
expect 0 info small.csv --json
[ ! -s err ] || fail "$command: stderr is not empty: $(cat err)"
[ "$(number samples <out)" = 2 ] || fail "samples: $(cat out)"
[ "$(number features <out)" = 3 ] || fail "features: $(cat out)"
[ "$(number nonzeros <out)" = 5 ] || fail "nonzeros: $(cat out)"
[ "$(number sum <out)" = 6.5 ] || fail "sum: $(cat out)"
[ "$(number sum_of_squares <out)" = 93.25 ] || fail "sum of squares: $(cat out)"
[ "$(number min <out)" = -6.5 ] || fail "min: $(cat out)"
[ "$(number max <out)" = 5 ] || fail "max: $(cat out)"
[ "$(number missing <out)" = 0 ] || fail "missing: $(cat out)"
tells '"type": "float'
expect 0 info small.csv
tells "samples        2"
tells "a, b, c"
expect 0 info small.csv --transpose --json
[ "$(number samples <out)" = 3 ] || fail "transposed samples: $(cat out)"
expect 2 info small.csv --patches 1x2
says "small.csv is not an image"
expect 2 info small.csv --dataset X
says "small.csv is not an HDF5 file"
expect 2 simulate biclusters --generator fabia --dataset D5 -o F.npy
says "nothing without --generator rfn"
expect 1 simulate biclusters --seed 1 -o Z.npy --truth nowhere/t.json
says "no folder 'nowhere'"
[ ! -e Z.npy ] || fail "$command: Z.npy was written"
printf '1,NA\n,4\n' >holes.csv
expect 0 info holes.csv --json
[ "$(number missing <out)" = 2 ] || fail "missing: $(cat out)"
[ "$(number sum <out)" = 5 ] || fail "sum: $(cat out)"

# There and back again.
expect 0 convert small.csv -o small.tsv
silent
says "2 samples x 3 features in small.tsv"
expect 0 convert small.tsv -o small.h5 -q
expect 0 convert small.h5 -o back.csv -q
expect 0 convert small.csv -o straight.csv -q
same back.csv straight.csv
expect 0 convert small.csv -o small.npy -q
expect 2 info small.npy --header yes
says "small.npy is not a text table"
expect 0 convert small.npy -o - --format csv -q
tells "1,0,3"
expect 0 convert small.csv --transpose -o across.npy -q
expect 0 info across.npy --json
tells '"samples": 3, "features": 2'

# Words that stand for missing values; kinds of files that are often tried.
printf 'a,b\n1,2\n3,n/d\n' >words.csv
breaks "words.csv, row 3, column 2: \"n/d\" is not a number; if it stands for a missing value, say --missing-words='n/d'" \
    info words.csv
expect 0 info words.csv --missing-words n/d --json
[ "$(number missing <out)" = 1 ] || fail "$command: missing: $(cat out)"
refuses "--missing-words is for CSV and TSV" info small.npy --missing-words n/d
printf 'PK\003\004 and more\001' >table.xlsx
breaks "save a spreadsheet (xlsx, ods) as CSV or TSV" convert table.xlsx -o x.npy
printf 'RIFF\050\000\000\000WAVEfmt ' >sound.wav
breaks "rarebit segments" fit rfn sound.wav -k 2 -o x.h5
breaks "nothing.csv" info nothing.csv
breaks "nothing.csv" convert nothing.csv -o x.npy
printf 'no format at all \001\002\003' >noise.bin
expect 1 info noise.bin
one_line
head -c 100 small.npy >cut.npy
breaks "cut.npy" info cut.npy
refuses "x.unknown" convert small.csv -o x.unknown -q
breaks "there is no folder" convert small.csv -o nowhere/x.npy
[ ! -e x.npy ] || fail "half a file was left"

# simulate: the same seed gives the same bits; the truth is JSON counted from 0.
expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy --truth truth.json
silent
says "100 samples x 100 features with 20 modules in X.npy; seed 1"
expect 0 simulate biclusters --dataset=D1 --seed=1 -o Y.npy -q
same X.npy Y.npy
expect 0 simulate biclusters --dataset D1 --seed 2 -o Y.npy -q
cmp -s X.npy Y.npy && fail "another seed gave the same data"
grep -q '^{"modules" *: *\[{"samples" *: *\[' truth.json || grep -q '"modules"' truth.json ||
    fail "truth.json is not of the form that is documented: $(head -c 200 truth.json)"
[ "$(tr ' ' '\n' <truth.json | grep -c '"features"')" -ge 1 ] || fail "truth.json has no features"
expect 0 simulate biclusters --generator fabia --seed 1 -o F.npy
says "100 samples x 1000 features with 10 modules"
refuses "D99" simulate biclusters --dataset D99 -o Z.npy
breaks "there is no folder" simulate biclusters -o nowhere/Z.npy
expect 1 simulate biclusters -o Z.npy --truth nowhere/truth.json
[ ! -e nowhere ] || fail "a folder was made"

# HDF5: numbers in other files are refused, not taken for zeros; LZF and the layout of 2018 are read.
hdf5=$SOURCE/tests/data/hdf5
breaks "are in other files (a virtual data set)" convert "$hdf5/virtual.h5" -o Z.csv
breaks "links to other files are not followed" convert "$hdf5/link.h5" -o Z.csv
[ ! -e Z.csv ] || fail "zeros were written"
expect 0 info "$hdf5/lzf.h5ad" --json
[ "$(number sum <out)" = 148 ] || fail "sum: $(cat out)"
expect 0 info "$hdf5/old2018.h5ad"
tells "cell0, cell1, cell2, ..."
tells "CD4, CD8A, NKG7, ..."
expect 0 fit rfn "$hdf5/old2018.h5ad" -k 2 --iterations 2 --seed 1 -o old.h5 -q
expect 0 encode old.h5 "$hdf5/old2018.h5ad" -o old.h5ad -q
expect 0 info old.h5ad --dataset obsm/X_pca --json
[ "$(number sum <out)" = 30 ] || fail "sum: $(cat out)"

# version says what computes.
expect 0 version
for word in rarebit compiler HDF5 BLAS kernels threads; do
    tells "$word"
done
expect 0 version --json --threads 2
for key in version compiler hdf5 blas blas_kernels kernels; do
    tells "\"$key\": \""
done
tells '"threads": 2'
RAREBIT_KERNEL=ref "$RAREBIT" version --json >out 2>err
tells '"kernels": "ref"'
if [ -c /dev/full ]; then
    "$RAREBIT" version >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk went unnoticed"
    one_line
fi
finish

# A command never writes over what it reads, nor two results into one file.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
expect 0 convert X.npy -o X.csv -q
expect 0 fit rfn X.csv -k 2 --iterations 2 --seed 1 -o m.h5 -q
ln X.csv hard.csv
ln -s X.csv soft.csv
printf 'sample,type\nsample1,a\n' >types.csv
expect 0 convert X.npy -o cells.h5ad -q
mkdir folder
cat ./*.csv ./*.h5 ./*.npy ./*.h5ad >before

refuses "-o would overwrite 'X.csv', which the command reads" fit rfn X.csv -o X.csv
refuses "-o would overwrite" fit rfn X.csv -o ./X.csv
refuses "-o would overwrite" fit rfn X.csv -o hard.csv
refuses "-o would overwrite" fit rfn X.csv -o soft.csv
refuses "-o would overwrite" fit rfn soft.csv -o X.csv
refuses "-o would overwrite 'm.h5'" fit rfn X.csv --init m.h5 -o m.h5
refuses "-o would overwrite 'X.csv'" encode m.h5 X.csv -o X.csv
refuses "-o would overwrite 'm.h5'" encode m.h5 X.csv -o m.h5
refuses "-o would overwrite 'm.h5'" encode m.h5 cells.h5ad -o m.h5
refuses "-o would overwrite" reconstruct m.h5 X.csv -o X.csv
refuses "-o would overwrite" modules m.h5 X.csv -o X.csv
refuses "-o would overwrite 'types.csv'" modules m.h5 X.csv --labels types.csv -o types.csv
refuses "-o would overwrite 'types.csv'" modules m.h5 X.csv --truth types.csv -o types.csv
refuses "-o would overwrite" convert X.csv -o X.csv
mkdir tenx
printf '%%%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 5\n2 2 7\n' >tenx/matrix.mtx
printf 'AAA\nCCC\nGGG\n' >tenx/barcodes.tsv
printf 'one\ntwo\n' >tenx/genes.tsv
cat tenx/* >tenx.before
refuses "-o would overwrite 'tenx', which the command reads" convert tenx -o tenx/genes.tsv
refuses "-o would overwrite 'tenx'" convert tenx -o tenx/../tenx/features.tsv.gz
refuses "-o would overwrite 'tenx'" convert tenx -o ./tenx//barcodes.tsv
cat tenx/* >tenx.after
same tenx.before tenx.after
expect 0 convert tenx -o tenx/cells.tsv -q
# As AnnData sparse samples stay so, with their names.
expect 0 convert tenx -o sparse.h5ad
if grep zeros err; then fail "wrote zeros"; fi
expect 0 info sparse.h5ad --json
tells '"samples": 3, "features": 2, "type": "float32", "sparse": true, "nonzeros": 2'
expect 0 convert sparse.h5ad -o sparse.tsv -q
same sparse.tsv tenx/cells.tsv
rm sparse.h5ad sparse.tsv
rm -r tenx tenx.before tenx.after
refuses "-o would overwrite" plot history m.h5 -o m.h5
refuses "-o would overwrite" plot codes m.h5 X.csv -o X.csv
refuses "-o would overwrite" patches X.npy -o X.npy
refuses "--log-json would overwrite 'X.csv'" fit rfn X.csv -o n.h5 --log-json X.csv
refuses "-o and --log-json would write to the same file 'n.h5'" fit rfn X.csv -o n.h5 --log-json n.h5
refuses "-o and --log-json would write" fit rfn X.csv -o n.h5 --log-json ./n.h5
refuses "-o and --log-json would write" fit rfn X.csv -o n.h5 --log-json folder/../n.h5
refuses "-o and --truth would write" simulate biclusters -o z.npy --truth z.npy
refuses "-o and --truth would write" simulate bars -o z.npy --truth z.npy
refuses "--truth and --states would write" simulate bars -o y.npy --truth z.npy --states z.npy
refuses "-o and --truth cannot both go to standard output" simulate bars -o - --truth -
refuses "-o and --truth cannot both go to standard output" simulate biclusters -o - --truth -
cat ./*.csv ./*.h5 ./*.npy ./*.h5ad >after
same before after
only X.npy X.csv m.h5 hard.csv soft.csv types.csv cells.h5ad folder before after

# Devices take any number; another file of the same name is another file.
expect 0 simulate biclusters -o /dev/null --truth /dev/null -q
expect 0 convert X.csv -o folder/X.csv -q
exists folder/X.csv

# AnnData is added to: the output may be the input.
expect 0 encode m.h5 cells.h5ad -o cells.h5ad -q
expect 0 info cells.h5ad --dataset obsm/X_rfn --json
tells '"samples": 100, "features": 2'
expect 0 info cells.h5ad --json
tells '"samples": 100, "features": 100'
finish

# A model whose data were transposed, or a data set of a file, takes them again, and others, without the option.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { srand(5); print "id\ta\tb\tc\td"; for (i = 0; i < 30; i++)
    printf "s%d\t%.3f\t%.3f\t%.3f\t%.3f\n", i, rand() + (i < 9), rand() + (i < 9), rand(), rand() }' >rows.tsv
expect 0 convert rows.tsv -o rows.h5ad -q
turn() { awk -F '\t' '{ for (i = 1; i <= NF; i++) cell[NR, i] = $i } END { for (i = 1; i <= NF; i++) {
    line = cell[1, i]; for (n = 2; n <= NR; n++) line = line "\t" cell[n, i]; print line } }'; }
turn <rows.tsv >across.tsv
expect 0 fit rfn across.tsv --transpose -k 2 --seed 1 -o m.h5 -q
expect 0 encode m.h5 across.tsv --transpose -o given.tsv -q
expect 0 encode m.h5 across.tsv -o codes.tsv
says "30 samples x 4 features (transposed, as the data of the fit; if not, use --no-transpose)"
same given.tsv codes.tsv
for words in evaluate modules "report -o page.html" "plot codes -o codes.png"; do
    expect 0 $words m.h5 across.tsv
    says "30 samples x 4 features (transposed"
done
expect 0 compare m.h5 across.tsv across.tsv
says "30 samples x 4 features (transposed"
# Samples that lie as rows are known by their features.
expect 0 encode m.h5 rows.tsv -o codes.tsv
says "30 samples x 4 features"
! grep -q transposed err || fail "rows.tsv: $(cat err)"
same given.tsv codes.tsv
expect 0 encode m.h5 rows.h5ad -o codes.tsv -q
expect 1 encode m.h5 across.tsv --no-transpose -o codes.tsv
says "is the file transposed?"

# Without names the number of features tells.
for file in rows across; do
    cut -f 2- $file.tsv | sed 1d >$file.txt
    expect 0 convert $file.txt -o $file.npy -q
done
expect 0 fit rfn across.npy --transpose -k 2 --seed 1 -o n.h5 -q
for file in rows across; do
    expect 0 encode n.h5 $file.npy -o $file.codes.npy -q
done
same rows.codes.npy across.codes.npy

# What was read of an HDF5 file is read again, where it is there and nothing else is named.
expect 0 fit rfn rows.tsv -k 4 --preset paper --seed 1 -o four.h5 -q
expect 0 encode four.h5 rows.h5ad -o coded.h5ad -q
expect 0 fit rfn coded.h5ad --dataset obsm/X_rfn -k 2 --seed 1 -o d.h5 -q
expect 0 encode d.h5 coded.h5ad --dataset obsm/X_rfn -o given.tsv -q
expect 0 encode d.h5 coded.h5ad -o codes.tsv
says "'obsm/X_rfn' is read, as in the fit; to read another one use --dataset"
same given.tsv codes.tsv
expect 0 encode d.h5 coded.h5ad --dataset X -o codes.tsv
! grep -q "as in the fit" err || fail "--dataset X: $(cat err)"
cmp -s given.tsv codes.tsv && fail "--dataset X is not heeded"
# A net remembers what its layers were fitted to.
awk -F '\t' 'NR > 1 { print $1 "\t" (NR < 12 ? "a" : "b") }' rows.tsv | sed '1i sample\tclass' >classes.tsv
expect 0 finetune d.h5 coded.h5ad --labels classes.tsv --epochs 2 --seed 1 -o net.h5 -q
expect 0 predict net.h5 coded.h5ad -o classes-again.tsv
says "'obsm/X_rfn' is read, as in the fit"
expect 1 encode d.h5 rows.h5ad -o codes.tsv
says "there is no 'obsm/X_rfn' in the file"
says "the fit read 'obsm/X_rfn'; to read another one use --dataset"
expect 0 encode d.h5 rows.npy -o codes.tsv
! grep -q "obsm" err || fail "rows.npy: $(cat err)"
# Of several files too, where some have no data sets.
expect 0 encode four.h5 rows.npy -o four.npy -q
expect 0 encode d.h5 four.npy four.npy -o given.npy -q
expect 0 encode d.h5 coded.h5ad four.npy -o codes.npy -q
same given.npy codes.npy
printf 'a\tb\n1\tno\n' >bad.tsv
expect 1 encode d.h5 four.npy bad.tsv -o n.tsv
one_line
expect 2 fit rfn four.npy four.npy --dataset X -k 2 -o n.h5
says "none of four.npy,four.npy is an HDF5 file"
finish

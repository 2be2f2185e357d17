# Codes in AnnData have a name, and what is there under it is replaced only when asked for.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
expect 0 convert X.npy -o cells.h5ad -q
expect 0 fit rfn X.npy -k 5 --iterations 3 --seed 1 -o five.h5 -q
expect 0 fit rfn X.npy -k 3 --iterations 3 --seed 1 -o three.h5 -q

units() {
    expect 0 info cells.h5ad --dataset "$1" --json
    tells "\"features\": $2"
}

expect 0 encode five.h5 cells.h5ad -o cells.h5ad -q
units obsm/X_rfn 5
cp cells.h5ad before
refuses "has obsm['X_rfn'] already; give another --key, or replace it with --overwrite" \
    encode three.h5 cells.h5ad -o cells.h5ad -q
same before cells.h5ad
refuses "has obsm['X_rfn'] already" encode three.h5 cells.h5ad -o other.h5ad -q
[ ! -e other.h5ad ] || fail "a refused result was written"

expect 0 encode three.h5 cells.h5ad --key X_three -o cells.h5ad -q
units obsm/X_rfn 5
units obsm/X_three 3
units varm/rfn 5
units varm/three 3
# Loadings of that name would be replaced too.
refuses "has varm['three'] already" encode five.h5 cells.h5ad --key three -o cells.h5ad -q
expect 0 encode five.h5 cells.h5ad --key X_three --overwrite -o cells.h5ad -q
units obsm/X_three 5
expect 0 encode three.h5 cells.h5ad --overwrite -o cells.h5ad -q
units obsm/X_rfn 3

# A file that is not the input is written anew, as ever.
expect 0 convert X.npy -o cells.h5ad -q
expect 0 encode five.h5 cells.h5ad -o coded.h5ad -q
expect 0 encode three.h5 cells.h5ad -o coded.h5ad -q

for key in a/b X_ . "" X_../x; do
    refuses "must be a name of at most" encode five.h5 cells.h5ad --key "$key" -o cells.h5ad -q
done
refuses "--key is for codes that go from AnnData to AnnData" \
    encode five.h5 cells.h5ad --key X_a -o codes.npy
refuses "--overwrite is for codes that go from AnnData to AnnData" \
    encode five.h5 X.npy --overwrite -o codes.h5ad
finish

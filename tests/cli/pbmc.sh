# What a biologist does: a table of genes by cells, modules, known cell types, AnnData.
. "$SOURCE/tests/cli/lib/lib.sh"

cells=$SOURCE/examples/data/pbmc700
expect 0 fit rfn "$cells/expr.tsv.gz" -k 10 --seed 1 --iterations 100 -o model.h5
says "700 samples x 765 features"
says "next: rarebit modules model.h5 $cells/expr.tsv.gz -o modules.tsv"
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q --labels "$cells/labels.tsv"
tells "class"
tells "CD14+ Monocyte"
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q --labels "$cells/labels.tsv" --json
for key in labelled_samples classes module unit class module_size class_size overlap precision \
    recall f1 jaccard log10_p_value; do
    tells "\"$key\": "
done
for key in best_units auc; do
    tells "\"$key\": "
done
tells '{"class": "CD34+", "class_size": 13, "unit": '
# The table of classes comes after an empty line, a line each, and the unit of the natural killer cells
# is the one whose genes are theirs.
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q --labels "$cells/labels.tsv"
[ "$(sed -n '1,/^$/d;/^best unit/,$p' out | wc -l)" = 11 ] || fail "$command: $(cat out)"
killers=$(sed -n '1,/^$/d;s/^\([0-9]*\) .*CD56+ NK$/\1/p' out)
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q
grep -Eq "^$killers .* (GNLY|NKG7) " out || fail "unit $killers: $(cat out)"
breaks "nothing.tsv" modules model.h5 "$cells/expr.tsv.gz" -q --labels nothing.tsv
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q -o sets.gmt
grep -q "	HLA-\|	CD\|	LYZ" sets.gmt || fail "sets.gmt names no genes"
expect 0 plot codes model.h5 "$cells/expr.tsv.gz" -q --labels "$cells/labels.tsv" -o codes.png
exists codes.png

# Classes alone are taken by position, which is said; columns of an AnnData file by name.
cut -f 2 "$cells/labels.tsv" >alone.txt
tail -n +2 alone.txt >bare.txt
expect 0 modules model.h5 "$cells/expr.tsv.gz" -q --labels "$cells/labels.tsv"
cp out by_name
for labels in alone.txt bare.txt; do
    expect 0 modules model.h5 "$cells/expr.tsv.gz" -q --labels $labels
    same out by_name
    expect 0 modules model.h5 "$cells/expr.tsv.gz" --labels $labels
    says "the rows of $labels are taken by position, since it has no sample names"
    expect 0 plot codes model.h5 "$cells/expr.tsv.gz" --labels $labels -o position.png
    says "by position"
    expect 0 convert position.png -o position.npy -q # the files name their commands
    expect 0 convert codes.png -o codes.npy -q
    same position.npy codes.npy
done
head -n 100 bare.txt >short.txt
breaks "short.txt has 100 rows for 700 samples" \
    modules model.h5 "$cells/expr.tsv.gz" -q --labels short.txt
breaks "short.txt has 100 rows for 700 samples" \
    plot modules model.h5 "$cells/expr.tsv.gz" -q --labels short.txt -o none.png
observed=$SOURCE/tests/data/hdf5/obs.h5ad
expect 0 fit rfn "$observed" -k 2 --iterations 5 --seed 1 -o observed.h5 -q
for labels in "$observed:louvain" obs:louvain; do
    expect 0 modules observed.h5 "$observed" -q --labels "$labels" --json
    tells '"labelled_samples": 4'
    tells '"class": "CD4 T", "class_size": 2'
    expect 0 plot codes observed.h5 "$observed" -q --labels "$labels" -o louvain.png
done
expect 0 modules observed.h5 "$observed" -q --labels obs:cluster --json
tells '"class": "10", "class_size": 1'
refuses "obs has no column 'leyden'; its columns are:" \
    modules observed.h5 "$observed" -q --labels obs:leyden
refuses "name a column of obs" modules observed.h5 "$observed" -q --labels "$observed"
refuses "is not an AnnData file" modules model.h5 "$cells/expr.tsv.gz" -q --labels obs:louvain
cp "$observed" mine.h5ad
refuses "would overwrite 'mine.h5ad:louvain'" \
    modules observed.h5 "$observed" --format tsv --labels mine.h5ad:louvain -o mine.h5ad
refuses "would overwrite 'mine.h5ad:a:b'" \
    modules observed.h5 "$observed" --format tsv --labels mine.h5ad:a:b -o mine.h5ad
same mine.h5ad "$observed"

# The hint for the next command has the reading options.
expect 0 fit rfn "$cells/expr.tsv.gz" --transpose -k 2 --seed 1 --iterations 2 -o across.h5
says "765 samples x 700 features"
says "expr.tsv.gz --transpose -o modules.tsv"

# AnnData to AnnData: what was there stays, codes are added.
expect 0 convert "$cells/expr.tsv.gz" -o cells.h5ad -q
expect 0 info cells.h5ad --json
cp out before
expect 0 encode model.h5 cells.h5ad -o coded.h5ad
says "added in coded.h5ad"
expect 0 info coded.h5ad --json
same out before
expect 0 info coded.h5ad --dataset obsm/X_rfn --json
tells '"samples": 700, "features": 10'
expect 0 encode model.h5 "$cells/expr.tsv.gz" -o codes.npy -q
expect 0 convert coded.h5ad --dataset obsm/X_rfn -o stored.npy -q
expect 0 convert codes.npy -o - --format csv -q
cp out codes.csv
expect 0 convert stored.npy -o - --format csv -q
cp out stored.csv
tail -n 700 codes.csv >a
tail -n 700 stored.csv >b
same a b
# Other genes are reported; what is missing is refused, and nothing is left.
expect 1 encode model.h5 "$SOURCE/tests/data/hdf5/dense.h5ad" --min-shared 0 -o no.h5ad -q
says "of the model's 765 features are not in the data"
says "missing (NaN)"
[ ! -e no.h5ad ] || fail "half a file was left"

# AnnData stays what it is: sparse, and with all that stands beside the matrix.
sparse=$SOURCE/tests/data/hdf5/csr.h5ad
expect 0 convert "$sparse" -o same.h5ad
one=$(wc -l <err)
[ "$one" = 1 ] || fail "$command: $(cat err)"
same "$sparse" same.h5ad
expect 0 convert coded.h5ad -o kept.h5ad -q
expect 0 info kept.h5ad --dataset obsm/X_rfn --json
tells '"samples": 700, "features": 10'
expect 0 info "$sparse" --dataset layers/counts --json
cp out layer
expect 0 convert "$sparse" --dataset layers/counts -o counts.h5ad -q
expect 0 info counts.h5ad --json
same layer out
# What is lost is said.
expect 0 convert coded.h5ad --dataset obsm/X_rfn -o codes.h5ad -q
says "warning: only the matrix and its names are kept"
expect 0 convert coded.h5ad --transpose -o turned.h5ad -q
says "warning: only the matrix and its names are kept"
expect 0 convert "$sparse" -o dense.csv
says "the sparse matrix is written with all its zeros"

# A model of the first format loads.
expect 0 info "$SOURCE/tests/data/model-v1.h5" --json
tells '"kind": "model"'
expect 1 info "$SOURCE/tests/data/hdf5/bad_shape.h5ad"
one_line
finish

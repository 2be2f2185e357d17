# Blood cells: docs/start/examples/cells.md.
. "$(dirname "$0")/lib.sh"
cp "$here/../data/pbmc700/expr.tsv.gz" cells.tsv.gz
cp "$here/../data/pbmc700/labels.tsv" types.tsv

show check cells.tsv.gz
show fit rfn cells.tsv.gz -k 10 --seed 1 -o model.h5 -q
show evaluate model.h5 cells.tsv.gz -q
show modules model.h5 cells.tsv.gz -q
show modules model.h5 cells.tsv.gz --labels types.tsv -q
show plot codes model.h5 cells.tsv.gz --labels types.tsv -o codes.png -q

echo
figure "variance explained" "$(evaluated model.h5 cells.tsv.gz "variance explained")"
figure "sparseness" "$(evaluated model.h5 cells.tsv.gz sparseness)"
figure "rfn" "$(seeds cells.tsv.gz types.tsv -k 10)"
peers cells.tsv.gz types.tsv 10
if [ $compared = yes ]; then
    figure "rfn, 5 units" "$(seeds cells.tsv.gz types.tsv -k 5)"
    figure "rfn, 20 units" "$(seeds cells.tsv.gz types.tsv -k 20)"
fi
finish

# Cells of breast tumours: docs/start/examples/tumours.md. The data come with scikit-learn.
. "$(dirname "$0")/lib.sh"
has_python || { echo "this example needs python3 with sklearn and scipy" >&2; exit 1; }
python "$here/tumours.py" | tee best.tsv

show check tumours.tsv
show fit rfn tumours.tsv -k 7 --scale sd --seed 1 -o model.h5 -q
show evaluate model.h5 tumours.tsv -q
show modules model.h5 tumours.tsv -q
show modules model.h5 tumours.tsv --labels classes.tsv -q
show plot codes model.h5 tumours.tsv --labels classes.tsv --width 700 -o codes.png -q

echo
figure "variance explained" "$(evaluated model.h5 tumours.tsv "variance explained")"
figure "sparseness" "$(evaluated model.h5 tumours.tsv sparseness)"
figure "rfn" "$(seeds tumours.tsv classes.tsv -k 7 --scale sd)"
figure "best feature" "$(awk -F '\t' 'NR == 1 { print $2 }' best.tsv)"
figure "pca" "$(awk -F '\t' '$1 == "pca" { print $2 }' best.tsv)"
figure "factor analysis" "$(awk -F '\t' '$1 == "factor analysis" { print $2 }' best.tsv)"
peers tumours.tsv classes.tsv 7 scale
finish

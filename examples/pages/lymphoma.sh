# Lymphomas: docs/start/examples/lymphoma.md. --data has dlbcl_b/expr.tsv.gz and dlbcl_b/labels.tsv.
. "$(dirname "$0")/lib.sh"
table=$(given dlbcl_b/expr.tsv.gz) || exit
labels=$(given dlbcl_b/labels.tsv) || exit
cp "$table" lymphoma.tsv.gz
sed 's/class1$/OxPhos/; s/class2$/BCR/; s/class3$/HR/' "$labels" >classes.tsv

show check lymphoma.tsv.gz
show fit rfn lymphoma.tsv.gz -k 15 --seed 1 -o model.h5 -q
show evaluate model.h5 lymphoma.tsv.gz -q
show modules model.h5 lymphoma.tsv.gz --permutations 99 -q
show modules model.h5 lymphoma.tsv.gz --labels classes.tsv -q
show plot codes model.h5 lymphoma.tsv.gz --labels classes.tsv --width 700 -o codes.png -q
show select rfn lymphoma.tsv.gz --seed 1 -o select.tsv --plot select.png
show fit rfn lymphoma.tsv.gz -k 20 --restarts 20 --consensus --seed 1 -o consensus.h5
show modules consensus.h5 lymphoma.tsv.gz -q
show report model.h5 lymphoma.tsv.gz --labels classes.tsv -o report.html -q

# The modules whose p-value over all units is at most 0.05.
called() {
    "$rarebit" modules model.h5 lymphoma.tsv.gz --permutations 99 --significant 0.05 -q -o called.tsv
    awk -F '\t' 'NR > 1 { units[$2] } END { for (unit in units) n++; print n + 0 }' called.tsv
}

echo
figure "variance explained" "$(evaluated model.h5 lymphoma.tsv.gz "variance explained")"
figure "sparseness" "$(evaluated model.h5 lymphoma.tsv.gz sparseness)"
figure "called" "$(called)"
figure "stable" "$(awk -F '\t' '/\tpicked\t/ { print $2 }' select.tsv)"
figure "stable units" "$("$rarebit" info consensus.h5 | sed -n 's/^units  *//p')"
figure "rfn" "$(seeds lymphoma.tsv.gz classes.tsv -k 15)"
peers lymphoma.tsv.gz classes.tsv 15
if [ $compared = yes ]; then
    figure "rfn, 5 units" "$(seeds lymphoma.tsv.gz classes.tsv -k 5)"
    python "$here/peers.py" lymphoma.tsv.gz classes.tsv 5 | sed "s/$(printf '\t')/, 5 units&/" >five.tsv
    tee -a figures.tsv <five.tsv
fi
finish

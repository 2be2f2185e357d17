# Small round blue cell tumours: docs/start/examples/srbct.md. --data has expr.tsv.gz, labels.tsv and
# genes.tsv (name, description) in khan_srbct.
. "$(dirname "$0")/lib.sh"
table=$(given khan_srbct/expr.tsv.gz) || exit
labels=$(given khan_srbct/labels.tsv) || exit
genes=$(given khan_srbct/genes.tsv) || exit
cp "$table" srbct.tsv.gz
cp "$labels" labels.tsv
grep -v non-SRBCT labels.tsv >classes.tsv
awk -F '\t' 'NR == 1 { print "sample\tkind" } $1 ~ /-T[0-9]/ { print $1 "\ttumour" }
    $1 ~ /-C[0-9]/ { print $1 "\tcell line" }' labels.tsv >kinds.tsv

# The genes of largest weight of each module, by their descriptions.
describe() {
    "$rarebit" modules "$1" srbct.tsv.gz -q -o modules.tsv
    awk -F '\t' 'NR == FNR { text[$1] = $2; next }
        FNR == 1 || $4 != "feature" || $7 <= 0 { next }
        $2 != unit { unit = $2; n = 0; printf "%s%s", line, "unit " unit ":"; line = "\n" }
        n++ < 6 { printf "%s %s", (n > 1 ? ";" : ""), substr(text[$5], 1, 45) }
        END { print "" }' "$genes" modules.tsv
}

show check srbct.tsv.gz
show fit rfn srbct.tsv.gz -k 17 --seed 1 -o model.h5 -q
show evaluate model.h5 srbct.tsv.gz -q
show modules model.h5 srbct.tsv.gz --permutations 99 -q
show modules model.h5 srbct.tsv.gz --labels classes.tsv -q
show modules model.h5 srbct.tsv.gz --labels kinds.tsv -q
echo
describe model.h5
show plot codes model.h5 srbct.tsv.gz --labels labels.tsv --width 700 -o codes.png -q
show fit rfn srbct.tsv.gz -k 5 --seed 1 -o five.h5 -q
show modules five.h5 srbct.tsv.gz --labels kinds.tsv -q
show fit rfn srbct.tsv.gz -k 20 --restarts 20 --consensus --seed 1 -o consensus.h5
show modules consensus.h5 srbct.tsv.gz --labels classes.tsv -q

echo
figure "variance explained" "$(evaluated model.h5 srbct.tsv.gz "variance explained")"
figure "sparseness" "$(evaluated model.h5 srbct.tsv.gz sparseness)"
figure "stable units" "$("$rarebit" info consensus.h5 | sed -n 's/^units  *//p')"
figure "consensus" "$(areas consensus.h5 srbct.tsv.gz classes.tsv)"
figure "rfn" "$(seeds srbct.tsv.gz classes.tsv -k 17)"
figure "rfn, 5 units" "$(seeds srbct.tsv.gz classes.tsv -k 5)"
figure "rfn, 5 units, kinds" "$(seeds srbct.tsv.gz kinds.tsv -k 5)"
figure "rfn, kinds" "$(seeds srbct.tsv.gz kinds.tsv -k 17)"
peers srbct.tsv.gz classes.tsv 17
finish

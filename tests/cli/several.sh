# Several files as one: what the whole gives, for any kind of file; what differs is named; none is written over.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --samples 300 --features 20 --seed 1 -o X.tsv -q
{
    seq -s '	g' 100 119 | sed 's/^/id	g/'
    nl -w1 X.tsv | sed 's/^/s/'
} >whole.tsv
for part in 1:2,78 2:79,80 3:81,301; do
    { head -1 whole.tsv; sed -n "${part#*:}p" whole.tsv; } >part${part%:*}.tsv
done
for kind in tsv h5ad npy; do
    for file in whole part1 part2 part3; do
        [ $kind = tsv ] || expect 0 convert $file.tsv -o $file.$kind -q
    done
    for data in "whole.$kind" "part1.$kind part2.$kind part3.$kind"; do
        # shellcheck disable=SC2086 # words
        expect 0 fit rfn $data -k 3 --iterations 20 --seed 1 -o m.h5 -q
        # shellcheck disable=SC2086
        expect 0 encode m.h5 $data -o codes.tsv -q
        # shellcheck disable=SC2086
        expect 0 modules m.h5 $data -o modules.tsv -q
        cat codes.tsv modules.tsv >"${data%% *}.out"
    done
    cmp whole.$kind.out part1.$kind.out || fail "$kind: other results of three files"
done
expect 0 info m.h5
expect 0 rerun m.h5

# Of what cannot be one the sentence is all there is.
fails() {
    sentence=$1
    shift
    expect 1 "$@" -q
    one_line
    says "$sentence"
}
sed 's/	g105	/	x	/' part2.tsv >other.tsv
cut -f 1-9 part2.tsv >fewer.tsv
sed '2s/	[^	]*$/	NA/' part3.tsv >missing.tsv
fails "feature 5 (counted from 0) is 'g105' in part1.tsv, but 'x' in other.tsv" fit rfn part1.tsv other.tsv -k 3 -o n.h5
fails "the number of features is '20' in part1.tsv, but '8' in fewer.tsv" fit rfn part1.tsv fewer.tsv -k 3 -o n.h5
fails "cannot read none.tsv: there is no such file" fit rfn part1.tsv,none.tsv -k 3 -o n.h5
for words in "fit rfn -k 3 -o n.h5" "fit rfn -k 3 -o n.h5 --consensus" "select pca --units 1:2" methods \
    "fit rfn -k 3 -o n.h5 --batch-size 50"; do
    # shellcheck disable=SC2086 # words
    fails "missing.tsv: sample 0 (s80), feature 19 (g119) is missing" $words part1.tsv missing.tsv
    # Fits that leave samples out before it, or after.
    # shellcheck disable=SC2086
    fails "missing.tsv: sample 0 (s80), feature 19 (g119) is missing" $words part1.tsv part1.tsv missing.tsv --drop-samples duplicates
done
refuses "would overwrite 'part1.h5ad,part2.h5ad', which the command reads" encode m.h5 part1.h5ad part2.h5ad -o part2.h5ad
refuses "the data are in no file, or in several" modules m.h5 part1.h5ad part2.h5ad --labels obs:x -q
cp part1.tsv a,b.tsv
expect 0 encode m.h5 a,b.tsv -o codes.tsv
says "77 samples"
finish

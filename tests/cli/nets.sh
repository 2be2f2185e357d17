# Nets: training, predictions and error rates from files, what goes on after an interruption, and what
# is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

# 90 samples of two classes by the sign of the first feature, with names; 60 and 30 of them.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 90; i++) {
        part = i < 60 ? "train" : "valid"
        if (i == 0 || i == 60) { print "\tf0\tf1\tf2" >(part ".tsv"); print "sample\tclass" >(part "-y.tsv") }
        a = 2 * rand() - 1; b = rand(); c = rand()
        print "s" i "\t" a "\t" b "\t" c >(part ".tsv")
        print "s" i "\t" (a > 0 ? "up" : "down") >(part "-y.tsv")
        print (a > 0 ? 1 : 0) >(part "-numbers.txt")
        print "s" i "\t" 2 * a >(part "-values.rows")
    }
}' </dev/null
for part in train valid; do
    (printf '\ttwice\n'; cat $part-values.rows) >$part-values.tsv
done
data="train.tsv --labels train-y.tsv --valid valid.tsv --valid-labels valid-y.tsv"
small="--layers 8 --epochs 30 --batch-size 16 --rate 0.05 --seed 3"

# shellcheck disable=SC2086
{
    expect 0 finetune none $data $small -o net.h5 --log-json log.jsonl
    says "errors on the validation samples"
    says "next: rarebit evaluate net.h5"
    grep -q '"valid_error"' log.jsonl || fail "the log lacks valid_error"
    expect 0 finetune none $data $small -o again.h5 --threads 1 -q
    expect 0 info net.h5
    for word in weights1 bias2 "net"; do tells "$word"; done

    # What it says.
    expect 0 predict net.h5 valid.tsv -o classes.tsv
    [ "$(head -1 classes.tsv)" = "sample	class	probability" ] || fail "classes.tsv has another header"
    [ "$(wc -l <classes.tsv)" -eq 31 ] || fail "classes.tsv has not 31 lines"
    errors=$(tail -n +2 classes.tsv | cut -f 2 >said; tail -n +2 valid-y.tsv | cut -f 2 | paste - said |
        awk '$1 != $2' | wc -l)
    [ "$errors" -le 4 ] || fail "the net has $errors errors of 30"
    expect 0 evaluate net.h5 valid.tsv --labels valid-y.tsv -q
    tells "$errors of 30; 95 % interval"
    tells "log loss"
    tells "calibration error"
    tells "down"
    expect 0 evaluate net.h5 valid.tsv --labels valid-y.tsv --json -q
    tells "\"errors\": $errors"
    tells '"confusion": [['
    expect 0 predict net.h5 valid.tsv --probabilities -o p.tsv -q
    [ "$(head -1 p.tsv | tr -d '\r')" = "$(printf '\tdown\tup')" ] || fail "p.tsv has another header: $(head -1 p.tsv)"
    expect 0 predict net.h5 valid.tsv -o classes.json -q
    expect 0 encode net.h5 valid.tsv -o codes.npy -q

    # From an rfn, from a net, and with values.
    expect 0 fit rfn train.tsv -k 2 --iterations 20 --seed 1 -o rfn.h5 -q
    expect 0 finetune rfn.h5 $data --epochs 5 -o deep.h5 -q
    expect 0 finetune rfn.h5 $data --epochs 5 --filter posterior --layers 4 -o deep.h5 -q
    expect 0 finetune net.h5 $data --epochs 2 --rate 0.001 -o more.h5 -q
    expect 0 finetune none train.tsv --targets train-values.tsv --outputs linear --layers 8 --epochs 60 \
        --rate 0.02 -o values.h5 -q
    expect 0 evaluate values.h5 valid.tsv --targets valid-values.tsv -q
    tells "mean squared error"
    expect 0 predict values.h5 valid.tsv -o values.npy -q

    expect 0 stack rfn train.tsv --units 3,2 --iterations 20 --seed 1 -o stack.h5 -q
    expect 0 finetune stack.h5 $data --epochs 5 -o deep.h5 -q
    expect 0 info deep.h5
    tells "weights3"

    # Other pretraining by one word.
    for method in dae rbm pca; do
        expect 0 stack $method train.tsv --units 3,2 --seed 1 -o other.h5 -q
        expect 0 finetune other.h5 $data --epochs 2 -o other-net.h5 -q
    done

    # Labels a line each, by position.
    expect 0 finetune none train.tsv --labels train-numbers.txt $small -o numbers.h5
    says "taken by position"

    # The same as bytes of an IDX file.
    (
        printf '\000\000\010\001\000\000\000\074'
        while read -r number; do printf "\\00$number"; done <train-numbers.txt
    ) >train.idx
    expect 0 finetune none train.tsv --labels train.idx $small -o idx.h5 -q
    for net in numbers idx; do expect 0 predict $net.h5 valid.tsv --probabilities -o $net.npy -q; done
    cmp -s numbers.npy idx.npy || fail "labels of IDX give another net"

    # Ctrl-C, or no more time: the same command resumes, with the same result.
    expect 0 finetune none $data $small --patience 0 -o whole.h5 -q
    expect 0 finetune none $data $small --patience 0 --checkpoint c.ckpt --max-time 0.000001s -o part.h5 -q
    [ -e c.ckpt ] || fail "$command: no checkpoint stays"
    sed '$d' valid.tsv >other.tsv
    tail -1 valid.tsv | sed 's/[0-9]$/7/; t; s/$/1/' >>other.tsv
    cmp -s valid.tsv other.tsv && fail "the other validation samples are the same"
    refuses "valid_checksum" finetune none train.tsv --labels train-y.tsv --valid other.tsv --valid-labels valid-y.tsv \
        $small --patience 0 --checkpoint c.ckpt -o x.h5 -q
    expect 0 finetune none $data $small --patience 0 --checkpoint c.ckpt -o rest.h5 -q
    [ -e c.ckpt ] && fail "$command: the checkpoint stays"
    for net in whole rest; do expect 0 predict $net.h5 valid.tsv --probabilities -o $net.npy -q; done
    cmp -s whole.npy rest.npy || fail "a training that went on gives another net"

    # A grid: every point a training of its own, the best of which is written; a second time nothing is
    # trained but the net.
    expect 0 finetune none $data $small --grid "momentum=0.9,0 masking=0,0.5" --table grid.tsv -o best.h5 \
        --checkpoint g.ckpt -q
    tells "momentum=0.9 masking=0.5"
    [ "$(head -1 grid.tsv)" = "point	epochs	best_epoch	valid_error	valid_loss	choice" ] || fail "grid.tsv has another header"
    [ "$(wc -l <grid.tsv)" -eq 5 ] || fail "grid.tsv has not 5 lines"
    [ -e g.ckpt ] && fail "$command: the checkpoint stays"
    point=$(awk -F '\t' '$6 == "chosen" { print $1 }' grid.tsv | sed 's/^/--/; s/ / --/; s/=/ /g')
    expect 0 finetune none $data $small $point -o single.h5 -q
    for net in best single; do expect 0 predict $net.h5 valid.tsv --probabilities -o $net.npy -q; done
    cmp -s best.npy single.npy || fail "the net of the grid is not that of $point"
    expect 0 finetune stack.h5 $data --layer 1 --epochs 2 --grid "filter=plain,rescaled" --table grid.json -o first.h5 -q
    grep -q '"point": "filter=rescaled"' grid.json || fail "grid.json lacks a point"
    refuses "does nothing without --valid" finetune none train.tsv --labels train-y.tsv --grid rate=1 -o x.h5 -q
    refuses "must be options with their values" finetune none $data --grid rate -o x.h5 -q
    refuses "leave it out" finetune none $data --grid rate=1,2 --log-json x.json -o x.h5 -q
    refuses "must end in .tsv or .json" finetune none $data --grid rate=1,2 --table x.csv -o x.h5 -q
    refuses "--table does nothing without --grid" finetune none nothing.tsv --labels no.tsv --table x.tsv -o x.h5 -q
    refuses "leave it out (optimizer=adam momentum=0.5, of the grid)" finetune none $data \
        --grid "optimizer=sgd,adam momentum=0.5" -o x.h5 -q
    refuses "grid is 'rate=0.1, masking=1'" finetune none $data --grid "rate=0.1, masking=1" -o x.h5 -q

    # Wrong usage, wrong files.
    refuses "START is missing" finetune
    refuses "the samples need --labels" finetune none train.tsv -o x.h5
    refuses "--valid needs --valid-labels" finetune none train.tsv --labels train-y.tsv --valid valid.tsv -o x.h5
    refuses "--targets is given, but --outputs softmax" finetune none train.tsv --targets train-values.tsv -o x.h5
    refuses "patience" finetune none train.tsv --labels train-y.tsv --patience 3 -o x.h5 -q
    refuses "dropout is given, but does nothing: the net has no hidden layer" finetune none train.tsv \
        --labels train-y.tsv --dropout 0.5 -o x.h5 -q
    expect 0 stack dae train.tsv --units 2,2 --iterations 2 --seed 1 -o stacked.h5 -q
    refuses "filter does nothing" finetune stacked.h5 train.tsv --labels train-y.tsv --filter plain -o x.h5 -q
    refuses "would overwrite" finetune none train.tsv --labels train-y.tsv -o train-y.tsv
}
fails() {
    sentence=$1
    shift
    expect 1 "$@" -q
    says "$sentence"
    silent
    [ -e x.h5 ] && fail "$command: left a net"
}
head -40 train-numbers.txt >short.txt
printf 'sample\tclass\ns60\tleft\ns61\tup\n' >other.tsv
sed 's/^s5	[^	]*/s5	nan/' train.tsv >holes.tsv
printf 'x\ty\n' >wide.tsv
fails "40 rows for 60 samples" finetune none train.tsv --labels short.txt -o x.h5
expect 0 convert train.tsv -o three.npy -q
fails "3 columns of numbers" finetune none train.tsv --labels three.npy -o x.h5
fails "does not know" finetune none train.tsv --labels train-y.tsv --valid valid.tsv --valid-labels other.tsv -o x.h5
fails "does not know" evaluate net.h5 valid.tsv --labels other.tsv
fails "missing" finetune none holes.tsv --labels train-y.tsv -o x.h5
fails "targets for 30 samples" finetune none train.tsv --targets valid-values.tsv --outputs linear -o x.h5
awk 'NR > 1 { print ($2 > 0) }' train.tsv >yes.tsv
expect 0 finetune none train.tsv --targets yes.tsv --outputs logistic --layers 8 --epochs 30 --seed 1 -o yes.h5 -q
expect 0 evaluate yes.h5 train.tsv --targets yes.tsv
tells "error rate"
tells "calibration error"
fails "must be 0 to 1" finetune none train.tsv --targets train-values.tsv --outputs logistic -o x.h5
fails "take a smaller --rate" finetune none train.tsv --labels train-y.tsv --layers 8 --rate 1e5 --optimizer sgd -o x.h5
fails "a net cannot be repeated by rerun" rerun net.h5
refuses "there is no layer 1: the model is not a stack" encode net.h5 valid.tsv --layer 1 -o y.npy
refuses "class-weights has 'up' twice" finetune none train.tsv --labels train-y.tsv --class-weights up=2,up=3 -o x.h5 -q
sed 's/up$/down/' train-y.tsv >one.tsv
fails "have one class" finetune none train.tsv --labels one.tsv -o x.h5
expect 0 help finetune --all
tells "save after N epochs (10) or after"

# To other programs and back.
for format in npz onnx; do
    expect 0 export net.h5 -o net.$format
    says "2 layers in net.$format"
    expect 0 import net.$format --like net.h5 -o back.h5 -q
    expect 0 evaluate back.h5 valid.tsv --labels valid-y.tsv -q
    tells "$errors of 30"
done
expect 0 info back.h5
tells "imported_from"
for part in train valid; do sed 's/up$/above/' $part-y.tsv >$part-other.tsv; done
expect 0 finetune none train.tsv --labels train-other.tsv --layers 8 --epochs 1 --seed 3 -o other.h5 -q
for format in npz onnx; do
    expect 0 export other.h5 -o other.$format -q
    fails "and the net differ in their classes" import other.$format --like net.h5 -o x.h5
done
refuses "START is none" finetune none train.tsv --labels train-y.tsv --layer 1 -o x.h5
expect 0 export stack.h5 --layer 1 -o first.npz
says "warning: codes of the E-step"
says "1 layer in"
refuses "written as .onnx or .npz" export net.h5 -o net.txt
refuses "--like NET is missing" import net.npz -o x.h5
refuses "filter is given, but a net" export net.h5 --filter plain -o x.npz
fails "has 2 layers, but the net has 3" import net.npz --like deep.h5 -o x.h5
head -c 500 net.npz >cut.npz
head -c 500 net.onnx >cut.onnx
fails "not a sound .npz" import cut.npz --like net.h5 -o x.h5
fails "not an ONNX file" import cut.onnx --like net.h5 -o x.h5
expect 1 export codes.npy -o x.npz -q
says "not a model"

# Names of any length; NaN is no class.
long=$(printf '%0300d' 7)
sed "s/up\$/$long/" train-y.tsv >long-y.tsv
expect 0 finetune none train.tsv --labels long-y.tsv --layers 4 --epochs 9 --rate 0.05 --seed 1 -o long.h5 -q
expect 0 predict long.h5 valid.tsv -o classes.tsv -q
cut -f 2 classes.tsv | grep -qx "$long" || fail "$command: the long name is cut"
expect 0 predict long.h5 valid.tsv --probabilities -o p.tsv -q
head -1 p.tsv | grep -q "$long" || fail "$command: the long name is cut"
expect 0 evaluate long.h5 train.tsv --labels long-y.tsv --json -q
tells "\"$long\""
sed '1s/.*/NA/; 2s/.*/NA/' train-numbers.txt | sed '1i y' >holes-y.tsv
expect 0 convert holes-y.tsv -o holes-y.npy -q
expect 0 finetune none train.tsv --labels holes-y.npy --layers 4 --epochs 2 -o holes.h5
says "a class for 58 of the 60 samples"

# Effects of covariates: taken out of all samples, of which the validation samples are some others, so that what
# batches add changes nothing; of a stack, of a net that starts at random, and of what both become.
awk 'BEGIN { srand(5)
    for (i = 0; i < 90; i++) {
        part = i < 60 ? "train" : "valid"
        if (i == 0 || i == 60) {
            print "\tf0\tf1\tf2" >(part "-plain.tsv")
            print "\tf0\tf1\tf2" >(part "-batch.tsv")
            print "sample\tclass" >(part "-b-y.tsv")
        }
        if (i == 0) print "sample\tbatch\tage" >"covariates.tsv"
        a = 2 * rand() - 1; b = rand(); c = rand(); batch = int(3 * rand()); age = rand()
        print "s" i "\tb" batch "\t" age >"covariates.tsv"
        print "s" i "\t" a "\t" b "\t" c >(part "-plain.tsv")
        print "s" i "\t" a + 9 * batch "\t" b - 4 * age "\t" c + 20 * (batch == 1) >(part "-batch.tsv")
        print "s" i "\t" (a > 0 ? "up" : "down") >(part "-b-y.tsv")
    }
}' </dev/null
for kind in plain batch; do
    data="train-$kind.tsv --labels train-b-y.tsv --valid valid-$kind.tsv --valid-labels valid-b-y.tsv"
    # shellcheck disable=SC2086
    expect 0 finetune none $data $small --regress batch,age --covariates covariates.tsv --precision float64 -o $kind.h5 -q
    expect 0 predict $kind.h5 valid-$kind.tsv --covariates covariates.tsv --probabilities -o $kind-p.tsv -q
done
paste plain-p.tsv batch-p.tsv | tail -n +2 | awk '{ d = $2 - $5; if (d * d > 1e-8) exit 1 }' ||
    fail "what batches add changes a net that was trained without it"
expect 0 evaluate batch.h5 valid-batch.tsv --covariates covariates.tsv --labels valid-b-y.tsv --json -q
[ "$(number errors <out)" -le 4 ] || fail "$command: $(number errors <out) errors of 30"
expect 0 stack rfn train-batch.tsv --units 3,2 --iterations 20 --regress batch --covariates covariates.tsv --seed 1 -o regress.h5 -q
expect 0 finetune regress.h5 train-batch.tsv --labels train-b-y.tsv --covariates covariates.tsv --epochs 3 -o x.h5 -q
expect 0 finetune x.h5 train-batch.tsv --labels train-b-y.tsv --covariates covariates.tsv --epochs 3 -o more.h5 -q
rm x.h5
refuses "give a table that has them" finetune regress.h5 train-batch.tsv --labels train-b-y.tsv -o x.h5 -q
refuses "give a table that has them" predict more.h5 valid-batch.tsv -o x.tsv -q
refuses "give a table that has them" evaluate more.h5 valid-batch.tsv --labels valid-b-y.tsv -q
refuses "does nothing where no effects" finetune none train.tsv --labels train-y.tsv --covariates covariates.tsv -o x.h5 -q
[ -e x.h5 ] && fail "$command: left a net"

expect 2 evaluate net.h5 valid.tsv -q
says "give --labels"
expect 2 evaluate rfn.h5 valid.tsv --labels valid-y.tsv -q
says "are for nets"
expect 2 predict rfn.h5 valid.tsv -o y.tsv -q
says "is of method 'rfn'"
expect 2 predict net.h5 valid.tsv -o y.npy -q
says "classes are written as .tsv or .json"
fails "no way back" reconstruct net.h5 valid.tsv -o y.npy
head -c 3000 net.h5 >cut.h5
fails "cut.h5" predict cut.h5 valid.tsv -o y.tsv
finish

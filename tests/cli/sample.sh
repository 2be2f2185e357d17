# sample, plot samples: names and formats as of reconstruct; what does nothing is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate bars --style linear --samples 200 --seed 1 -o Y.npy
expect 0 fit linca Y.npy -k 10 --iterations 30 --seed 1 -o model.h5 -q

expect 0 sample model.h5 --seed 2 -o S.npy
silent
says "100 samples x 25 columns in S.npy"
expect 0 sample model.h5 --seed 2 --threads 2 -o T.npy -q
cmp -s S.npy T.npy || fail "two threads draw other samples"
expect 0 sample model.h5 --seed 3 -o T.npy -q
! cmp -s S.npy T.npy || fail "another seed draws the same samples"
expect 0 sample model.h5 --count 7 --noise 0.5 -o S.tsv -q
[ "$(wc -l <S.tsv)" -eq 7 ] || fail "S.tsv has not 7 lines"
expect 0 sample model.h5 --count 3 -o - -q
[ "$(wc -l <out)" -eq 3 ] || fail "standard output has not 3 lines"

# From the codes of data, one for each sample unless another number is asked for.
expect 0 sample model.h5 Y.npy -o S.npy
says "200 samples x 25 columns in S.npy"
expect 0 sample model.h5 Y.npy --count 350 -o S.npy
says "350 samples x 25 columns in S.npy"

# What does nothing.
expect 2 sample model.h5 --transpose -o S.npy
says "--transpose does nothing without DATA"
expect 2 sample model.h5 --steps 10 -o T2.npy
says "which are drawn without a chain; leave it"
[ ! -e T2.npy ] || fail "a refused command left a file"
expect 0 fit ica Y.npy -k 3 --seed 1 -o ica.h5 -q
expect 1 sample ica.h5 -o T2.npy
says "a model of ica cannot draw samples"
expect 2 sample model.h5 --noise -1 -o T2.npy

# A stack: codes of its last layer, made samples by the layers below.
expect 0 stack rfn Y.npy --units 12,4 --iterations 20,20 --seed 1 -o stack.h5 -q
expect 0 sample stack.h5 --count 50 -o S.npy
says "50 samples x 25 columns in S.npy"
expect 0 sample stack.h5 Y.npy -o S.npy -q
expect 0 sample stack.h5 --layer 1 -o S.npy -q

# Pictures.
if "$RAREBIT" plot samples --help >/dev/null 2>&1; then
    expect 0 plot samples model.h5 Y.npy --shape 5x5 -o samples.png
    expect 0 plot samples model.h5 Y.npy --shape 25 --count 3 --codes data --noise 0.2 -o samples.svg
    expect 2 plot samples model.h5 Y.npy -o samples2.png
    says "perhaps 5x5"
    expect 1 plot samples ica.h5 Y.npy --shape 5x5 -o samples2.png
    [ ! -e samples2.png ] || fail "a refused picture left a file"
fi
finish

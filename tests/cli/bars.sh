# simulate bars: shapes, truth, styles, seeds, what is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate bars --style linear --noise 2 --bars 10 --size 5 --width 1 --value 10 \
    --probability 0.2 --samples 500 --seed 1 -o Y.npy --truth fields.npy --states states.npy
silent
says "500 samples x 25 pixels with 10 bars in Y.npy; seed 1"
expect 0 simulate bars -o Z.npy -q
same Y.npy Z.npy
expect 0 info Y.npy --json
tells '"samples": 500, "features": 25'
expect 0 info fields.npy --json
tells '"samples": 10, "features": 25'
[ "$(number nonzeros <out)" = 50 ] || fail "pixels of bars: $(cat out)"
[ "$(number sum <out)" = 500 ] || fail "sum of bars: $(cat out)"
expect 0 info states.npy --json
tells '"samples": 500, "features": 10'
holds "$(number sum <out) > 850 && $(number sum <out) < 1150" # 1000 expected, sd 28

# Where bars cross.
expect 0 simulate bars --style max --noise 0 -o Y.npy -q
expect 0 info Y.npy --json
[ "$(number max <out)" = 10 ] || fail "maximum: $(cat out)"
[ "$(number min <out)" = 0 ] || fail "minimum: $(cat out)"
expect 0 simulate bars --style linear --noise 0 -o Y.npy -q
expect 0 info Y.npy --json
[ "$(number max <out)" = 20 ] || fail "sum of two: $(cat out)"
expect 0 simulate bars --style signed --noise 0 -o Y.npy --truth fields.tsv -q
expect 0 info Y.npy --json
[ "$(number max <out)" = 20 ] || fail "two positive bars: $(cat out)"
[ "$(number min <out)" = -20 ] || fail "two negative bars: $(cat out)"
expect 0 info fields.tsv --json
[ "$(number sum <out)" = 0 ] || fail "half of the bars should be negative: $(cat out)"

# Wide bars.
expect 0 simulate bars --style max --size 9 --width 2 --bars 16 --probability 0.125 --noise 0 \
    --samples 400 -o Y.npy --truth fields.npy
says "400 samples x 81 pixels with 16 bars"

# More samples go on where fewer end.
expect 0 simulate bars --samples 3 -o few.csv -q
expect 0 simulate bars --samples 9 -o more.csv -q
head -n "$(wc -l <few.csv)" more.csv | cmp -s - few.csv || fail "$command: other samples"
expect 0 simulate bars --samples 2 --noise 0 --probability 1 -o - --format csv -q
tells "20,20,20"

refuses "bars is 9" simulate bars --bars 9 -o Y.npy
refuses "width is 7" simulate bars --width 7 -o Y.npy
refuses "probability" simulate bars --probability 2 -o Y.npy
refuses "style" simulate bars --style round -o Y.npy
refuses "standard output" simulate bars -o - --truth -
for what in "bars --noise" "bars --value" "biclusters --noise"; do
    refuses "would not be finite: noise or sizes are too large" simulate $what 1.7e308 -o large.npy
done
[ ! -e large.npy ] || fail "a file was written all the same"
refuses "-o FILE is missing" simulate bars
breaks "there is no folder" simulate bars -o nowhere/Y.npy
finish

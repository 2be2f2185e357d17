# rarebit stack: the bits of fits one after the other, from a file that is one model; killed and gone on.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate bars --size 7 --samples 600 --noise 0.5 --seed 1 -o X.npy -q
expect 0 stack rfn X.npy --units 20,8 --iterations 30,12 --seed 3 -o stack.h5
says "layer 1: rfn, 20 units of 49 features, 30 iterations"
says "layer 2: rfn, 8 units of 20 features, 12 iterations"
# Nothing that can fail follows the writing.
if [ -c /dev/full ]; then
    expect 1 stack rfn X.npy --units 4,2 --iterations 3 --seed 3 -o /dev/full
    says "layer 2: rfn, 2 units of 4 features, 3 iterations"
fi
expect 0 fit rfn X.npy -k 20 --iterations 30 --seed 3 -o first.h5 -q
expect 0 encode first.h5 X.npy -o codes.npy -q
expect 0 fit rfn codes.npy -k 8 --iterations 12 --seed 3 -o second.h5 -q
expect 0 encode second.h5 codes.npy -o top.npy -q

expect 0 encode stack.h5 X.npy -o got.npy -q
same top.npy got.npy
expect 0 encode stack.h5 X.npy --layer 2 -o got.npy -q
same top.npy got.npy
expect 0 encode stack.h5 X.npy --layer 1 -o got.npy -q
same codes.npy got.npy
expect 0 evaluate stack.h5 X.npy --layer 1 --json
cp out layer
expect 0 evaluate first.h5 X.npy --json
[ "$(number objective <layer)" = "$(number objective <out)" ] || fail "$command: other metrics"
expect 0 evaluate stack.h5 X.npy
tells "variance explained"
expect 0 reconstruct stack.h5 X.npy -o rows.npy -q
expect 0 info rows.npy
tells "features       49"
expect 0 info stack.h5
tells "model of method stack"
tells "layer2.loadings       20 x 8"
tells "layer 1               rfn, 20 units of 49 features, 30 iterations, objective"
tells "layer 2               rfn, 8 units of 20 features, 12 iterations, objective"
expect 0 plot filters stack.h5 --best 3 --shape 7x7 -o filters.png -q
expect 0 plot filters stack.h5 --shape 7x7 -o filters.png
expect 0 plot filters stack.h5 --layer 1 --shape 7x7 -o first.png
expect 0 plot filters first.h5 --shape 7x7 -o plain.png
rm -f layer rows.npy ./*.png

# Any number of threads, codes that are never kept.
for words in "stack rfn X.npy --threads 3" "stack rfn X.npy --codes-memory 0" \
    "stack rfn X.npy --codes-memory 0 --threads 2"; do
    # shellcheck disable=SC2086
    expect 0 $words --units 20,8 --iterations 30,12 --seed 3 -o again.h5 -q
    expect 0 encode again.h5 X.npy -o got.npy -q
    same top.npy got.npy
done
for method in pca dae rbm kmeans; do
    fewer=$([ $method = pca ] || echo --iterations 3)
    # shellcheck disable=SC2086
    expect 0 stack $method X.npy --units 12,4 $fewer --seed 1 -o other.h5 -q
    expect 0 encode other.h5 X.npy -o got.npy -q
    expect 0 reconstruct other.h5 X.npy -o got.npy -q
done

# Options of values, too, may be lists of numbers; the names of attributes stand apart from values.
for mean in 0 -0.3; do
    expect 0 fit rfn "$([ $mean = 0 ] && echo X || echo codes).npy" -k 6 --iterations 9 --prior-mean=$mean \
        --sparse-loadings "$([ $mean = 0 ] && echo 0 || echo 1.5)" --seed 1 -o prior.h5 -q
    [ $mean = 0 ] && expect 0 encode prior.h5 X.npy -o codes.npy -q
done
expect 0 encode prior.h5 codes.npy -o want.npy -q
expect 0 stack rfn X.npy --units 6,6 --iterations 9 --prior-mean=0,-0.3 --sparse-loadings 0,1.5 --seed 1 -o prior.h5 -q
expect 0 encode prior.h5 X.npy -o got.npy -q
same want.npy got.npy
expect 0 info prior.h5
tells "layer2.sparse-loadings 1.5"
tells "layer2.prior-mean     -0.3"
expect 1 stack rfn X.npy --units 6,6 --prior-mean=0,b.npy -o s.h5
says "cannot read 0,b.npy"

# Pictures of what units answer most.
expect 0 stack rfn X.npy --units 6,3 --iterations 4 --seed 1 -o drawn.h5 -q
width=$("$RAREBIT" info X.npy --json | number features)
for layer in 1 2; do
    expect 0 plot filters drawn.h5 --layer $layer --shape "$width" --by activation -o answers$layer.png -q
    exists answers$layer.png
    expect 0 plot filters drawn.h5 --layer $layer --shape "$width" -o filters$layer.png -q
    cmp -s answers$layer.png filters$layer.png && fail "$command: the same picture as the projection"
done
expect 0 fit pca X.npy -k 2 -o pca.h5 -q
expect 1 plot filters pca.h5 --shape "$width" --by activation -o none.png -q
expect 2 plot history drawn.h5 --by activation -o none.png -q

# A log of all layers, and memory that no machine has.
expect 0 stack rfn X.npy --units 6,3 --iterations 4,3 --seed 1 --log-json log.jsonl -o logged.h5 -q
[ "$(wc -l <log.jsonl)" -eq 7 ] || fail "$command: $(wc -l <log.jsonl) lines instead of 7"
[ "$(grep -c '^{"layer": 2, "iteration": [123],' log.jsonl)" -eq 3 ] || fail "$command: layer 2 is not in the log"
expect 1 stack rfn X.npy --units 6,2000000 --iterations 4 --seed 1 --log-json none.jsonl -o none.h5 -q
says "use fewer --units"
[ ! -e none.h5 ] && [ ! -e none.jsonl ] || fail "$command: left a file"

# Killed in layer 2, and elsewhere, it goes on where it was.
long="stack rfn X.npy --units 20,9,5 --iterations 30,200,12 --seed 3 --log-json long.jsonl --checkpoint c.h5 --checkpoint-every 15"
# shellcheck disable=SC2086
expect 0 stack rfn X.npy --units 20,9,5 --iterations 30,200,12 --seed 3 -o whole.h5 -q
expect 0 encode whole.h5 X.npy -o whole.npy -q
killed=0
for delay in 0.02 0.04 0.06 0.03 0.05; do
    "$RAREBIT" $long -o killed.h5 -q >out 2>err &
    pid=$!
    sleep $delay
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? -ne 137 ] || killed=$((killed + 1))
done
"$RAREBIT" $long -o killed.h5 -q >out 2>err &
pid=$!
until [ -e c.h5.layer2 ] || [ -e killed.h5 ]; do
    kill -0 $pid 2>/dev/null || break
done
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
rm -f .killed.h5.*.tmp
# shellcheck disable=SC2086
expect 0 $long -o killed.h5
command="killed $killed times, and in layer 2"
expect 0 encode killed.h5 X.npy -o killed.npy -q
same whole.npy killed.npy
awk -F '[:,]' '{ print $2, $4 }' long.jsonl >steps
[ "$(sort -u steps | wc -l)" -eq "$(wc -l <steps)" ] || fail "$command: lines of the log stand twice"
sort -s -k 1n -k 2n steps | cmp -s - steps || fail "$command: lines of the log are not in order"
tail -1 steps | grep -q '3  *12$' || fail "$command: the log does not end with layer 3"
[ ! -e c.h5.layer1 ] && [ ! -e c.h5.layer2 ] || fail "$command: checkpoints are left"

# Ctrl-C in a later layer writes the layers that there are.
"$RAREBIT" stack rfn X.npy --units 20,8,4 --iterations 5,1000000,5 --checkpoint c.h5 --checkpoint-every 50 --seed 1 -o stopped.h5 >out 2>err &
pid=$!
until [ -e c.h5.layer2 ]; do
    kill -0 $pid 2>/dev/null || break
done
kill -INT $pid
wait $pid
got=$?
command="stack stopped in layer 2"
[ $got -eq 130 ] || fail "$command: exit $got instead of 130: $(cat err)"
says "the model with 2 layers was written"
expect 0 encode stopped.h5 X.npy -o got.npy -q
rm -f c.h5.layer*

# A layer that runs out of time is the last one, and the same command resumes.
timed="stack rfn X.npy --units 20,9,5 --iterations 3,4,2 --seed 3 --checkpoint z.h5"
# shellcheck disable=SC2086
{
    expect 0 $timed --max-time 0.00001s -o timed.h5
    says "out of time in layer 1, the last one of the model; the same command resumes"
    expect 0 $timed --max-time 0.00001s -o timed.h5
    expect 0 $timed --max-time 0.00001s -o timed.h5
    expect 0 $timed --max-time 0.00001s -o timed.h5
    says "out of time in layer 2"
    [ -e z.h5.layer2 ] || fail "$command: no checkpoint stays"
    expect 0 $timed -o timed.h5 -q
    [ ! -e z.h5.layer1 ] && [ ! -e z.h5.layer2 ] || fail "$command: checkpoints are left"
    expect 0 stack rfn X.npy --units 20,9,5 --iterations 3,4,2 --seed 3 -o whole.h5 -q
}
expect 0 encode timed.h5 X.npy -o got.npy -q
expect 0 encode whole.h5 X.npy -o whole.npy -q
same whole.npy got.npy

# What cannot be is refused in a sentence, and nothing is written.
mkdir hostile
cd hostile || exit 1
refuses "units is '0', but must be" stack rfn ../X.npy --units 8,0 -o s.h5
refuses "units is '', but must be" stack rfn ../X.npy --units 8, -o s.h5
refuses "units has 2 values and eta has 3" stack rfn ../X.npy --units 8,4 --eta 0.1,0.2,0.3 -o s.h5
refuses "log1p is 'true,false'" stack rfn ../X.npy --units 8,4 --log1p=true,false -o s.h5
refuses "there are options for 17 layers" stack rfn ../X.npy --units 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 -o s.h5
refuses "layer 2: " stack rfn ../X.npy --units 8,4 --activation rectify,tanh --activation-slope 0.01,0.2 -o s.h5
refuses "-o MODEL is missing" stack rfn ../X.npy --units 8,4
refuses "DATA is missing" stack rfn -o s.h5
refuses "there is no layer 3 in a stack of 2" encode ../stack.h5 ../X.npy --layer 3 -o got.npy
refuses "there is no layer 1: the model is not a stack" encode ../first.h5 ../X.npy --layer 1 -o got.npy
refuses "the model to start from is of method 'stack'" fit rfn ../X.npy --init ../stack.h5 -o s.h5
expect 1 rerun ../stack.h5
says "a stack cannot be repeated by rerun"
only
cd ..

finish

# Factor models go through every command.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 --samples 60 --features 30 -o X.npy -q
for method in fa sfa fa-laplace fa-jeffreys fabia; do
    expect 0 help fit $method
    expect 0 fit $method X.npy -k 4 --seed 1 --iterations 30 -o m.h5
    expect 0 info m.h5
    grep -q "model of method $method" out || fail "info names no $method: $(cat out)"
    expect 0 encode m.h5 X.npy -o codes.tsv -q
    [ "$(wc -l <codes.tsv)" -eq 61 ] || fail "codes.tsv has not 61 lines"
    grep -q -- "	-" codes.tsv || fail "codes of $method have no signs"
    expect 0 reconstruct m.h5 X.npy -o rows.npy -q
    expect 0 evaluate m.h5 X.npy --json -q
    for key in dead_units small_codes covariance_error mean_squared_error variance_explained; do
        tells "\"$key\": "
    done
    expect 0 modules m.h5 X.npy
    says "rule test, since "
    expect 0 plot codes m.h5 X.npy -o codes.png -q
    expect 0 report m.h5 X.npy -o report.html -q
    expect 0 fit $method X.npy --init m.h5 --iterations 5 -o n.h5 -q
    expect 0 fit $method X.npy -k 3 --restarts 3 --iterations 30 --consensus --stability 0.5 --seed 1 -o all.h5 -q
    expect 0 encode all.h5 X.npy -o codes.tsv -q
done
expect 0 select fa X.npy --units 2,4 --restarts 2 --folds 2 --iterations 20 --seed 1
refuses "leave out one of" fit fa X.npy -k 3 --solver fixed-point --accelerate squarem -o n.h5 -q
finish

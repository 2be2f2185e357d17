# dae and rbm: everything that is done with a model, from data to report; and what they refuse.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --samples 120 --features 40 --seed 1 -o X.npy -q
for method in dae rbm; do
    more="-k 5 --iterations 40 --batch-size 20 --scale sd --seed 1"
    # shellcheck disable=SC2086
    expect 0 fit $method X.npy $more -o m.h5 --log-json log.jsonl
    says "$method: 40 iterations"
    [ "$(wc -l <log.jsonl)" -eq 40 ] || fail "$command: the log has not 40 lines"
    for array in loadings hidden_bias visible_bias noise dead; do
        expect 0 info m.h5
        tells "$array"
    done
    expect 0 encode m.h5 X.npy -o codes.npy -q
    expect 0 encode m.h5 X.npy -o codes.h5ad -q
    expect 0 reconstruct m.h5 X.npy -o rows.npy -q
    expect 0 evaluate m.h5 X.npy -q
    tells "variance explained"
    expect 0 evaluate m.h5 X.npy --json -q
    tells '"free_energy"'
    expect 0 modules m.h5 X.npy -o modules.tsv -q
    exists modules.tsv
    expect 0 plot history m.h5 -o history.png -q
    expect 0 plot codes m.h5 X.npy -o codes.png -q
    expect 0 plot modules m.h5 X.npy -o modules.png -q
    expect 0 plot filters m.h5 --shape 5x8 -o filters.png -q
    expect 0 report m.h5 X.npy -o report.html -q
    exists report.html
    expect 0 rerun m.h5 X.npy
    tells "the same bits"
    expect 0 select $method X.npy --units 2,3 --iterations 5 --seed 1 -q
    expect 0 fit $method X.npy -k 3 --iterations 60 --batch-size 20 --scale sd --seed 1 --consensus --restarts 4 \
        --stability 0.25 -o many.h5 -q
    expect 0 encode many.h5 X.npy -o many.npy -q
    exists many.npy
    # The preset of the paper; what is given stays.
    expect 0 fit $method X.npy --preset paper --iterations 2 --seed 1 -o paper.h5 -q
    expect 0 info paper.h5 --json
    tells '"batch-size": "10"'
    tells '"momentum": "0"'
    tells '"iterations": 2'
    # On from a model, and what such a fit would not use.
    expect 0 fit $method X.npy --init m.h5 --iterations 2 --seed 1 -o on.h5 -q
    refuses "weight-init is" fit $method X.npy --init m.h5 --weight-init 0.5 -o no.h5 -q
    refuses "--accelerate" fit $method X.npy --accelerate squarem -o no.h5 -q
    # Data of which a rate makes nothing but infinities.
    breaks "take a smaller --rate" fit $method X.npy --eta 1e6 --iterations 50 --seed 1 -o no.h5 -q
    [ ! -e no.h5 ] || fail "$command: a model was written"
done

# Values that are no probabilities; of the data, whatever the order of the batches.
breaks "but visible binary needs values from 0" fit rbm X.npy --visible binary -o no.h5 -q
refuses "has no option --corruption" fit rbm X.npy --corruption 0.1 -o no.h5 -q
refuses "missing is 'omit', but dae needs all values" fit dae X.npy --missing omit -o no.h5 -q

finish

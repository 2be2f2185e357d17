# A model says all that is needed to fit it again: rerun does so, and tells whether the bits agree.
. "$SOURCE/tests/cli/lib/lib.sh"

again() {
    expect 0 "$@" -o m.h5 -q
    expect 0 rerun m.h5 -q
    tells "the same bits: "
}

expect 0 simulate biclusters --samples 120 --features 30 --seed 1 -o X.npy -q
expect 0 simulate bars --samples 150 --seed 1 -o B.npy -q

# Options are those of the model, whoever chose them: presets, conditions, restarts, batches.
again fit rfn X.npy -k 3 --iterations 20 # the seed is drawn
for preset in paper biclustering sparse; do
    again fit rfn X.npy -k 3 --preset $preset --iterations 12 --seed 3
done
again fit rfn X.npy -k 3 --target-sparseness 0.7 --iterations 40 --seed 3
again fit rfn X.npy -k 3 --restarts 3 --estep newton --batch-size 50 --iterations 9 --seed 3
again fit rfn X.npy -k 3 --noise full --dropout 0.2 --estep newton --iterations 9 --seed 3
again fit rfn X.npy -k 3 --accelerate squarem --sparse-loadings 0 --eta 1 --iterations 9 \
    --seed 3 --precision float64
awk 'BEGIN {
    srand(1)
    for (i = 0; i < 80; i++) {
        for (k = 0; k < 12; k++) printf "%s%s", k ? "\t" : "", rand() < 0.02 ? "?" : int(9 * rand())
        printf "\n"
    }
}' >counts.tsv
again fit rfn counts.tsv --missing-words '?' --missing median --totals 10k --log1p --scale sd \
    --top-variance 8 -k 3 --tolerance 1e-3 --trace --iterations 50 --seed 1
again fit rfn counts.tsv --missing-words '?' --missing mean --totals median --log1p -k 3 --restarts 2 --iterations 20 --seed 1
again fit linca counts.tsv --missing-words '?' --missing omit -k 3 --iterations 5 --seed 1
for method in linca nmf-et mca; do
    again fit $method B.npy -k 5 --iterations 6 --seed 3
done

# So is the way the data were read, and what else was read.
expect 0 convert X.npy -o X.tsv -q
again fit rfn X.tsv --transpose --no-header --row-names no -k 3 --iterations 5
expect 0 convert X.npy -o X.h5ad -q
again fit rfn X.h5ad -k 3 --iterations 5
printf '0.1\n-0.2\n-0.5\n' >prior.tsv
again fit rfn X.npy -k 3 --prior-mean prior.tsv --iterations 5 --seed 1
printf '0.1\n-0.2\n-0.4\n' >prior.tsv
breaks "the numbers of prior-mean are not those of the fit: their checksum is " rerun m.h5 -q

# Any number of threads; data that are elsewhere now; the new model repeats itself.
expect 0 fit rfn X.npy -k 3 --iterations 20 --seed 7 --threads 2 -o m.h5 -q
mkdir elsewhere
mv X.npy elsewhere
breaks "cannot read X.npy" rerun m.h5 -q
expect 0 rerun m.h5 elsewhere/X.npy --threads 1 -o again.h5 -q
tells "the same bits: "
expect 0 rerun again.h5 -q
tells "the same bits: "
mv elsewhere/X.npy .

# For programs.
expect 0 rerun m.h5 --json -q
tells '{"same": true, "iterations": 20, "compared": [{"name": "loadings", "of": "arrays", "same": true'

# Data that are others are told before the fit.
breaks "the data are not those of the fit: 150 samples x 25 features instead of 120 x 30" \
    rerun m.h5 B.npy -q
expect 0 simulate biclusters --samples 120 --features 30 --seed 2 -o Y.npy -q
breaks "the data are not those of the fit: their checksum is " rerun m.h5 Y.npy -q

# Other kernels round differently: it is said what differs, by how much, and what was other.
expect 0 info m.h5 --json
if grep -q '"kernels": "avx' out; then
    RAREBIT_KERNEL=ref
    export RAREBIT_KERNEL
    expect 1 rerun m.h5 -q
    unset RAREBIT_KERNEL
    tells "not the same bits: "
    grep -q '^loadings  *[0-9.]*e-0[5-9]$' out || fail "$command: $(cat out)"
    grep -q "^rarebit's kernels: 'avx[0-9]*' then, 'ref' now$" out || fail "$command: $(cat out)"
fi

# A warm start needs the model that it went on from.
expect 0 fit rfn X.npy --init m.h5 --iterations 5 --seed 1 -o warm.h5 -q
expect 0 rerun warm.h5 -q
tells "the same bits: "
breaks "the arrays of the model to start from are not those of the fit" \
    rerun warm.h5 --init warm.h5 -q
refuses "the fit was not started from a model" rerun m.h5 --init warm.h5 -q
mv m.h5 first.h5
breaks "cannot read m.h5" rerun warm.h5 -q
expect 0 rerun warm.h5 --init first.h5 -q

# A fit that was cut short is cut short after as many iterations.
expect 0 fit rfn X.npy -k 3 --iterations 1000000 --parameter-tolerance 0 --max-time 0.3 --seed 1 -o timed.h5 -q
expect 0 rerun timed.h5 -q
tells "the same bits: "
"$RAREBIT" fit rfn X.npy -k 3 --iterations 100000000 --parameter-tolerance 0 --seed 1 --log-json log -o cut.h5 -q 2>err &
fit=$!
while [ ! -s log ]; do sleep 0.05; done
kill -INT $fit
wait $fit
expect 0 rerun cut.h5 -q
tells "the same bits: "

breaks "is data (npy), not a model" rerun X.npy -q

# Results say where they come from.
expect 0 info X.npy
sum=$(sed -n 's/^checksum *//p' out)
[ ${#sum} -eq 8 ] || fail "$command: no checksum: $(cat out)"
expect 0 info X.npy --json
tells "\"checksum\": \"$sum\""
expect 0 info first.h5 --json
tells "\"data_checksum\": \"$sum\""
expect 0 evaluate first.h5 X.npy --json -q
tells '"command_line": "rarebit evaluate first.h5 X.npy --json -q"'
tells "\"seed\": \"7\", \"data_path\": \"X.npy\", \"data_checksum\": \"$sum\"}"
tells "\"data_checksum\": \"$sum\", \"model\": {"
expect 0 modules first.h5 X.npy --json -q
tells '"provenance":{"program_version":"'
tells '"command_line":"rarebit modules first.h5 X.npy --json -q"'
tells "\"data_checksum\":\"$sum\""
expect 0 modules first.h5 X.npy --rule top:5 -o sets.gmt -q
grep -q ", rarebit [0-9.]*, seed 7, data $sum	" sets.gmt || fail "$command: $(head -n 1 sets.gmt)"
expect 0 modules first.h5 X.npy --rule top:5 -o modules.tsv -q
[ "$(head -n 1 modules.tsv)" = "module	unit	information	kind	name	index	weight	score	role" ] ||
    fail "$command: the header is another one: $(head -n 1 modules.tsv)"

# So do pictures and HDF5: version, command, seed of the fit, checksum of the data at hand.
for picture in p.png p.svg; do
    expect 0 plot modules first.h5 X.npy -o $picture -q
    grep -aq "provenance\|<metadata>" $picture || fail "$command: nothing in it"
    for word in "rarebit plot modules first.h5 X.npy -o $picture -q" '"seed":"7"' \
        "\"data_checksum\":\"$sum\",\"model\"" '{"program_version":"'; do
        grep -aqF -e "$word" $picture || fail "$command: $picture lacks $word"
    done
done
expect 0 convert p.png -o p.npy -q # a PNG that can be read
expect 0 encode first.h5 X.npy -o codes.h5 -q
expect 0 convert codes.h5 -o codes.h5ad -q
expect 0 simulate bars --samples 20 --seed 5 -o B.h5 -q
grep -aqF '"seed":5}' B.h5 || fail "$command: no seed in it"
expect 0 rerun first.h5 X.npy --json -q
tells '"provenance": {"program_version"'
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    /usr/bin/python3 - "$sum" <<'END' || fail "provenance of HDF5"
import h5py, json, struct, sys, zlib
origin = json.loads(h5py.File("codes.h5").attrs["provenance"])
assert origin["data_checksum"] == sys.argv[1], origin
assert origin["command_line"].startswith("rarebit encode first.h5"), origin
assert origin["model"]["seed"] == "7", origin
json.loads(h5py.File("codes.h5ad").attrs["provenance"])
data, at, found = open("p.png", "rb").read(), 8, None
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + length]
    assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
    if kind == b"iTXt":
        key, rest = body.split(b"\0", 1)
        found = json.loads(rest[4:].decode())
        assert key == b"provenance"
    at += 12 + length
assert found["model"]["seed"] == "7"
import xml.dom.minidom
json.loads(xml.dom.minidom.parse("p.svg").getElementsByTagName("metadata")[0].firstChild.data)
END
fi

# A consensus of restarts comes out again too, fitted once more or not; of models it cannot.
again fit rfn X.npy -k 4 --iterations 20 --restarts 4 --consensus --stability 0.5 --seed 3
grep -qx 'the same bits: [0-9]* arrays of the consensus of 4 fits, which were all fitted again' out ||
    fail "$command: $(cat out)"
expect 0 rerun m.h5 --json -q
tells '"same": true, "iterations": 0, "consensus_models": 4, "compared": [{"name": "loadings"'
again fit rfn X.npy -k 4 --iterations 20 --restarts 4 --consensus --stability 0.5 --refit 3 \
    --representative mean --seed 3
tells " arrays of the consensus of 4 fits, which were all fitted again, 3 iterations of its refit"
expect 0 fit rfn X.npy -k 4 --iterations 20 --seed 1 -o one.h5 -q
expect 0 fit rfn X.npy -k 4 --iterations 20 --seed 2 -o two.h5 -q
expect 0 consensus one.h5 two.h5 --stability 0.5 --data X.npy -o merged.h5 -q
breaks "is a consensus of 2 other models" rerun merged.h5 -q
says "repeat the command that merged them: rarebit consensus one.h5 two.h5 --stability 0.5"

# Data that are gone; a model that says nothing of its seed; one that would write on the terminal.
mv X.npy elsewhere
breaks "if they are elsewhere now, name them after the model" rerun first.h5 -q
mv elsewhere/X.npy .
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    cp first.h5 odd.h5
    /usr/bin/python3 -c 'import h5py, numpy
file = h5py.File("odd.h5", "r+")
def walk(name, item):
    if "seed" in item.attrs: del item.attrs["seed"]
    for key in ("program_version", "kernels"):
        if key in item.attrs: item.attrs[key] = numpy.bytes_(b"\x1b[31m old")
walk("/", file)
file.visititems(walk)'
    "$RAREBIT" rerun odd.h5 >out 2>err
    grep -q '(null)' err && fail "rerun odd.h5: seed (null)"
    grep -q 'old' out || fail "rerun odd.h5: no version: $(cat out)"
    grep -q "$(printf '\033')" out && fail "rerun odd.h5: control characters"
fi
finish

# A fit to a large compressed data set says, once, what each pass unpacks, and how to unpack it first.
. "$SOURCE/tests/cli/lib/lib.sh"

need_python numpy h5py
"$python" - <<'END'
import h5py
import numpy as np
x = np.zeros((2048, 4128), "f8")
x[:, ::100] = np.random.default_rng(1).standard_normal((2048, 42))
with h5py.File("packed.h5", "w") as f:
    f.create_dataset("X", data=x, chunks=(64, 4128), compression=1)
    f.create_dataset("small", data=x[:50], chunks=(10, 4128), compression=1)
    f.create_dataset("plain", data=x, chunks=(64, 4128), shuffle=True)
END

fit() {
    expect 0 fit rfn "$@" -k 2 --iterations 2 --seed 1 -o m.h5
}
hint="is compressed: each pass over the data unpacks"
fit packed.h5 --dataset X
[ "$(grep -c "$hint 68 MB" err)" -eq 1 ] || fail "$command: $(cat err)"
says "first: rarebit convert packed.h5 --dataset X -o unpacked.h5"
expect 0 convert packed.h5 --dataset X -o unpacked.h5 -q
for data in unpacked.h5 "packed.h5 --dataset small" "packed.h5 --dataset plain" \
    "packed.h5 --dataset X -q"; do
    # shellcheck disable=SC2086 # words
    fit $data
    grep -q "$hint" err && fail "$command: $(cat err)"
done
finish

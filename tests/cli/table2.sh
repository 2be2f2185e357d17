# The page of Table 2: what the validation samples chose is what is tested, and a second time nothing
# is done again.
. "$SOURCE/tests/cli/lib/lib.sh"
need_python numpy

command="table2.py"
table2() {
    "$python" "$SOURCE/bench/table2.py" "$RAREBIT" --quick --units 8 --sets rect --threads 1 "$@" >out 2>err
}
table2 --starts rfn,random --results kept || fail "$command: $(cat err)"
tells "| rect | 2.15±0.13 | 4.71±0.19 | 2.60±0.14 | 2.41±0.13 | 1.99±0.12 | 0.63±0.06(1) | "
tells "| rect | random | 1 | rate="
cp out first
for start in rfn random; do
    rate=$(sed -n 's/.*"error_rate": *\([0-9.]*\).*/\1/p' kept/rect-$start-1.json)
    tells "$(echo "$rate" | awk '{ printf "%.2f (", 100 * $1 }')"
done
touch -d '2000-01-01' kept/*
table2 --starts rfn,random --results kept || fail "$command: $(cat err)"
cmp -s first out || fail "the second page is another one"
[ -z "$(find kept -type f -newermt 2001-01-01)" ] || fail "what was there is done again: $(find kept -type f -newermt 2001-01-01)"
table2 --starts rfn,random --results kept --epochs 3 && fail "results of other epochs are taken"
says "take another folder"
table2 --epochs 0 && fail "no epochs are taken"
says "--epochs must be at least 1"
table2 --sets bogus 2>err && fail "a set that is none is taken"
says "none of rect, convex"
table2 --sets basic && fail "digits come from nowhere"
says "needs the folder of MNIST's files"

# Files as those of NORB and CIFAR: one pair a class and object, one picture a class in each file.
"$python" - <<'END' || fail "the stand-ins cannot be made"
import numpy
generator = numpy.random.default_rng(1)
def matrix(part, kind, values):
    with open(f"smallnorb-{part}-{kind}.mat", "wb") as file:
        magic = 0x1E3D4C55 if values.dtype == numpy.uint8 else 0x1E3D4C54
        lengths = list(values.shape) + [1] * (3 - values.ndim)
        file.write(numpy.array([magic, values.ndim] + lengths, "<i4").tobytes() + values.tobytes())
for part in ("5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing"):
    category, item = numpy.indices((5, 5)).reshape(2, -1)
    pairs = generator.integers(0, 256, (25, 2, 96, 96)).astype(numpy.uint8)
    pairs[:, :, :3, :3] = 40 * category[:, None, None, None]
    matrix(part, "dat", pairs)
    matrix(part, "cat", category.astype("<i4"))
    matrix(part, "info", numpy.stack([item, item, item, item], 1).astype("<i4"))
for name in ["test_batch", *(f"data_batch_{k}" for k in range(1, 6))]:
    rows = generator.integers(0, 256, (10, 3073)).astype(numpy.uint8)
    rows[:, 0] = range(10)
    rows.tofile(name + ".bin")
END
table2 --sets NORB,CIFAR --starts random --results others --norb . --cifar . || fail "$command: $(cat err)"
tells "| NORB | 11.6±0.40 | 8.31±0.35 | - | 10.10±0.38 | 9.50±0.37 | 7.00±0.32(1) | "
tells "| CIFAR | 62.7±0.95 | 40.39±0.96 | 43.38±0.97 | 43.25±0.97 | - | 41.29±0.95(1) | "
"$python" - <<'END' || fail "pictures of NORB or CIFAR are wrong"
import numpy
def values(name):
    return numpy.load(f"others/{name}.npy")
assert values("NORB-train").shape == (20, 2048) and values("NORB-test").shape == (25, 2048)
assert (values("NORB-valid-labels") == range(5)).all()
assert numpy.allclose(values("NORB-valid").reshape(5, 2, 32, 32)[:, 1, 0, 0], 40 / 255 * numpy.arange(5))
rows = numpy.fromfile("data_batch_5.bin", numpy.uint8).reshape(10, 3073)
assert values("CIFAR-train").shape == (40, 3072)
assert numpy.allclose(values("CIFAR-valid"), rows[:, 1:] / 255)
assert (values("CIFAR-valid-labels") == range(10)).all()
END
"$python" - "$SOURCE/bench" <<'END' || fail "MNIST's files are read wrong"
import gzip, sys, numpy
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import picture_sets
pictures = numpy.arange(3 * 784, dtype=numpy.uint8).reshape(3, 784)
with gzip.open("t10k-images-idx3-ubyte.gz", "wb") as file:
    file.write(bytes([0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28]) + pictures.tobytes())
with open("t10k-labels-idx1-ubyte", "wb") as file:
    file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 2]))
values, labels = picture_sets.mnist(".", "test", 2)
assert numpy.allclose(values, pictures[:2] / 255) and list(labels) == [7, 0]
with open("t10k-labels-idx1-ubyte", "ab") as file:
    file.truncate(10)
try:
    picture_sets.mnist(".", "test", 2)
    raise AssertionError("half a file is taken")
except SystemExit as error:
    assert "not all of one" in str(error)
END
table2 --sets NORB && fail "NORB comes from nowhere"
says "NORB needs --norb FOLDER"
mkdir empty
table2 --sets CIFAR --cifar empty && fail "CIFAR comes from an empty folder"
says "data_batch_1.bin cannot be read"
finish

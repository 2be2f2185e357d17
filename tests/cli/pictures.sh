# bench/pictures.py: what the rules of the published sets imply, the same pictures as ever, what is refused.
. "$SOURCE/tests/cli/lib/lib.sh"
need_python numpy matplotlib

command="pictures.py"
pictures() { "$python" -B "$SOURCE/bench/pictures.py" "$@" >out 2>err; }
"$python" -B - "$SOURCE/bench" <<'END' >out 2>err || fail "$command: $(cat err)"
import hashlib, sys
import numpy
sys.path.insert(0, sys.argv[1])
import pictures

def balanced(labels):
    assert abs(labels.sum() - len(labels) / 2) < 2 * len(labels) ** 0.5, "labels are not half and half"

# Rectangles: a border, sizes that differ by 3, any place where it fits.
levels, labels = pictures.make("rectangles", 600)
balanced(labels)
heights, left, fits = [], 0, 0
for picture, label in zip(levels.reshape(-1, 28, 28), labels[:, 0]):
    rows, columns = (numpy.flatnonzero(picture.any(axis)) for axis in (1, 0))
    height, width = rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
    assert set(picture.ravel().tolist()) <= {0, 1} and abs(height - width) >= 3 and label == (width > height)
    assert picture.sum() == (height * width if min(height, width) == 1 else 2 * (height + width) - 4)
    heights.append(height)
    left, fits = left + columns[0], fits + (28 - width) / 2
assert min(heights) == 1 and max(heights) == 28 and abs(left / fits - 1) < 0.08

# Convex ones and others are equally white.
levels, labels = pictures.make("convex", 200)
balanced(labels)
white = levels.mean(1)
for picture, label in zip(levels.reshape(-1, 28, 28) > 0, labels[:, 0]):
    assert pictures.is_convex(picture) == label and picture.sum() >= (19 if label else 10)
one, other = (white[labels[:, 0] == label] for label in (1, 0))
assert abs(one.mean() - other.mean()) < 3 * (one.var() / len(one) + other.var() / len(other)) ** 0.5
for rows, convex in (("..... .##.. .###. ..##. .....", True), ("#...# ..... ..... ..... .....", False),
                     ("#.... .#... ..#.. ...#. ....#", True), ("#.... #.... ##### ..... .....", False),
                     ("#.... ..... .#... ..... ..#..", True), ("#.... ..... ..#.. ..... ....#", False), (".....", True)):
    assert pictures.is_convex(numpy.array([[cell == "#" for cell in row] for row in rows.split()])) == convex, rows

# Digits: each one once, a bright spot that stays, backgrounds of any level, any angle.
digits = numpy.zeros((400, 28, 28), numpy.float32)
digits[:, 12:16, 20:24] = 250
digits[:, 0, 0] = numpy.arange(400) % 250
numbers = numpy.arange(400) % 10
image = (numpy.arange(4800) * 7919 % 200).reshape(60, 80).astype(numpy.float32)
image[:, :40] = 100
given = {"digits": digits.reshape(400, -1), "labels": numbers[:, None], "images": [image]}
for kind in ("mnist-basic", "mnist-rand", "mnist-img"):
    levels, labels = pictures.make(kind, 400, **given)
    assert (numpy.bincount(labels[:, 0].astype(int)) == 40).all() and (levels[:, 13 * 28 + 22] >= 250 / 256).all()
    behind = 256 * levels[:, 20 * 28 + 5]
    if kind == "mnist-basic":
        assert (256 * levels[:, 0] % 10 == labels[:, 0]).all() and not behind.any()
    elif kind == "mnist-rand":
        assert abs(behind.mean() - 127.5) < 4 * 74 / 20 and abs(behind.std() - 73.9) < 8
    else:
        assert 50 < behind.mean() < 150
turned = pictures.make("mnist-rot", 400, **given)[0].reshape(-1, 28, 28) * 256
y, x = numpy.indices((28, 28)) - 13.5
turned[:, x * x + y * y > 144] = 0
mass = turned.sum((1, 2))
x, y = (turned * x).sum((1, 2)) / mass, (turned * y).sum((1, 2)) / mass
angles = numpy.arctan2(y, x)
assert (abs(numpy.hypot(x, y) - 8.06) < 0.3).all() and (abs(mass / 4000 - 1) < 0.1).all()
assert abs(numpy.cos(angles).mean()) < 0.14 and abs(numpy.sin(angles).mean()) < 0.14
assert (abs(numpy.histogram(angles, 4, (-numpy.pi, numpy.pi))[0] - 100) < 35).all()

# A picture depends on seed and number alone; its bits are those that docs/howto/deep.md measured.
marks = {"rectangles": "e3138555", "rectangles-image": "ba3d2f05", "convex": "5cfab781", "mnist-rand": "d33c8949", "mnist-rot": "59004e2a",
         "mnist-img": "b3ee5e82"}
for kind, mark in marks.items():
    levels, labels = pictures.make(kind, 30, 0, 3, **given)
    later = pictures.make(kind, 10, 20, 3, **given)
    assert (levels[20:] == later[0]).all() and (labels[20:] == later[1]).all()
    found = hashlib.sha1(levels.tobytes() + labels.tobytes()).hexdigest()[:8]
    assert found == mark, f"{kind}: {found}"
END

# As files; MNIST's own are read, and what rarebit reads of the pictures is the same.
pictures convex --samples 30 --seed 3 -o X.npy --labels y.npy || fail "$command: $(cat err)"
expect 0 info X.npy
tells "features       784"
"$python" -c 'import numpy
x = numpy.load("X.npy")
open("c-idx3-ubyte", "wb").write(bytes([0, 0, 8, 3, 0, 0, 0, 30, 0, 0, 0, 28, 0, 0, 0, 28]) + (255 * x).astype("u1").tobytes())
open("c-idx1-ubyte", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 30]) + numpy.load("y.npy").astype("u1").tobytes())'
awk 'BEGIN { print "P2 40 50 255"; for (i = 0; i < 2000; i++) print i * 7919 % 251 }' >image.pgm
pictures mnist-img c-idx3-ubyte c-idx1-ubyte image.pgm --samples 30 -o d.npy --labels l.npy || fail "$command: $(cat err)"
pictures rectangles-image image.pgm image.pgm --samples 3 -o d.npy || fail "$command: $(cat err)"

breaks_so() { # MESSAGE ARGUMENTS...
    message=$1
    shift
    ! pictures "$@" -o none.npy || fail "$command $* is no error"
    says "$message"
    [ ! -e none.npy ] || fail "$command $* left a file"
}
breaks_so "there are 30 digits, too few for pictures 21 to 30" mnist-rot c-idx3-ubyte c-idx1-ubyte --first 21 --samples 10
breaks_so "cannot be read" mnist-basic nowhere nothing
breaks_so "mnist-img takes DIGITS LABELS IMAGE..." mnist-img c-idx3-ubyte c-idx1-ubyte
breaks_so "convex takes no files" convex image.pgm
breaks_so "each of them one label" mnist-basic y.npy y.npy
awk 'BEGIN { print "P2 40 50 255"; for (i = 0; i < 2000; i++) print 7 }' >grey.pgm
breaks_so "take other images, or a smaller --least-sd" rectangles-image grey.pgm
awk 'BEGIN { print "P2 20 50 255"; for (i = 0; i < 1000; i++) print i % 251 }' >small.pgm
breaks_so "must be at least 28 x 28" rectangles-image small.pgm
finish

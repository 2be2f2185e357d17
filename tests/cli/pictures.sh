# rarebit simulate rectangles and the like: files in IDX and .amat, and back; what is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate rectangles --samples 40 --seed 3 -o X.npy --labels y.npy
says "40 pictures of 784 pixels in X.npy; seed 3"
expect 0 simulate rectangles --samples 40 --seed 3 -o X.amat -q
[ "$(head -n 1 X.amat | wc -w)" -eq 785 ] || fail "$command: a row has not 785 numbers"
expect 0 convert X.amat -o back.npy
says "the last column of X.amat, the label, is no feature"
expect 0 simulate rectangles --samples 40 --seed 3 -o X.amat.gz -q
expect 0 convert X.amat.gz -o zipped.npy -q
expect 0 convert X.npy -o X.npy.tsv -q
for file in back zipped; do
    expect 0 convert $file.npy -o $file.tsv -q
    same X.npy.tsv $file.tsv
done
awk '{ print $NF }' X.amat >labels
expect 0 convert y.npy -o y.tsv -q
same labels y.tsv

# Bytes, as the files of MNIST are; and the digits of such files.
expect 0 simulate convex --samples 30 --values bytes -o c-idx3-ubyte --labels c-idx1-ubyte -q
[ "$(od -An -tx1 -N16 c-idx3-ubyte | tr -d ' ')" = 000008030000001e0000001c0000001c ] ||
    fail "$command: another header: $(od -An -tx1 -N16 c-idx3-ubyte)"
[ "$(od -An -tx1 -N8 c-idx1-ubyte | tr -d ' ')" = 000008010000001e ] || fail "$command: another header"
expect 0 info c-idx3-ubyte
tells "features       784"
for kind in basic rand rot; do
    expect 0 simulate mnist-$kind c-idx3-ubyte c-idx1-ubyte --samples 30 -o d.npy --labels l.npy -q
done
expect 0 convert X.npy -o X.idx -q
expect 0 convert X.idx -o again.npy -q
same X.npy again.npy
awk 'BEGIN { print "P2 40 50 255"; for (i = 0; i < 2000; i++) print i * 7919 % 251 }' >image.pgm
expect 0 simulate mnist-img c-idx3-ubyte c-idx1-ubyte image.pgm --samples 30 -o d.npy -q
expect 0 simulate rectangles-image image.pgm image.pgm --samples 30 -o d.npy -q
rm -f ./*

# What cannot be is refused in a sentence, and nothing is left.
printf '0 1 2\n3 4 5 6\n' >long.amat
printf '0 1 2\n3 4\n' >short.amat
printf '0 1 2\n3 x 5\n' >text.amat
printf '0 1 nan\n' >nan.amat
printf '7\n8\n' >one.amat
printf '\n\n' >none.amat
breaks "long.amat, row 2, column 4: the row is longer than the first one" info long.amat
breaks "short.amat, row 2, column 3: the row is shorter than the first one" info short.amat
breaks "text.amat, row 2, column 2: this is no finite number" info text.amat
breaks "nan.amat, row 1" info nan.amat
breaks "one.amat, row 1, column 1: a row must be numbers between blanks" info one.amat
breaks "none.amat has no rows of numbers" info none.amat
breaks "is no byte" simulate bars --samples 3 -o a-idx2-ubyte -q
refuses "idx1 holds one number for each sample" simulate convex --samples 3 --values bytes -o a-idx1-ubyte -q
refuses "give --values bytes" simulate rectangles --samples 3 -o a-idx3-ubyte
refuses "labels is .amat" simulate rectangles --samples 3 -o a.npy --labels y.amat
refuses "the last column of .amat is a label" simulate bars --samples 3 -o a.amat
refuses "the last column of .amat is a label" convert long.amat -o a.amat.gz
refuses "its suffix must say the format" simulate convex --samples 3 -o a.xyz
refuses "'simulate convex' has no option --least-sd" simulate convex --least-sd 3 -o a.npy
breaks "cannot read" simulate mnist-basic nowhere nothing -o a.npy
refuses "IMAGE... is missing" simulate rectangles-image -o a.npy
only long.amat short.amat text.amat nan.amat one.amat none.amat

finish

# patches: random pieces of pictures.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { print "P2 40 30 255"; for (i = 0; i < 1200; i++) print i * 7 % 251 }' >a.pgm
awk 'BEGIN { print "P2 20 20 255"; for (i = 0; i < 400; i++) print i % 100 }' >b.pgm
expect 0 patches a.pgm b.pgm --size 10x5 --count 500 --scale 0:10 --seed 1 -o P.npy
silent
says "500 patches of 10x5 pixels, 50 features, from 2 images in P.npy; seed 1"
says "to 0 .. 10"
expect 0 info P.npy --json
tells '"samples": 500, "features": 50'
tells '"min": 0, "max": 10'
expect 0 patches a.pgm b.pgm --size 10x5 --count 500 --scale 0:10 --seed 1 -o Q.npy -q
[ ! -s err ] || fail "$command: not quiet: $(cat err)"
same P.npy Q.npy
expect 0 patches a.pgm b.pgm --size 10x5 --count 500 --scale 0:10 --seed 2 -o Q.npy -q
cmp -s P.npy Q.npy && fail "another seed gave the same patches"

# Values as stored; more patches begin with the same ones.
expect 0 patches --size 1x2 --count 3 -o few.csv -q -- a.pgm
expect 0 patches a.pgm --size 1x2 --count 9 -o more.csv -q
head -n "$(wc -l <few.csv)" more.csv | cmp -s - few.csv || fail "$command: other places"
awk -F, '/^[0-9]/ { if (($2 - $1 + 251) % 251 != 7) exit 1 }' more.csv ||
    fail "pixels side by side are not side by side: $(cat more.csv)"

# From an array, and fitted to.
expect 0 convert a.pgm -o row.npy -q
refuses "do not fit into an image of 1 rows x 1200 columns" patches row.npy --size 2x2 -o X.npy
expect 0 fit rfn P.npy -k 5 --iterations 5 --seed 1 -o m.h5 -q
expect 0 plot filters m.h5 --shape 10x5 -o filters.png -q
exists filters.png

# A whitening knows which patches it left, whatever the file: another one is no silent mistake.
for seed in 1 2; do
    expect 0 patches a.pgm b.pgm --size 3x3 --count 200 --seed $seed --whiten zca --whitening z$seed.npz -o W$seed.npy -q
done
expect 0 convert W1.npy -o W1.h5 -q
for data in W1.npy W1.h5; do
    expect 0 fit rfn $data -k 4 --preset paper --iterations 5 --seed 1 -o w.h5 -q
    expect 0 export w.h5 --conv 3x3x1 --whitening z1.npz -o kernels.npz -q
    [ ! -s err ] || fail "$command: it is the right whitening: $(cat err)"
done
refuses "--whitening does nothing without --conv; give both" export w.h5 --whitening z1.npz -o kernels.npz -q
expect 0 export w.h5 --conv 3x3x1 --whitening z2.npz -o kernels.npz -q
says "the checksum of the training data differs"

refuses "IMAGE... is missing" patches -o X.npy
refuses "-o FILE is missing" patches a.pgm
refuses "use at most as many" patches a.pgm --size 30x40 --count 2 -o X.npy
refuses "do not fit" patches a.pgm b.pgm --size 25x25 --count 2 -o X.npy
refuses "--count is 100000, but a patch" patches a.pgm --size 10x5 --count 100000 -o X.npy
refuses "height x width" patches a.pgm --size ten --count 2 -o X.npy
refuses "such as 0:10" patches a.pgm --scale 10:0 --count 2 -o X.npy
breaks "gone.pgm" patches a.pgm gone.pgm --count 2 -o X.npy
breaks "few.csv is not an image" patches few.csv --count 2 -o X.npy
breaks "there is no folder" patches a.pgm --count 2 -o nowhere/X.npy
[ ! -e X.npy ] || fail "half a file was left"
finish

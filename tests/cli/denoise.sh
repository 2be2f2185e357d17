# denoise: a picture of squares and noise comes nearer to the squares.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN {
    print "P2 64 64 255" >"clean.pgm"; print "P2 64 64 255" >"noisy.pgm"
    seed = 7
    for (y = 0; y < 64; y++) for (x = 0; x < 64; x++) {
        value = (int(x / 9) + int(y / 11)) % 2 ? 190 : 60
        sum = -6
        for (i = 0; i < 12; i++) { seed = (seed * 16807) % 2147483647; sum += seed / 2147483647 }
        noisy = int(value + 30 * sum + 0.5)
        noisy = noisy < 0 ? 0 : (noisy > 255 ? 255 : noisy)
        print value >"clean.pgm"; print noisy >"noisy.pgm"
    }
}'
expect 0 patches noisy.pgm --size 6x6 --count 3000 --seed 1 -o P.npy -q
expect 0 fit linca P.npy -k 16 --candidates 6 --centre mean --iterations 40 --seed 1 -o m.h5 -q
expect 0 denoise m.h5 noisy.pgm --size 6x6 --truth clean.pgm -o out.png
silent
says "64 x 64 pixels from 3481 patches in out.png"
before=$(sed -n 's/.*before \([0-9.]*\) dB.*/\1/p' err)
after=$(sed -n 's/.*ratio \([0-9.]*\) dB.*/\1/p' err)
holds "$before > 18 && $before < 19.5"
holds "$after > $before + 3.5"

# The same levels in every format; an array keeps what lies between them.
refuses "give the --size" denoise m.h5 noisy.pgm --size 8x8 -o none.pgm -q
expect 0 denoise m.h5 noisy.pgm --size 6x6 -o out.pgm -q
[ ! -s err ] || fail "$command: not quiet: $(cat err)"
expect 0 info noisy.pgm
sum=$(sed -n 's/^checksum *//p' out)
grep -q "\"data_checksum\":\"$sum\",\"model\"" out.pgm || fail "out.pgm does not name what it was made of: $sum"
expect 0 convert out.png -o png.npy -q
expect 0 convert out.pgm -o pgm.npy -q
same png.npy pgm.npy
expect 0 denoise m.h5 noisy.pgm --size 6x6 -o out.npy -q
expect 0 info out.npy --json
tells '"samples": 64, "features": 64'

# A model of scaled patches.
expect 0 patches noisy.pgm --size 6x6 --count 3481 --scale -1:1 --seed 1 -o S.npy -q
expect 0 fit linca S.npy -k 16 --candidates 6 --centre mean --iterations 40 --seed 1 -o s.h5 -q
expect 0 denoise s.h5 noisy.pgm --size 6x6 --scale -1:1 --truth clean.pgm -o scaled.png
after=$(sed -n 's/.*ratio \([0-9.]*\) dB.*/\1/p' err)
holds "$after > $before + 3"
expect 0 denoise s.h5 noisy.pgm --size 6x6 --scale -1:1 --truth clean.pgm -o - -q
cp out stream.png
expect 0 convert stream.png -o stream.npy -q # the files name their commands
expect 0 convert scaled.png -o scaled.npy -q
same stream.npy scaled.npy

# Where the largest field counts.
expect 0 fit mca P.npy -k 24 --candidates 6 --iterations 40 --seed 1 -o max.h5 -q
expect 0 denoise max.h5 noisy.pgm --size 6x6 --truth clean.pgm -o max.png
after=$(sed -n 's/.*ratio \([0-9.]*\) dB.*/\1/p' err)
holds "$after > $before + 2"

refuses "PICTURE is missing" denoise m.h5 -o X.png
refuses "the model has 36" denoise m.h5 noisy.pgm --size 8x8 -o X.png
refuses "do not fit into an image" denoise m.h5 noisy.pgm --size 1x65 -o X.png
refuses "height x width" denoise m.h5 noisy.pgm --size six -o X.png
refuses "goes to .png, .pgm, .ppm or .npy" denoise m.h5 noisy.pgm --size 6x6 -o X.jpg
refuses "an array has no whole grey levels" denoise m.h5 out.npy --size 6x6 -o X.png
refuses "would overwrite 'clean.pgm'" denoise m.h5 noisy.pgm --size 6x6 --truth clean.pgm -o clean.pgm
printf 'P2 2 2 255 1 2 3 4\n' >small.pgm
breaks "give the same image without noise" denoise m.h5 noisy.pgm --size 6x6 --truth small.pgm -o X.png
breaks "gone.pgm" denoise m.h5 gone.pgm --size 6x6 -o X.png
[ ! -e X.png ] || fail "half a file was left"
finish

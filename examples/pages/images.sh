# Patches of photographs: docs/start/examples/images.md.
. "$(dirname "$0")/lib.sh"
cp "$here"/../data/photographs/*.png .

for photograph in camera face grass; do
    show patches $photograph.png --size 10x10 --count 3000 --scale 0:10 --seed 1 -o $photograph.tsv -q
    "$rarebit" patches $photograph.png --size 10x10 --count 1000 --scale 0:10 --seed 2 -o more.tsv -q
    cat more.tsv >&3
    yes $photograph | head -3000 >&4
done 3>others.tsv 4>classes.txt
cat camera.tsv face.tsv grass.tsv >patches.tsv

show check patches.tsv
for method in rfn mca; do
    show fit $method patches.tsv -k 50 --seed 1 -o $method.h5 -q
    show evaluate $method.h5 patches.tsv -q
    show reconstruct $method.h5 others.tsv -o $method.npy -q
    show plot filters $method.h5 --shape 10x10 --width 700 -o $method.png -q
    show modules $method.h5 patches.tsv --labels classes.txt -q
done

echo
for method in rfn mca; do
    figure "$method zeros" "$(evaluated $method.h5 others.tsv sparseness)"
    figure "$method area" "$(areas $method.h5 patches.tsv classes.txt)"
done
if [ "${RAREBIT_PEERS:-yes}" != no ] && has_python; then
    python "$here/images.py" patches.tsv others.tsv classes.txt 50 rfn.npy mca.npy | tee -a figures.tsv
else
    compared=no
fi
finish

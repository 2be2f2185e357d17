# Speech: docs/start/examples/speech.md. --data has speech/fsdd8k/DIGIT_SPEAKER_NUMBER.wav.
. "$(dirname "$0")/lib.sh"
sounds=$(given speech/fsdd8k) || exit
ln -sf "$sounds"/*.wav .
cut="--length 12.5ms --step 2.5ms --peak 5 --trim-silence"

# shellcheck disable=SC2086
show segments ./*.wav $cut -o segments.npy
show check segments.npy
show fit linca segments.npy -k 60 --candidates 8 --max-active 4 --iterations 100 --seed 1 -o linca.h5 -q
show fit rfn segments.npy -k 60 --seed 1 -o rfn.h5 -q
for method in linca rfn; do
    show evaluate $method.h5 segments.npy -q
    show plot filters $method.h5 --shape 100 --width 600 -o $method.png -q
    show encode $method.h5 segments.npy -o $method.npy -q
done

# Of which recording each segment is.
for sound in ./*.wav; do
    # shellcheck disable=SC2086
    "$rarebit" segments "$sound" $cut -o - -q | awk -v name="$(basename "$sound" .wav)" '{ print name }'
done >recordings.txt
cut -d _ -f 2 recordings.txt >speakers.txt
show modules linca.h5 segments.npy --labels speakers.txt -q

echo
figure "segments" "$(wc -l <recordings.txt)"
for method in linca rfn; do
    figure "$method" "$(evaluated $method.h5 segments.npy "variance explained")"
    figure "$method zeros" "$(evaluated $method.h5 segments.npy sparseness)"
    figure "$method, a segment's speaker" "$(areas $method.h5 segments.npy speakers.txt)"
done
if [ "${RAREBIT_PEERS:-yes}" != no ] && has_python; then
    python "$here/speech.py" segments.npy recordings.txt linca.npy rfn.npy 60 | tee -a figures.tsv
else
    compared=no
fi
finish

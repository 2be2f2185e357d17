# segments: overlapping pieces of sounds.
. "$SOURCE/tests/cli/lib/lib.sh"

# A recording of 8 bits a value, at 8000 a second; 128 is 0.
wav() {
    printf 'RIFF\044\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\100\037\000\000'
    printf '\001\000\010\000data\032\000\000\000%s' "$1"
}
wav 'abcdefghijklmnopqrstuvwxyz' >a.wav
wav 'ZYXWVUTSRQPONMLKJIHGFEDCBA' >b.wav

expect 0 segments a.wav b.wav --length 1.25ms --step 1 --peak 5 --trim-silence -o S.npy
silent
says "34 segments of 10 values, from 2 recordings in S.npy"
says "every 1, at 8000 values per second"
expect 0 info S.npy --json
tells '"samples": 34, "features": 10'
tells '"min": -5'
expect 0 segments a.wav b.wav --length 10 --step 0.125ms --peak 5 --trim-silence -o Q.npy -q
[ ! -s err ] || fail "$command: not quiet: $(cat err)"
same S.npy Q.npy

# Values as stored, every third of a segment's start: (97 - 128) / 128 is an a.
expect 0 segments a.wav --length 2 --step 3 -o few.csv -q
[ "$(wc -l <few.csv)" = 9 ] || fail "not nine segments: $(cat few.csv)"
grep -q '^-0.2421875,-0.234375$' few.csv || fail "a and b are not first: $(cat few.csv)"
expect 0 fit linca S.npy -k 3 --iterations 5 --seed 1 -o m.h5 -q

# A tone of 1000 Hz at 0 dB: the band around it is the loudest of 8.
/usr/bin/awk 'BEGIN { for (i = 0; i < 800; i++) printf "%c", i % 8 < 4 ? "a" : "z" }' >tone
{ printf 'RIFF\104\003\000\000WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\100\037\000\000'
    printf '\001\000\010\000data\040\003\000\000'
    cat tone; } >tone.wav
expect 0 segments tone.wav --spectrogram --bands 8 --length 45ms --step 20ms -o T.csv
says "spectrograms of 3 x 8, frames x bands, of 8000 values per second"
[ "$(wc -l <T.csv)" = 3 ] || fail "not three segments: $(cat T.csv)"
[ "$(head -1 T.csv | tr , '\n' | head -8 | sort -g | tail -1)" = "$(head -1 T.csv | cut -d, -f4)" ] ||
    fail "another band is louder: $(cat T.csv)"
refuses "does nothing without --spectrogram" segments a.wav --hop 5ms -o X.npy
refuses "must be a multiple of the hop, 80" segments tone.wav --spectrogram --step 1 -o X.npy
refuses "length is 80 values, but must be at least one window, 200" segments tone.wav --spectrogram --length 10ms -o X.npy
refuses "give fewer bands, or a longer window" segments tone.wav --spectrogram --bands 100 -o X.npy
refuses "does not fit into a recording of 26" segments a.wav --spectrogram -o X.npy

refuses "WAV... is missing" segments -o X.npy
refuses "-o FILE is missing" segments a.wav
refuses "length is 'long'" segments a.wav --length long -o X.npy
refuses "does not fit into a recording of 26" segments a.wav --length 27 -o X.npy
breaks "gone.wav" segments a.wav gone.wav --length 2 -o X.npy
breaks "few.csv: not a recording" segments few.csv --length 2 -o X.npy
breaks "there is no folder" segments a.wav --length 2 -o nowhere/X.npy
[ ! -e X.npy ] || fail "half a file was left"
finish

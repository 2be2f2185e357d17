# Two leukaemias: docs/start/examples/leukaemia.md. The data are in Debian's r-bioc-multtest, which is fetched
# and unpacked, not installed.
. "$(dirname "$0")/lib.sh"
if [ ! -s golub.tsv ]; then
    has_python || { echo "this example needs python3 with sklearn and scipy" >&2; exit 1; }
    apt-get download -qq r-bioc-multtest 2>fetch.log && dpkg -x r-bioc-multtest_*.deb multtest || {
        cat fetch.log >&2
        echo "r-bioc-multtest cannot be fetched; this example needs apt" >&2
        exit 1
    }
    python "$here/leukaemia.py" multtest/usr/lib/R/site-library/multtest/data/golub.RData
fi

show check golub.tsv
show fit rfn golub.tsv -k 7 --seed 1 -o model.h5 -q
show evaluate model.h5 golub.tsv -q
show modules model.h5 golub.tsv -q
show modules model.h5 golub.tsv --labels classes.tsv -q
show plot modules model.h5 golub.tsv --labels classes.tsv --best 6 --width 900 -o modules.png -q

# How many samples the unit has in which the T-cell receptor is up, or how many of five seeds have the
# same ones.
receptor() {
    for seed in 1 2 3 4 5; do
        "$rarebit" fit rfn golub.tsv -k 7 --seed $seed -o seed.h5 -q
        "$rarebit" modules seed.h5 golub.tsv -q -o seed.tsv
        awk -F '\t' 'NR == FNR { if ($5 == "X00437_s_at" && $7 > 0) unit = $2; next }
            $2 == unit && $4 == "sample" { print $5 }' seed.tsv seed.tsv | sort | tr '\n' ' '
        echo
    done | sort | uniq -c | sort -rn | awk -v field="$1" 'NR == 1 { print field == "samples" ? NF - 1 : $1 }'
}

echo
figure "variance explained" "$(evaluated model.h5 golub.tsv "variance explained")"
figure "sparseness" "$(evaluated model.h5 golub.tsv sparseness)"
figure "rfn" "$(seeds golub.tsv classes.tsv -k 7)"
figure "samples with TCRB" "$(receptor samples)"
figure "seeds that agree" "$(receptor seeds)"
peers golub.tsv classes.tsv 7
finish

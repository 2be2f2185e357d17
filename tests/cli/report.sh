# report: one page that needs no other file, and in which names stay names.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 --samples 60 --features 40 -o X.npy -q
expect 0 fit rfn X.npy -k 4 --centre mean --iterations 60 --seed 1 -o model.h5 -q

expect 0 report model.h5 X.npy -o page.html
silent
says "page in page.html; open it in a browser"
exists page.html
[ "$(grep -c '</html>' page.html)" -eq 1 ] || fail "page.html does not end"
# Nothing is fetched: no address, and no element that could have one.
! grep -o 'https*://[a-z0-9.]*' page.html | grep -v '^http://www.w3.org$' || fail "page.html names addresses"
! grep -E '<(link|img|iframe|object|embed|script src)' page.html || fail "page.html asks for files"
grep -q "Content-Security-Policy.*default-src 'none'" page.html || fail "page.html may load things"
# It says which data, which commands, which version.
for text in '"checksum":"' '"data_checksum":"' 'rarebit report model.h5 X.npy -o page.html' \
    'rarebit fit rfn X.npy -k 4 --centre mean --iterations 60 --seed 1 -o model.h5' '"version":"'; do
    grep -qF -e "$text" page.html || fail "page.html lacks $text"
done
# Where shrinking begins is marked; a fit that ends before, or goes on from a model, has no such place.
grep -qF '"shrinks_from":51,' page.html || fail "page.html does not say where shrinking begins"
expect 0 fit rfn X.npy -k 4 --iterations 50 --seed 1 -o short.h5 -q
expect 0 fit rfn X.npy --init model.h5 --iterations 60 -o on.h5 -q
for model in short on; do
    expect 0 report $model.h5 X.npy -o none.html -q
    grep -qF '"shrinks_from":0,' none.html || fail "$model.h5 begins to shrink"
done
grep -qF '"warnings":[]' page.html || fail "page.html has warnings: none were given"

# The same bytes for any number of threads, and in a pipe; the command itself is in the page.
expect 0 report model.h5 X.npy -o 1.html --threads 1 -q
expect 0 report model.h5 X.npy -o 2.html --threads 2 -q
sed 's/report model.h5 X.npy -o 1.html --threads 1/report/' 1.html >1.page
sed 's/report model.h5 X.npy -o 2.html --threads 2/report/' 2.html >2.page
same 1.page 2.page
expect 0 report model.h5 X.npy -o - -q
sed 's/report model.h5 X.npy -o - -q/report/' out >pipe.page
sed 's/report -q/report/' 1.page >1.plain
same pipe.page 1.plain

# A warning of the fit is told in the page as well.
expect 0 fit rfn X.npy -k 1 --seed 1 -o many.h5 -q
expect 0 report many.h5 X.npy -o many.html
warning=$(sed -n 's/^rarebit: warning: \([a-z0-9. %]*\).*/\1/p' err | head -n 1)
[ -n "$warning" ] || fail "$command: no warning, nothing to look for"
grep -qF -e "$warning" many.html || fail "many.html lacks '$warning'"

# Names that are HTML, JSON, or no text at all.
expect 0 convert X.npy -o X.tsv -q
awk 'BEGIN { FS = OFS = "\t"; split("</script><script>alert(1)</script>;quoted'"'"'\\;<!-- & <img src=x onerror=alert(1)>;\377\376;{{x}}", bad, ";")
        printf "name"; for (i = 1; i <= 40; i++) printf "\t%s", i <= 5 ? bad[i] : "f" i; print "" }
    { print (NR <= 3 ? bad[NR] : "s" NR), $0 }' X.tsv >named.tsv
awk 'NR == 1 { print "name\tclass"; next } { print $1 }' FS='\t' named.tsv |
    awk 'NR > 1 { $0 = $0 "\t" (NR % 2 ? "</script><b>" : "<!--") } { print }' >labels.tsv
expect 0 fit rfn named.tsv -k 3 --iterations 40 --seed 1 -o named.h5 -q
expect 0 report named.h5 named.tsv --labels labels.tsv --title '</title><script>' -o named.html -q
[ "$(grep -o '</script' named.html | wc -l)" -eq 2 ] || fail "a name ends an element of named.html"
! grep -qF '<img' named.html || fail "a name is an element of named.html"
! grep -qF 'alert(1)</' named.html || fail "a name is as it was in named.html"
grep -qF 'u003c/script>' named.html || fail "named.html lacks the name"

refuses "a report is written as HTML; give a name that ends in .html" report model.h5 X.npy -o page.png
refuses "-o" report model.h5 X.npy
refuses "would overwrite 'model.h5'" report model.h5 X.npy -o model.h5
refuses "--covariate-groups does nothing without --covariates" report model.h5 X.npy -o page.html \
    --covariate-groups batch
rm -f ./*.html
select_table() {
    printf '%b' "$1" >select.tsv
    shift
    "$@" report model.h5 X.npy --select select.tsv -o page.html -q
}
select_table 'k\tmatch\n2\t1\n' breaks "select.tsv, row 1: the first column must be units"
select_table '' breaks "select.tsv, row 1: the table is empty"
select_table 'units\tmatch\n2\n' breaks "select.tsv, row 2: the row has 1 cells, but the header has 2"
select_table 'units\tmatch\n2\t1\nx\t1\n' breaks "select.tsv, row 3: the first cell is not a number of units"
breaks "cannot read missing.tsv" report model.h5 X.npy --select missing.tsv -o page.html -q
[ ! -e page.html ] || fail "page.html is there"
select_table 'units\tmatch\tchoice\r\n2\tnan\t-\r\n5\t0.25\tpicked\r\n' expect 0
grep -qF '"columns":["units","match","choice"],"rows":[[2,null,"-"],[5,0.25,"picked"]]' page.html ||
    fail "page.html lacks the table of select"
rm page.html
breaks "missing.tsv" report model.h5 X.npy --labels missing.tsv -o page.html -q
breaks "there is no folder" report model.h5 X.npy -o nowhere/page.html -q
[ ! -e page.html ] || fail "page.html is there"
finish

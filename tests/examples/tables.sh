# ./run tables: the paper's figures stand beside those of fits, also where not all rows were fitted.
. "$SOURCE/tests/cli/lib/lib.sh"
[ -x "$BUILD/bench/tables" ] || skip "the benchmarks were not built"
RAREBIT=$BUILD/bench/tables

# One instance may well be far from the mean of the paper's, which is exit code 1.
"$RAREBIT" --instances 1 --datasets D1 --units 50 --sets I -o rows.tsv >out 2>err || [ $? = 1 ] || fail "$(cat err)"
grep -q '^| I | 50 | D1 | RFN | 7[0-9][.].* | 74 | 58 | 5 |' out || fail "no row of RFN: $(cat out)"
grep -q '^| I | 50 | D1 | RFNn | 7[0-9][.].* | 73 | 85 | 13 |' out || fail "no row of RFNn: $(cat out)"
tells '| RFN | paper | 75±0 | 249±3 | 108±3 | 81±1 | 68±9 | 26±6 | 85±1 | 17±6 | 7±6 |'
[ "$(grep -c '| paper |' out)" = 10 ] || fail "not the ten methods of Table 1: $(cat out)"
! grep -q '| here |' out || fail "averages of one data set: $(cat out)"
[ "$(awk -F'\t' 'NR > 2 && $11 < $5' rows.tsv)" = "" ] || fail "fewer codes below 0.01 than zeros: $(cat rows.tsv)"
"$RAREBIT" --methods FA,PCA --instances 1 --units 50 --sets I >out 2>err || [ $? = 1 ] || fail "$(cat err)"
grep -q '^| PCA | here | 0[.].* | - | - |' out || fail "no averages of PCA: $(cat out)"

# A row is near by what the paper has alone, however few instances and whatever their spread.
"$RAREBIT" --methods RFN --instances 2 --units 150 --sets I -o rows.tsv >out 2>err || [ $? = 1 ] || fail "$(cat err)"
awk -F'\t' 'function off(ours, paper, wide) { return paper != "" && (ours < paper - wide || ours > paper + 1 + wide) }
    function wide(paper, sd, means) { w = 3 * sd / sqrt(100 * means); return w > 2 && w > paper / 20 ? w : paper / 20 > 2 ? paper / 20 : 2 }
    NR > 2 { n = $3 == "average" ? 9 : 1
             bad = off($5, $17, 2) || off($7, $19, wide($19, $20, n)) || off($9, $21, wide($21, $22, n))
             if ($23 != (bad ? "OFF" : "near")) print }' rows.tsv >wrong
[ ! -s wrong ] && [ "$(wc -l <rows.tsv)" = 12 ] || fail "not near by the paper's figures alone: $(cat wrong)"
finish

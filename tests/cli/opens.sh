# Every input file, data or model, is opened once by a command, whatever looks at it.
. "$SOURCE/tests/cli/lib/lib.sh"

need command strace
strace -o trace true 2>/dev/null || skip "strace cannot trace here"

opens_once() {
    command="rarebit $*"
    # A sanitizer cannot look for leaks of what is traced.
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" \
        strace -f -o trace -e trace=open,openat "$RAREBIT" "$@" >out 2>err || fail "$command: $(cat err)"
    for file in in.$suffix m.h5; do
        case " $* " in
        *" $file "*)
            count=$(grep -c "\"$file\"" trace)
            [ "$count" -eq 1 ] || fail "$command: opens $file $count times"
            ;;
        esac
    done
}

expect 0 simulate biclusters --samples 40 --features 20 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 2 --iterations 2 --seed 1 -o m.h5 -q
for suffix in npy tsv.gz csv h5 h5ad; do
    expect 0 convert X.npy -o in.$suffix -q
    opens_once fit rfn in.$suffix -k 2 --iterations 2 --seed 1 -o x.h5 -q
    opens_once encode m.h5 in.$suffix -o codes.npy -q
    opens_once reconstruct m.h5 in.$suffix -o rebuilt.npy -q
    opens_once evaluate m.h5 in.$suffix -q
    opens_once modules m.h5 in.$suffix -q
    opens_once report m.h5 in.$suffix -o page.html -q
    opens_once convert in.$suffix -o other.tsv -q
done
finish

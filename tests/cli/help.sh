# Help, man pages and completion are made from the same tables: all commands, all options.
. "$SOURCE/tests/cli/lib/lib.sh"

commands="fit_rfn fit_linca fit_nmf-et fit_mca fit_pca fit_ica fit_nmf fit_kmeans fit_dae fit_rbm encode reconstruct denoise evaluate modules check info convert
simulate_biclusters simulate_bars plot_fields plot_quality plot_evidence patches segments plot_history plot_codes plot_unit plot_filters plot_modules version help"

expect 0 help
cp out overview
expect 0 --help
same out overview
expect 0 -h
same out overview
expect 0 --version
tells "rarebit "
for words in fit "fit rfn" "plot history" encode; do
    # shellcheck disable=SC2086 # words
    expect 0 help $words
    cp out shown
    # shellcheck disable=SC2086
    expect 0 --help $words
    same out shown
done
refuses "there is no command 'nothing'" --help nothing
refuses "there is no command 'fit rfm'; did you mean 'fit rfn'?" help fit rfm
# The overview is one screen, of a line each: verbs, then methods.
[ "$(wc -l <overview)" -le 45 ] || fail "the overview has $(wc -l <overview) lines"
awk 'length($0) > 80 && !/^rarebit/ { exit 1 }' overview || fail "the overview has long lines"
expect 0 fit --help
cp out shown
expect 0 help fit
same out shown
tells "  rfn "
tells "biclusters"
expect 0 help plot
tells "  filters "

mkdir made
expect 0 generate made
for name in $commands; do
    words=$(echo "$name" | tr _ ' ')
    case $words in
    version | help) tells_overview="rarebit $words" ;;
    *) tells_overview="^  ${words%% *} " ;;
    esac
    grep -q "$tells_overview" overview || fail "the overview lacks '$words'"
    # shellcheck disable=SC2086
    expect 0 $words --help
    [ ! -s err ] || fail "$command: stderr is not empty"
    tells "Usage: rarebit $words"
    tells "Examples"
    cp out shown
    # shellcheck disable=SC2086
    expect 0 help $words
    same out shown
    # shellcheck disable=SC2086
    expect 0 help $words --all
    cp out shown
    page=made/man/rarebit-${words%% *}.1
    exists "$page"
    # Each option of the help is in the man page, in both completions, and the other way round.
    sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' shown | sort >options
    sed -n 's/^\(\\fB\\-.\\fR, \)\{0,1\}\\fB\\-\\-\([a-z0-9\\-]*\)\\fR.*/\2/p' "$page" |
        tr -d '\\' | sort -u >paged
    absent=$(comm -23 options paged)
    [ -z "$absent" ] || fail "$page lacks $absent"
    case $words in
    *" "*) ;;
    *) same options paged ;;
    esac
    [ "$words" = help ] && continue # commands follow it
    while read -r option; do
        grep -q -e "--$option " made/completion/rarebit.bash || fail "bash lacks $words --$option"
        grep -q -e "--${option}[=[]" made/completion/_rarebit || fail "zsh lacks $words --$option"
    done <options
    # Lines fit a terminal; an example may be longer, so that it can be copied.
    grep -v '^    rarebit' shown | awk 'length($0) > 80 { exit 1 }' || fail "$words: a line is too long"
done
exists made/man/rarebit.1

# Names of units are those of the files.
expect 0 encode --help
tells "Columns are unit0, unit1"

# A page per command of one word, not per method.
[ "$(find made/man -name 'rarebit*.1' | wc -l)" -le 45 ] || fail "there are too many man pages"
grep -q "^.SH fit mca" made/man/rarebit-fit.1 || fail "rarebit-fit.1 lacks mca"

# Sentences of help are short: none has more than 35 words, and all 17 on average.
awk '/^\.nf/ { code = 1 } /^\.fi/ { code = 0 }
    /^\./ || code || /^\\f/ || /^\[/ { next }
    {
        count = split($0, parts, /[.!?][)"]* +/)
        for (i = 1; i <= count; i++) {
            words = split(parts[i], word, / +/)
            if (words < 3 || seen[parts[i]]++) continue
            sentences++
            total += words
            if (words > 35) print FILENAME ": " words " words: " parts[i]
        }
    }
    END { if (total > 17 * sentences) print total / sentences " words a sentence" }' made/man/*.1 >long
[ ! -s long ] || fail "sentences are too long: $(cat long)"

expect 0 fit rfn --help
tells "-k, --units N"
tells "--seed N"
tells "drawn and shown"
tells "rarebit fit rfn table.tsv --transpose -k 10 -o model.h5"

if have command groff; then
    for page in made/man/*.1; do
        groff -man -ww -z "$page" 2>warnings
        [ ! -s warnings ] || fail "$page: $(head -n 3 warnings)"
    done
fi

if have command bash; then
    cat >complete.bash <<'END'
source made/completion/rarebit.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rarebit 2>/dev/null
echo "${COMPREPLY[*]}"
END
    completes() {
        wanted=$1
        shift
        got=$(bash complete.bash "$@")
        [ "$got" = "$wanted" ] || fail "completing '$*' gives '$got' instead of '$wanted'"
    }
    completes "fit finetune" rarebit "fi"
    completes "rfn linca nmf-et mca ssc pca ica fa sfa fa-laplace fa-jeffreys fabia nmf kmeans dae rbm" rarebit fit ""
    completes "history codes filters unit samples modules fields quality evidence" rarebit plot ""
    completes "biclusters bars cells" \
        rarebit help simulate ""
    completes "rms sd none" rarebit fit rfn X.npy --normalize ""
    completes "--iterations" rarebit fit rfn X.npy --iter
fi
# What most people need comes first, what only research needs last, each option once.
for method in rfn linca nmf-et mca pca ica fa sfa fa-laplace fa-jeffreys fabia nmf kmeans dae rbm; do
    expect 0 help fit $method
    [ "$(wc -l <out)" -le 60 ] || fail "$command: $(wc -l <out) lines"
    tells "'rarebit help fit $method --all' shows every option"
    ! grep -qi "rosen\|haug-arora\|cascade" out || fail "$command: shows E-steps of the paper"
    expect 0 help fit $method --all
    cp out shown
    twice=$(sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' shown | sort | uniq -d)
    [ -z "$twice" ] || fail "$command: $twice stands twice"
    parts=$(grep -n "^Examples\|^Common options\|^Fit\|^General\|^For research" shown |
        sed 's/.*://' | tr '\n' ' ')
    [ "$parts" = "Examples Common options Fit General For research " ] ||
        fail "$command: parts are '$parts'"
    sed -n '/^Common/,/^$/p' shown >common
    sed -n '/^For research/,$p' shown >research
    for option in units iterations seed restarts missing top-variance transpose output quiet; do
        grep -q -e "--$option" common || fail "$command: --$option is not among the common ones"
    done
    grep -q -e "--trace" research || fail "$command: --trace is not among those for research"
    [ "$(wc -l <common)" -le 45 ] || fail "$command: the common options fill a page"
done
# So has every command that would fill more than a screen; one with few options has them by their groups.
sed -n "s/^    '\([a-z -]*\)'\*)\$/\1/p" made/completion/_rarebit >listed
grep -q "^select ssc" listed || fail "_rarebit lacks commands"
while read -r words; do
    # shellcheck disable=SC2086 # words
    expect 0 help $words
    [ "$(wc -l <out)" -le 60 ] || fail "$command: $(wc -l <out) lines"
done <listed
expect 0 help modules
tells "'rarebit help modules --all' shows every option"
expect 0 help info
grep -q "^Common options" out && fail "$command: few options are divided"
# What must be given has no default.
expect 0 help plot unit
tells "Usage: rarebit plot unit MODEL DATA --unit U -o PICTURE"
! grep -q "counted from 0 *\[" out || fail "$command: an option that must be given has a default"

breaks "cannot make the folder" generate overview
expect 0 help
twice=$(grep '^[A-Z]' out | sort | uniq -d)
[ -z "$twice" ] || fail "headings stand twice: $twice"
finish

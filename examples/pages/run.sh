# Runs the worked examples, or the one that is named: run.sh FOLDER [NAME]. The tool is $RAREBIT.
set -eu
here=$(dirname "$0")
folder=$1
names=${2:-$(cd "$here/../../docs/examples" && ls ./*.tsv | sed 's|^\./||; s|\.tsv$||')}
for name in $names; do
    [ -f "$here/$name.sh" ] && [ -f "$here/../../docs/examples/$name.tsv" ] || {
        echo "there is no example '$name'; there are: $(cd "$here/../../docs/examples" && ls ./*.tsv |
            sed 's|^\./||; s|\.tsv$||' | tr '\n' ' ')" >&2
        exit 2
    }
    sh "$here/$name.sh" "$folder/$name"
done

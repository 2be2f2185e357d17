# Runs the worked examples, or the one that is named: run.sh FOLDER [--data FOLDER] [NAME]. The tool is
# $RAREBIT. Of all of them, those are left out whose data are not there.
set -eu
here=$(dirname "$0")
folder=$1
shift
data=
if [ "${1:-}" = --data ]; then
    data=${2:?the folder of the data sets}
    [ -d "$data" ] || { echo "there is no folder '$data'" >&2; exit 2; }
    shift 2
fi
all=$(cd "$here/../../docs/start/examples" && ls ./*.tsv | sed 's|^\./||; s|\.tsv$||')
left_out=
for name in ${1:-$all}; do
    [ -f "$here/$name.sh" ] && [ -f "$here/../../docs/start/examples/$name.tsv" ] || {
        echo "there is no example '$name'; there are: $(echo "$all" | tr '\n' ' ')" >&2
        exit 2
    }
    status=0
    sh "$here/$name.sh" "$folder/$name" "$data" || status=$?
    [ $status = 77 ] && [ $# = 0 ] && left_out="$left_out $name" && continue
    [ $status = 0 ] || exit 1
done
[ -z "$left_out" ] || echo "left out, for want of data:$left_out"

# No source file is longer than 700 lines, none of its lines than 100 columns (clang-format leaves
# comments alone); every folder says what lives in it.
set -eu
cd "$SOURCE"
status=0
for file in $(find include src tool tests bench fuzz examples r -name '*.[ch]' -o -name '*.inc'); do
    if [ "$(wc -l <"$file")" -gt 700 ]; then
        echo "$file: $(wc -l <"$file") lines: is it still one idea?" >&2
        status=1
    fi
    awk -v file="$file" 'length > 100 { print file ":" FNR ": longer than 100 columns"; bad = 1 }
        END { exit bad }' "$file" >&2 || status=1
done
for folder in src src/*/ include tool tests bench fuzz docs examples cmake packaging python r site; do
    if [ -d "$folder" ] && [ ! -f "$folder/README.md" ]; then
        echo "$folder: no README.md" >&2
        status=1
    fi
done
exit $status

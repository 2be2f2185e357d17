# check_runpath ALLOWED FILE...: where programs and libraries look for others (RPATH, RUNPATH). An empty or relative
# element would be the folder from which a program is started, where anybody may have put a library. ALLOWED is a
# pattern of what may stand there, besides $ORIGIN: '/*' for any full name.
check_runpath() {
    allowed=$1
    shift
    [ $# -gt 0 ]
    for object; do
        [ -s "$object" ] || { echo "there is no $object" >&2; exit 1; }
        path=$(readelf -d "$object" | sed -n 's/.*(R\(UN\)*PATH).*\[\(.*\)\]$/\2/p')
        [ "$path" ] || continue
        echo "$path" | tr ':' '\n' | while IFS= read -r element; do
            # shellcheck disable=SC2254 # a pattern
            case $element in
                '$ORIGIN' | $allowed) ;;
                *)
                    echo "$object looks for libraries in '$element', of '$path'" >&2
                    exit 1
                    ;;
            esac
        done
    done
}

# Every public header compiles alone, as C11 and as C++11, without a warning.
set -eu
flags="-I$SOURCE/include -Wall -Wextra -Werror -pedantic -fsyntax-only"
for header in "$SOURCE"/include/rarebit/*.h; do
    name=rarebit/$(basename "$header")
    # shellcheck disable=SC2086
    {
        echo "#include <$name>" | "$CC" -std=c11 $flags -x c -
        echo "#include <$name>" | "$CXX" -std=c++11 $flags -x c++ -
    } || {
        echo "<$name> does not compile alone" >&2
        exit 1
    }
done

# A table of 100 samples and 200 features in noise of standard deviation 1, to stdout.
#   both    four modules of 30 features, each 3 higher or lower in 5 samples and the opposite in 5
#           others
#   strong  three modules of 12 samples and 30 features, 6 higher or lower
awk -v kind="$1" '
    function uniform() { return (state = state * 16807 % 2147483647) / 2147483647 } # the same in any awk
    function normal() { return sqrt(-2 * log(1 - uniform())) * cos(6.283185307 * uniform()) }
    BEGIN {
        state = 42
        both = kind == "both"
        for (u = 0; u < (both ? 4 : 3); u++)
            for (k = 0; k < 30; k++) {
                f = int(200 * uniform())
                load[u, f] = (uniform() < 0.5 ? -1 : 1) * (both ? 3 : 6)
            }
        for (i = 0; i < 100; i++) {
            for (f = 0; f < 200; f++) {
                x = normal()
                for (u = 0; both && u < 4; u++)
                    x += load[u, f] * (int(i / 5) == 2 * u ? 1 : int(i / 5) == 2 * u + 1 ? -1 : 0)
                for (u = 0; !both && u < 3; u++) x += load[u, f] * (int(i / 12) == u)
                printf "%s%.4f", f ? "\t" : "", x
            }
            print ""
        }
    }'

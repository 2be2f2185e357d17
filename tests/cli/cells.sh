# simulate cells: shapes, truth, seeds, what is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate cells --samples 300 --features 200 --types 0.7,0.29,0.01 --counts 2000 --seed 3 \
    -o a.npy --truth a.json
silent
says "300 samples x 200 features with 3 modules in a.npy; seed 3"
expect 0 simulate cells --samples 300 --features 200 --types 0.7,0.29,0.01 --counts 2000 --seed 3 \
    -o b.npy -q
same a.npy b.npy
expect 0 info a.npy --json
tells '"samples": 300, "features": 200'
sum=$(sed -n 's/.*"sum": \([-0-9.eE+]*\).*/\1/p' out)
holds "$sum > 570000 && $sum < 630000" # 600000 expected, sd 7000
grep -q '"features"' a.json || fail "no features in the truth"
grep -q '"provenance":.*"command_line"' a.json || fail "the truth does not say where it comes from"

refuses "types is '0.5,x'" simulate cells --types 0.5,x -o c.npy
refuses "types is ''" simulate cells --types '' -o c.npy
refuses "types is '1.5'" simulate cells --types 1.5 -o c.npy
refuses "types is '0.5,'" simulate cells --types 0.5, -o c.npy
refuses "-o FILE is missing" simulate cells
finish

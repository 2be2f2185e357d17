# Sets browser to a Chromium and modules to a folder with the packages of package.json, or skips the test.
need command node
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    need command chromium
modules=$BUILD/page-modules
mkdir -p "$modules"
exec 9>"$modules/lock" # two tests run side by side: one installs
flock 9
if ! cmp -s "$SOURCE/tests/page/package.json" "$modules/package.json" ||
    [ ! -f "$modules/node_modules/axe-core/axe.min.js" ] ||
    [ ! -d "$modules/node_modules/playwright-core" ]; then
    need command npm
    cp "$SOURCE/tests/page/package.json" "$modules"
    (cd "$modules" && timeout 300 npm install --silent --no-audit --no-fund --no-package-lock \
        --ignore-scripts >log 2>&1) || {
        rm "$modules/package.json"
        cat "$modules/log" >&2
        skip "npm cannot install what the test needs"
    }
fi
exec 9>&-

# Methods are known in their rooms (rfn, et, factors, nets) and in src/methods.c alone: who wants to know
# something of a family asks the method's table, never its name, its functions or the presence of its arrays.
# Looked at are string literals of library and tool, but not what help says (examples, descriptions, option rows).
set -eu
cd "$SOURCE"
. "$SOURCE/tests/lib/skip.sh"
need command python3

python3 - <<'END'
import glob, re, sys

rooms = r"src/(rfn|et|factors|nets)/|src/methods\.c$|tool/without/"
files = [f for p in ("src", "tool") for f in glob.glob(p + "/**/*.[ch]", recursive=True)]
names = {n for f in files if re.match(rooms, f)
         for n in re.findall(r'const rb_method rb_method_\w+ = \{[^}]*?\.name = "([^"]+)"', open(f).read())}
assert {"rfn", "nmf-et", "kmeans", "rbm", "stack"} <= names, names
# Of these no other method has any.
arrays = {"prior_covariance", "noise_covariance", "multipliers", "slab_mean", "value_prior", "visible_bias",
          "trace_fields", "trace_fields_at", "trace_quality", "sigma"}
words = "|".join(sorted((re.escape(n) for n in names - {"net", "stack"}), key=len, reverse=True))
functions = "|".join(sorted({n.replace("-", "_") for n in names - {"net", "stack"}} | {"et"}))
# A generator and a rule for members that are called as the methods of their papers, and what follows from them.
# The one usage of the first screen.
others = {"src/simulate/simulate.c", "src/modules/modules_rule.c", "src/modules/modules_extract.c", "tool/help.c"}


def plain(text):
    """Without comments, examples and what help says."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\.examples = \{.*?\}\},", "", text, flags=re.S)
    text = re.sub(r"\.(description|summary|arguments|purpose) =[^;]*?(?=\n    \.|\n\})", "", text, flags=re.S)
    return re.sub(r"static const rb_option \w+\[\] = \{.*?\n *\{0\},?", "", text, flags=re.S)


wrong = []
for f in files:
    if re.match(rooms, f) or f in others:
        continue
    text = plain(open(f).read())
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        if literal in arrays or re.search(rf"(?<![\w-])({words})(?![\w-])", literal):
            wrong.append(f'{f}: "{literal}"')
    for word in re.findall(rf"\bRB_(?:{functions.upper()})_[A-Z]\w*|rarebit/(?:{functions})\.h", text):
        wrong.append(f"{f}: {word}")
    for word in re.findall(rf"\brb_(?:method_)?(?:{functions})_[a-z]\w*|\brb_method_(?:{functions})\b", text):
        wrong.append(f"{f}: {word}")
    for word in re.findall(r'strcmp\([^;]*"((?:net|stack|newton))"', text):
        wrong.append(f'{f}: strcmp with "{word}"')
print("\n".join(wrong))
sys.exit(bool(wrong))
END

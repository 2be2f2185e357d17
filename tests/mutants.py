"""Which small mistakes in the equations do the tests not see?

mutants.py [--sample N] [--seed S] [--after LOG] [FILE[:LINE]...]

Changes one constant, comparison, sign or factor of a source file, or drops a term, and runs the
tests nearest to it until one fails; prints each change and what kills it, or that none does (a
survivor). Works in a copy of the tree in a temporary folder. Lines with text (messages, tables of
options) and sizes of memory are left as they are, and so is a change that the compiler makes the
same code of. A sample follows from its seed and the lines alone: where other lines change it stays.

The nearest tests of src/ROOM/FILE.c, C programs of tests/ in this order, those of the same rank by
their time (the ones that tests/CMakeLists.txt calls long last): those whose name is ROOM_FILE or begins it, and those that it begins; those that call a
function of the file; the others of the room. No more are begun after BUDGET seconds of processor.

tests/mutants.txt has the survivors that need no test, each with the reason; they are not counted.
With the LOG of an earlier run those that it says are killed count as killed, and are not judged again.
The exit status is 1 if fewer than 90 % of the others are killed.
"""

import argparse
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOMS = ["rfn", "et", "factors", "modules", "check", "study", "nets"]
BUDGET = 10  # seconds of tests for a mutant
LEAST_LIMIT, TIMES_LIMIT = 3, 10  # seconds that a test may take, and times its own
MEMORY = 4 << 30
SHARE = 0.9  # to be killed

NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e[+-]?\d+)?)(?![\w.])")
SWAPS = [
    (r" (<) ", [">=", "<="]), (r" (>) ", ["<=", ">="]), (r" (<=) ", [">", "<"]),
    (r" (>=) ", ["<", ">"]), (r" (==) ", ["!="]), (r" (!=) ", ["=="]),
    (r" (\+) ", ["-"]), (r" (-) ", ["+"]), (r" (\*) ", ["/"]), (r" (/) ", ["*"]),
    (r" (\+=) ", ["-="]), (r" (-=) ", ["+="]), (r" (\*=) ", ["/="]), (r" (/=) ", ["*="]),
    (r"(?:[=(,?:]|return) ?(-)(?=[\w(])", [""]), (r"\b(fmin)\(", ["fmax"]), (r"\b(fmax)\(", ["fmin"]),
]  # fmt: skip
OPERAND = re.compile(r" [-+*/] (?=[\w(])")


def operand_end(line, at):
    """Where the name, number, call or parenthesis that begins at `at` ends; None: on another line."""
    while at < len(line):
        if line[at] in "([":
            depth = 0
            for at in range(at, len(line)):
                depth += (line[at] in "([") - (line[at] in ")]")
                if depth == 0:
                    break
            else:
                return None
            at += 1
        elif line.startswith("->", at):
            at += 2
        elif re.match(r"[\w.]", line[at]):
            at += 1
        else:
            break
    return at


def changes(line):
    """All (from, to, text) of a line of code, of which text takes the place of line[from:to]."""
    loop = line.lstrip().startswith("for (")
    for found in NUMBER.finditer(line):
        text = found[1]
        if text.isdigit():
            yield found.start(1), found.end(1), str(int(text) + 1)
        else:
            yield found.start(1), found.end(1), repr(2 * float(text) or 1.0)
    for pattern, others in SWAPS:
        for found in re.finditer(pattern, line):
            for other in others[:1] if loop else others:
                yield found.start(1), found.end(1), other
    for found in OPERAND.finditer(line):
        end = operand_end(line, found.end())
        if end:
            yield found.start(), end, ""


def code(text):
    """The lines with comments as blanks, and those that are left alone as nothing."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    leave = re.compile(r'["#\\]|\'|(?:alloc\w*|rb_take)\(|\benum\b|^(static )?[\w ]+ \**\w+\[[^=]*;')
    return ["" if leave.search(line) else line for line in text.split("\n")]


def mutants(path):
    """All (path, line, old, new) of a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, (line, bare) in enumerate(zip(text.split("\n"), code(text))):
        for start, end, new in changes(bare):
            yield path, number, line, line[:start] + new + line[end:]


def accepted():
    """(path, old, new) of tests/mutants.txt, without blanks at the ends."""
    found, path, old = set(), None, None
    with open("tests/mutants.txt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("src/"):
                path = line.strip()
            elif line.startswith("- "):
                old = line[2:].strip()
            elif line.startswith("+ "):
                found.add((path, old, line[2:].strip()))
    return found


def killed_in(log):
    """{(path, old, new): test} of what an earlier run printed."""
    found, path, by, old = {}, None, None, None
    with open(log, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"(src/[^:]+):\d+: (?:SURVIVED|killed by (\w+)), ", line)
            if head:
                path, by = head[1], head[2]
            elif line.startswith("- "):
                old = line[2:].strip()
            elif line.startswith("+ ") and by:
                found[path, old, line[2:].strip()] = by
    return found


def sources(rooms):
    for room in rooms:
        for folder, _, files in sorted(os.walk("src/" + room)):
            for name in sorted(files):
                if name.endswith((".c", ".inc")):
                    yield os.path.join(folder, name)


def chosen(words, seed):
    """The mutants of files or lines that were named, else of all rooms, in an order for a seed."""
    found, times = [], {}
    for word in words or sources(ROOMS):
        path, _, line = word.partition(":")
        for mutant in mutants(path):
            if not line or mutant[1] + 1 == int(line):
                key = f"{seed} {path} {mutant[2].strip()} {mutant[3].strip()}"
                times[key] = times.get(key, 0) + 1
                found.append((hashlib.sha256(f"{key} {times[key]}".encode()).digest(), mutant))
    return [mutant for _, mutant in sorted(found)]


class Tests:
    def __init__(self, build):
        self.build = build
        self.seconds = {}  # target -> time of a run that passes
        with open("tests/CMakeLists.txt", encoding="utf-8") as file:
            names = re.search(r"set\(LONG_TESTS ([^)]*)\)", file.read())[1].split()
        self.long = {"test_" + name.replace("/", "_") for name in names}
        self.same = {}  # target -> machine code without any change
        self.text = {}  # target -> source
        for kind in ["unit", "property", "golden"]:
            for name in sorted(os.listdir("tests/" + kind)):
                if name.endswith(".c"):
                    with open(f"tests/{kind}/{name}", encoding="utf-8") as file:
                        self.text[f"test_{kind}_{name[:-2]}"] = file.read()

    def make(self, target):
        return subprocess.run(["cmake", "--build", self.build, "--target", target],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0  # fmt: skip

    def run(self, target):
        """Does it pass, in time? And the processor's seconds."""
        limit = int(LEAST_LIMIT + TIMES_LIMIT * self.seconds.get(target, 60))

        def bound():
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        try:
            done = subprocess.run(
                [f"{self.build}/tests/{target}"], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                timeout=20 * limit, preexec_fn=bound,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False, limit
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        return done.returncode == 0, after - before

    def machine_code(self, target):
        bare = f"{self.build}/bare"
        subprocess.run(["objcopy", "-g", "-R", ".note.gnu.build-id",
                        f"{self.build}/tests/{target}", bare], check=True)  # fmt: skip
        with open(bare, "rb") as file:
            return hashlib.sha256(file.read()).digest()

    def time(self, target):
        if target not in self.seconds:
            passed = self.make(target)
            if passed:
                self.same[target] = self.machine_code(target)
                passed, self.seconds[target] = self.run(target)
            if not passed:
                sys.exit(f"mutants: {target} fails without any change")
        return self.seconds[target]

    def guess(self, target):
        """Of the time that it takes: what has not run yet comes first, unless it is long."""
        return self.seconds.get(target, BUDGET if target in self.long else 0)

    def near(self, path):
        """Lists of targets, the nearest first, of a source that is not changed now."""
        room, stem = path.split("/")[1], os.path.splitext(os.path.basename(path))[0]
        name = f"{room}_{stem}_"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        own = re.findall(rf"^(?!static)\w[\w *]*?\b((?:rb|{room})_\w+)\(", text, flags=re.M)
        calls = re.compile(r"\b(" + "|".join(map(re.escape, own or ["-"])) + r")\(")
        ranks = [[], [], []]
        for target, source in self.text.items():
            short = target.split("_", 2)[2] + "_"
            of_room = short.startswith(room + "_") or room == "et" and short in ("ssc_", "values_")
            if short != room + "_" and (name.startswith(short) or short.startswith(name)):
                ranks[0].append(target)
            elif calls.search(source):
                ranks[1].append(target)
            elif of_room:
                ranks[2].append(target)
        return ranks

    def judge(self, path, old_text, new_text):
        """The test that kills a change, "" if none does, None if it is no change."""
        ranks = self.near(path)
        spent, first = 0, True
        for rank in ranks:
            for target in sorted(rank, key=self.guess):
                if spent > BUDGET:
                    return ""
                self.time(target)
                write(path, new_text)
                built = self.make(target)
                same = first and (not built or self.machine_code(target) == self.same[target])
                passed, seconds = self.run(target) if built and not same else (True, 0)
                write(path, old_text)
                if same:
                    return None
                if not built:
                    sys.exit(f"mutants: {target} is not built, though another test was")
                first = False
                if not passed:
                    return target
                spent += seconds
        return ""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_tree(folder):
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                           capture_output=True).stdout.decode().split("\0")  # fmt: skip
    for name in names:
        if os.path.isfile(name) and not name.startswith(("python/", "r/", "docs/")):
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copy(name, os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=200, help="how many (200); 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--after", metavar="LOG", help="what an earlier run printed: judge what it did not kill")
    parser.add_argument("files", nargs="*", metavar="FILE[:LINE]", help="of src/ (all)")
    options = parser.parse_args()
    killed = killed_in(options.after) if options.after else {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy_tree(folder)
        os.chdir(folder)
        quick = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", ".", "-B", "build", "-DCMAKE_C_FLAGS_RELEASE=-O2", *quick],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        sys.exit(0 if study(options, killed) else 1)


def study(options, before):
    known, tests = accepted(), Tests("build")
    killed = survived = left_out = 0
    for path, number, old, new in chosen(options.files, options.seed):
        if options.sample and killed + survived + left_out == options.sample:
            break
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        lines[number] = new
        start = time.time()
        change = path, old.strip(), new.strip()
        if change in known:
            left_out += 1
            continue
        by = before.get(change) or tests.judge(path, text, "\n".join(lines))
        if by is None:
            continue
        killed += by != ""
        survived += by == ""
        fate = f"killed by {by}" if by else "SURVIVED"
        print(f"{path}:{number + 1}: {fate}, {time.time() - start:.0f} s\n"
              f"- {old.strip()}\n+ {new.strip()}", flush=True)  # fmt: skip
    counted = killed + survived
    print(f"{killed} of {counted} killed ({100 * killed / max(counted, 1):.1f} %), "
          f"{left_out} left out by tests/mutants.txt")  # fmt: skip
    return killed >= SHARE * counted


if __name__ == "__main__":
    main()

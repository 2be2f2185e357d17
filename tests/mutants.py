"""Which small mistakes in the equations do the tests not see?

mutants.py [--sample N] [--seed S] [--jobs N] [--after LOG] [FILE[:LINE]...]

Changes one constant, comparison, sign or factor of a source file, or drops a term, and runs the
tests nearest to it until one fails; prints each change and what kills it, or that none does (a
survivor). Works in a copy of the tree in a temporary folder. Lines with text (messages, tables of
options) and sizes of memory are left as they are, and so is a change that the compiler makes the
same code of. A sample follows from its seed and the lines alone: where other lines change it stays.

The nearest tests of src/ROOM/FILE.c, C programs of tests/ in this order, those of the same rank by
their time (those that tests/CMakeLists.txt calls long last): those whose name is ROOM_FILE or
begins it, and those that it begins; those that call a function of the file, or whose name ends with
FILE; the others of the room. No more are begun after BUDGET seconds of processor. They are built
once, and linked with the changed file in place of that of the library.

tests/mutants.txt has the survivors that need no test, each with the reason; they are not counted.
With the LOG of an earlier run what it says is killed counts as killed, and is not judged again.
The exit status is 1 if fewer than 90 % of the others are killed.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

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


def includes(source, path):
    """Does a source of the library include a file that is no header?"""
    if path.endswith(".c") or not source.startswith("src/"):
        return False
    with open(source, encoding="utf-8") as file:
        return f'"{os.path.basename(path)}"' in file.read()


class Tests:
    """Programs of a build, and the same with a file compiled from a changed source."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.seconds = {}  # target -> time of a run that passes
        self.links = {}  # target -> command
        self.making = threading.Lock()
        with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
            self.compilers = [shlex.split(entry["command"]) for entry in json.load(file)]
        with open("tests/CMakeLists.txt", encoding="utf-8") as file:
            names = re.search(r"set\(LONG_TESTS ([^)]*)\)", file.read())[1].split()
        self.long = {"test_" + name.replace("/", "_") for name in names}
        self.text = {}  # target -> source
        for kind in ["unit", "property", "golden"]:
            for name in sorted(os.listdir("tests/" + kind)):
                if name.endswith(".c"):
                    with open(f"tests/{kind}/{name}", encoding="utf-8") as file:
                        self.text[f"test_{kind}_{name[:-2]}"] = file.read()

    def compile(self, path, text, folder):
        """Objects of a source as `text`, or of those that include it, and those of the libraries,
        which are built; None: it does not compile."""
        write(f"{folder}/{path}", text)
        objects, built = [], []
        for command in self.compilers:
            source = os.path.relpath(command[-1])
            if source != path and not includes(source, path):
                continue
            if source != path:
                shutil.copy(source, f"{folder}/{source}")
            objects.append(f"{folder}/{len(objects)}.o")
            built.append(command[command.index("-o") + 1])
            command = command[:command.index("-o")] + [
                "-iquote", os.path.dirname(os.path.abspath(source)),
                "-o", objects[-1], "-c", f"{folder}/{source}"]  # fmt: skip
            if subprocess.run(command, cwd=self.build, stderr=subprocess.DEVNULL).returncode:
                return None
        with self.making:
            subprocess.run(["ninja", "-C", self.build, *built], check=True, stdout=subprocess.DEVNULL)
        return objects, [f"{self.build}/{name}" for name in built]

    def link(self, target, objects, program):
        """The test with objects in place of those of the libraries; they come first."""
        own = f"tests/{target}"
        command = [program if word == own else word for word in self.links[target]]
        at = command.index("-o")
        return subprocess.run(command[:at] + objects + command[at:], cwd=self.build,
                              stderr=subprocess.DEVNULL).returncode == 0  # fmt: skip

    def run(self, target, program):
        """Does it pass, in time? And the processor's seconds."""
        limit = int(LEAST_LIMIT + TIMES_LIMIT * self.seconds.get(target, 60))

        def bound():
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

        process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=bound)  # fmt: skip
        late = threading.Timer(20 * limit, process.kill)
        late.start()
        _, status, usage = os.wait4(process.pid, 0)
        late.cancel()
        process.returncode = status
        return status == 0, usage.ru_utime

    def prepare(self, target):
        """Builds a test, and measures its time."""
        with self.making:
            if target in self.seconds:
                return
            done = subprocess.run(["ninja", "-C", self.build, target], stdout=subprocess.DEVNULL)
            commands = subprocess.run(["ninja", "-C", self.build, "-t", "commands", target],
                                      check=True, capture_output=True, text=True)  # fmt: skip
            link = commands.stdout.rstrip().split("\n")[-1]
            self.links[target] = shlex.split(link.removeprefix(": && ").removesuffix(" && :"))
            passed, seconds = self.run(target, f"{self.build}/tests/{target}")
            if done.returncode or not passed:
                raise RuntimeError(f"{target} fails without any change")
            self.seconds[target] = seconds

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
            elif calls.search(source) or short.endswith(f"_{stem}_"):
                ranks[1].append(target)
            elif of_room:
                ranks[2].append(target)
        return ranks

    def judge(self, mutant):
        """The test that kills a change, "" if none does, None if it is no change; and the time."""
        path, number, _, new = mutant
        start = time.time()
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        lines[number] = new
        with tempfile.TemporaryDirectory(dir=self.build) as folder:
            os.makedirs(f"{folder}/{os.path.dirname(path)}")
            found = self.compile(path, "\n".join(lines), folder)
            if not found or machine_code(found[0]) == machine_code(found[1]):
                return None, time.time() - start
            return self.first_to_fail(path, found[0], f"{folder}/test"), time.time() - start

    def first_to_fail(self, path, objects, program):
        spent = 0
        for rank in self.near(path):
            for target in sorted(rank, key=self.guess):
                if spent > BUDGET:
                    return ""
                self.prepare(target)
                if self.link(target, objects, program):
                    passed, seconds = self.run(target, program)
                    if not passed:
                        return target
                    spent += seconds
        return ""


def machine_code(objects):
    code = []
    for name in objects:
        with open(name, "rb") as file:
            code.append(file.read())
    return code


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
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--after", metavar="LOG", help="judge what an earlier run did not kill")
    parser.add_argument("files", nargs="*", metavar="FILE[:LINE]", help="of src/ (all)")
    options = parser.parse_args()
    killed = killed_in(options.after) if options.after else {}
    order = chosen(options.files, options.seed)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy_tree(folder)
        os.chdir(folder)
        subprocess.run(["cmake", "-S", ".", "-B", "build", "-G", "Ninja",
                        "-DCMAKE_C_FLAGS_RELEASE=-O2", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        known = accepted()
        unknown = [m for m in order if change_of(m) not in known and change_of(m) not in killed]
        with ThreadPoolExecutor(options.jobs) as pool:
            judged = results(pool, Tests("build").judge, unknown, 2 * options.jobs)
            good = study(order, options.sample, known, killed, judged)
    sys.exit(0 if good else 1)


def results(pool, judge, mutants, ahead):
    """Of judge, in order; so many are begun before they are asked for."""
    waiting = collections.deque()
    for mutant in mutants:
        waiting.append(pool.submit(judge, mutant))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def change_of(mutant):
    path, _, old, new = mutant
    return path, old.strip(), new.strip()


def study(order, sample, known, before, judged):
    """Prints what becomes of a sample. judged: results of those that are in neither of both."""
    killed = survived = left_out = 0
    for mutant in order:
        if sample and killed + survived + left_out == sample:
            break
        change = path, old, new = change_of(mutant)
        if change in known:
            left_out += 1
            continue
        by, seconds = (before[change], 0) if change in before else next(judged)
        if by is None:
            continue
        killed += by != ""
        survived += by == ""
        fate = f"killed by {by}" if by else "SURVIVED"
        print(f"{path}:{mutant[1] + 1}: {fate}, {seconds:.0f} s\n- {old}\n+ {new}", flush=True)
    counted = killed + survived
    print(f"{killed} of {counted} killed ({100 * killed / max(counted, 1):.1f} %), "
          f"{left_out} left out by tests/mutants.txt")  # fmt: skip
    return killed >= SHARE * counted


if __name__ == "__main__":
    main()

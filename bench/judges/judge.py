"""Asks the tool questions about sets whose answers are known: ./run judges --help"""
import argparse
import importlib
import json
import math
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

import sets

QUESTIONS = {"number": "how many modules are there? rarebit select, and parallel analysis beside it",
             "noise": "which modules are more than noise? rarebit modules --permutations",
             "stopping": "does a fit that stops by itself find what one that goes on finds? rarebit fit, modules",
             "members": "which samples and features are in a module, and is a mirror of one called? rarebit fit, modules",
             "methods": "is there anything to find? rarebit methods on noise and on planted modules",
             "few": "which options and which rule for 25 to 100 features? rarebit fit, modules",
             "real": "do answers about half of a real table hold in the other half? rarebit select, modules, compare"}


def wilson(hits, n, z=1.96):
    """The share, and its 95 % interval."""
    p, d = hits / n, 1 + z * z / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    middle = (p + z * z / (2 * n)) / d
    return f"{hits:3d} of {n:3d} = {100 * p:3.0f} % ({max(0, 100 * (middle - half)):.0f} to {100 * (middle + half):.0f})"


def interval(values):
    """The mean, and half of its 95 % interval."""
    return f"{np.mean(values):.3f} +- {1.96 * np.std(values, ddof=1) / math.sqrt(len(values)):.3f}"


@dataclass
class Tool:
    path: str
    method: str
    options: list
    tables: str = ""

    def call(self, *words):
        """What a command prints."""
        done = subprocess.run([self.path, *words, "-q", "--threads", "1"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"failed: {' '.join(words)}: {done.stderr}")
        return done.stdout

    def ask(self, made, words, *more):
        """The answer of a command as JSON, and its processor time in seconds."""
        with tempfile.NamedTemporaryFile(suffix=".npy") as data, tempfile.TemporaryFile() as out:
            np.save(data, made.x)
            data.flush()
            command = [self.path, *words, data.name, "--json", "-q", "--threads", "1", *more]
            process = subprocess.Popen(command, stdout=out)
            _, status, used = os.wait4(process.pid, 0)
            if status:
                raise SystemExit(f"failed: {' '.join(command)}")
            out.seek(0)
            return json.loads(out.read()), used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(prog="./run judges", description=__doc__, epilog="; ".join(
        f"{name}: {what}" for name, what in QUESTIONS.items()))
    parser.add_argument("tool")
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--confirm", action="store_true", help="seeds and kinds that chose nothing")
    parser.add_argument("--seeds", type=int, default=99, metavar="N", help="only the first N")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--method", default="rfn", help="of members and stopping")
    parser.add_argument("--options", default="", help="of the command that is judged")
    parser.add_argument("--tables", metavar="FOLDER", help="of real: NAME.tsv.gz and NAME.classes.tsv, as tables.R makes them")
    given = parser.parse_args()
    if (given.question == "real") != bool(given.tables):
        parser.error("real needs --tables FOLDER, and no other question does")
    seeds = (sets.CONFIRMATION if given.confirm else sets.DEVELOPMENT)[:given.seeds]
    question = importlib.import_module(given.question)
    with ThreadPoolExecutor(given.jobs) as pool:
        question.judge(Tool(given.tool, given.method, given.options.split(), given.tables), given.confirm, seeds, pool.map)


if __name__ == "__main__":
    main()

"""What tool, Python and R each can do, as a table: docs/reference/abilities.md.

    RAREBIT_LIBRARY=build PYTHONPATH=python python3 -B tests/python/lib/abilities.py build/rarebit r/rarebit

Commands are those that the tool lists; a name of Python or R stands there if the package has it.
"""

import functools
import os
import re
import subprocess
import sys

import rarebit

HEAD = """# What can tool, Python and R do?

Each command of the tool, and what does the same in the packages. Names in Python are those of `rarebit`;
one with a dot in front is a method of every estimator, such as `RFN(10).fit`. The table is made by
`tests/python/lib/abilities.py`, from the packages themselves.

| tool | does | Python | R |
|---|---|---|---|
"""

# Where names differ from those of the commands.
PYTHON = {"fit": "Estimator.fit", "stack": "Stack.fit", "encode": "Estimator.transform",
          "reconstruct": "Estimator.reconstruct", "sample": "Estimator.sample",
          "evaluate": "Estimator.evaluate", "info": "Model.attributes",
          "compare": "compare replicate", "finetune": "NetClassifier.fit", "predict": "NetClassifier.predict",
          "import": "import_net", "plot": "pl", "modules --labels": "report(labels)",
          "modules --gmt": "report(sets)", "modules --covariates": "report(covariates)",
          "report": "report(page)"}
R = {"fit": "rarebit", "encode": "predict", "reconstruct": "fitted", "sample": "simulate",
     "methods": "compare_methods", "select": "select_units", "merge": "merge_results",
     "convert": "convert_data", "export": "export_model", "import": "import_net",
     "stack": "fit_stack", "patches": "cut_patches", "segments": "cut_segments", "check": "check_data",
     "compare": "compare_models compare_cohorts", "modules --labels": "report(labels)",
     "modules --gmt": "report(sets)", "modules --covariates": "report(covariates)",
     "report": "report(page)", "info": "summary"}

# Options that are abilities of their own.
OPTIONS = {"modules": [("--labels", "say which class each module matches"),
                       ("--gmt", "say which sets of features are enriched in each module"),
                       ("--covariates", "say what codes go with: age, batch")]}


def listed(text):
    """Words and summaries of a help text's table."""
    for name, more, summary in re.findall(r"^  ([a-z-]+)( [A-Z]+)?  +(\S.*(?:\n {8,}.*)*)", text, re.M):
        yield name, more.strip(), re.sub(r"\s+", " ", summary)


def commands(tool):
    """Every command, and what it does."""
    def help_of(*words):
        return subprocess.run([tool, "help", *words], capture_output=True, text=True,
                              check=True).stdout

    for name, more, summary in listed(help_of()):
        if more == "WHAT":
            yield from ((f"{name} {what}", does) for what, _, does in listed(help_of(name)))
        else:
            yield name, summary
        for option, does in OPTIONS.get(name, []):
            assert f"  {option} " in help_of(name), option
            yield f"{name} {option}", does


def python(command):
    """The names in Python; a dash for one that is not there."""
    verb, _, what = command.partition(" ")
    names = PYTHON.get(command) or ".".join([PYTHON.get(verb, verb), *what.split()])
    return ", ".join(map(in_python, names.split()))


def in_python(name):
    path, _, parameter = name.rstrip(")").partition("(")
    try:
        found = functools.reduce(getattr, path.split("."), rarebit)
    except AttributeError:
        return "-"
    if parameter and parameter not in found.__code__.co_varnames:
        return "-"
    return f"`{name.replace('Estimator.', '.')}`"


def r_names(package):
    """What the R package has: what it exports, its methods of models, and plots by name."""
    def text(*path):
        with open(os.path.join(package, *path), encoding="utf-8") as file:
            return file.read()

    namespace = text("NAMESPACE")
    yield from re.findall(r"[\w.]+", " ".join(re.findall(r"^export\((.*)\)", namespace, re.M)))
    yield from re.findall(r"S3method\(([\w.]+), rarebit\)", namespace)
    plots = re.search(r"which = c\((.*?)\)", text("R", "plot.R"), re.S)
    yield from (f"plot({plot})" for plot in re.findall(r"\w+", plots[1]))


def r(command, there):
    """The names in R; a dash for one that is not there."""
    verb, _, what = command.partition(" ")
    names = R.get(command) or (f"plot({what})" if verb == "plot" else command.replace(" ", "_"))
    return ", ".join(f"`{name}`" if (name if verb == "plot" else name.partition("(")[0]) in there else "-"
                     for name in names.split())


def main(tool, package):
    """Prints the page."""
    names = set(r_names(package))
    print(HEAD, end="")
    for command, does in commands(tool):
        print(f"| `{command}` | {does} | {python(command)} | {r(command, names)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])

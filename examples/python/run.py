"""Runs a script of cells and writes it, with its outputs, as a page: run.py SCRIPT PAGE

Cells begin with "# %%", those of text with "# %% [markdown]". What a cell prints stands below it, and
the value of its last line: a data frame as a table, axes as a picture, PAGE-N.png beside the page.
"""

import ast
import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")
warnings.simplefilter("ignore", FutureWarning)


def cells_of(text):
    """Pairs: is it text?, its lines."""
    parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)[1:]
    for kind, body in zip(parts[::2], parts[1::2]):
        yield "markdown" in kind, body.strip("\n")


def shown(value, picture):
    """A value as a page shows it; `picture` is called with a figure and gives its file's name."""
    if value is None:
        return ""
    if hasattr(value, "to_string"):
        return f"\n```\n{value.to_string()}\n```\n"
    if hasattr(value, "figure"):
        return f"\n![picture]({picture(value.figure)})\n"
    return f"\n```\n{value}\n```\n"


def run(code, names):
    """What a cell prints, and the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def main(script, page):
    page, names, text = Path(page), {}, ""
    pictures = []

    def picture(figure):
        pictures.append(f"{page.stem}-{len(pictures) + 1}.png")
        figure.savefig(page.with_name(pictures[-1]), dpi=80, metadata={"Software": None})
        return pictures[-1]

    for is_text, body in cells_of(Path(script).read_text("utf-8")):
        if is_text:
            text += re.sub(r"^# ?", "", body, flags=re.MULTILINE) + "\n\n"
            continue
        printed, value = run(body, names)
        text += f"```python\n{body}\n```\n"
        if printed:
            text += f"\n```\n{printed}```\n"
        text += shown(value, picture) + "\n"
    page.write_text(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).rstrip("\n") + "\n", "utf-8")


main(*sys.argv[1:])

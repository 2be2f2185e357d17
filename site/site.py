"""Makes the site of the documents: site.py BUILD [FOLDER]. Needs mkdocs, mkdocs-material and doxygen; fetches nothing.

The tree of documents is copied to FOLDER/site-source (FOLDER: BUILD), with pages that are made from the option tables,
headers and docstrings; mkdocs makes FOLDER/site of it.
"""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELVES = [("Start", "docs/start"), ("How to", "docs/howto"), ("Reference", "docs/reference"),
           ("Measurements", "docs/measurements")]
PROJECT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md"]
STYLE = ".md-typeset p, .md-typeset li { overflow-wrap: anywhere }\n"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
DOXYGEN = """
PROJECT_NAME = rarebit
INPUT = {source}/include/rarebit
OUTPUT_DIRECTORY = {out}
HTML_OUTPUT = c
INPUT_FILTER = "{python} {script} --filter"
EXTRACT_ALL = YES
OPTIMIZE_OUTPUT_FOR_C = YES
JAVADOC_AUTOBRIEF = YES
TYPEDEF_HIDES_STRUCT = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = RB_API=
GENERATE_LATEX = NO
GENERATE_TREEVIEW = NO
HAVE_DOT = NO
QUIET = YES
WARNINGS = NO
WARN_LOGFILE = {out}/doxygen.log
"""


def header_filter(path):
    """A header as Doxygen wants it: comments that describe what follows, or what stands before them on the line."""
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"(?m)^(\s*)/\*(?!\*)", r"\1/**", text)
    text = re.sub(r"(?m)^(.*\S.*[;,{] *)/\*(?!\*)", r"\1/**<", text)
    return text.replace("/**", "/** @file\n *", 1) if text.startswith("/**") else "/** @file */\n" + text


def plain(text):
    """Text of a man page without its marks, safe in Markdown."""
    text = re.sub(r"\\f[BIR]", "", text).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace("\\&", "")
    return re.sub(r"([<>*_\[\]|`\\])", r"\\\1", text)


def command_page(roff):
    """Markdown of a man page: the command and the text."""
    command = re.search(r"\.B rarebit\n([a-z][a-z\\0-9 -]*)?", roff)
    title = ("rarebit " + plain(command.group(1) or "")).strip()
    lines = iter(roff.split("\n"))
    out, sample, name = [], False, False
    for line in lines:
        request, _, rest = line.partition(" ")
        rest = rest.strip('"')
        if request == ".TP":
            term = plain(next(lines))
            out += ["", f"**{term}**  "]
        elif request in (".SH", ".SS"):
            name = rest == "NAME"
            if not name:
                out += ["", ("## " if request == ".SH" else "### ") + plain(rest).capitalize(), ""]
        elif request in (".nf", ".EX"):
            sample = True
            out += ["", "```sh"]
        elif request in (".fi", ".EE"):
            sample = False
            out += ["```", ""]
        elif request in (".PP", ".P", ".LP", ".IP"):
            out.append("")
        elif request.startswith(".") and request[1:2].isalpha():
            if request in (".B", ".I", ".BR"):
                out.append(plain(rest))
        elif sample:
            out.append(re.sub(r"\\f[BIR]", "", line).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace("\\&", ""))
        elif name and line:
            summary = plain(line).partition(" - ")[2]
            out.append(summary[:1].upper() + summary[1:] + ".")
        else:
            out.append(plain(line))
    return title, "\n".join(out)


def commands(build, stage):
    """A page for each man page; their names in the order of the help."""
    folder = f"{stage}/docs/reference/commands"
    os.makedirs(folder)
    index = ["# Commands", "", "Every option, with its range and default, as `rarebit help COMMAND` prints it.", "", "| | |", "| --- | --- |"]
    pages = []
    for name in sorted(n for n in os.listdir(f"{build}/man") if n.endswith(".1")):
        title, text = command_page(open(f"{build}/man/{name}", encoding="utf-8").read())
        page = name[:-2] + ".md"
        open(f"{folder}/{page}", "w", encoding="utf-8").write(f"# {title}\n\n{text}\n")
        index.append(f"| [{title}]({page}) | {next(line for line in text.splitlines() if line)} |")
        pages.append(page)
    open(f"{folder}/README.md", "w", encoding="utf-8").write("\n".join(index) + "\n")
    return ["docs/reference/commands/" + page for page in ["README.md", *pages]]


def headers(stage):
    """C headers by Doxygen, and a page that names them."""
    settings = DOXYGEN.format(source=SOURCE, out=stage, python=sys.executable, script=os.path.abspath(__file__))
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    rows = ["# C headers", "", "`#include <rarebit/NAME.h>`; a page of each, made from its comments.", "", "| | |", "| --- | --- |"]
    for name in sorted(os.listdir(f"{SOURCE}/include/rarebit")):
        comment = re.search(r"/\*(.*?)(?:\.\s|\*/)", open(f"{SOURCE}/include/rarebit/{name}", encoding="utf-8").read(), re.S)
        first = plain(" ".join(comment.group(1).replace("*", " ").split())) if comment else ""
        rows.append(f"| [{name}](../../c/{name.replace('_', '__').replace('.', '_8')}.html) | {first} |")
    open(f"{stage}/docs/reference/headers.md", "w", encoding="utf-8").write("\n".join(rows) + "\n")
    return "docs/reference/headers.md"


def described(name, thing, level):
    """Heading, signature and docstring of a function, class or module of the Python package."""
    try:
        signature = re.sub(r"<([\w.]+) object at 0x\w+>|<object object at 0x\w+>", "...", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        signature = ""
    text = inspect.getdoc(thing) or ""
    return ["", f"{'#' * level} {name}", "", "```text", *([name + signature, ""] if signature else []), *text.split("\n"), "```"]


def docstrings(build, stage):
    """A page of what the Python package offers."""
    os.environ.setdefault("RAREBIT_LIBRARY", os.path.abspath(build))
    sys.path.insert(0, f"{SOURCE}/python")
    sys.dont_write_bytecode = True
    import rarebit
    out = ["# Python package", "", "Docstrings of `rarebit`, as `help()` prints them."]
    for name in sorted(rarebit.__all__):
        thing = getattr(rarebit, name)
        inner = [] if not (inspect.isclass(thing) or inspect.ismodule(thing)) else [
            (key, value) for key, value in vars(thing).items()
            if not key.startswith("_") and inspect.isfunction(value) and value.__module__.startswith("rarebit")]
        out += described(name, thing, 2)
        for key, value in inner:
            out += described(f"{name}.{key}", value, 3)
    open(f"{stage}/docs/reference/python-api.md", "w", encoding="utf-8").write("\n".join(out) + "\n")
    return "docs/reference/python-api.md"


def copy_documents(stage):
    """The documents; a link to what the site has not (sources) becomes its text."""
    files = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "docs"], cwd=SOURCE, text=True).split("\n")
    for path in [f for f in files if f and os.path.isfile(f"{SOURCE}/{f}")] + ["README.md", *PROJECT]:
        os.makedirs(os.path.dirname(f"{stage}/{path}"), exist_ok=True)
        shutil.copy(f"{SOURCE}/{path}", f"{stage}/{path}")


def unlink_sources(stage):
    for folder, _, names in os.walk(stage):
        for name in (n for n in names if n.endswith(".md")):
            path = f"{folder}/{name}"

            def keep(match):
                image, text, target = match.groups()
                file = target.split("#")[0]
                inside = not file or re.match(r"[a-z]+:", target) or os.path.isfile(os.path.join(folder, file))
                return match.group(0) if inside else image + text
            text = open(path, encoding="utf-8").read()
            open(path, "w", encoding="utf-8").write(LINK.sub(keep, text))


def shelf_pages(stage, shelf):
    """The pages of a shelf in the order of its README; those of a folder below likewise."""
    found = []
    for _, _, target in LINK.findall(open(f"{stage}/{shelf}/README.md", encoding="utf-8").read()):
        path = os.path.normpath(f"{shelf}/{target.split('#')[0]}")
        if path.startswith(shelf + "/") and path.endswith(".md") and path not in found:
            found.append(path)
            if path.endswith("/README.md"):
                found += [p for p in shelf_pages(stage, os.path.dirname(path)) if p not in found]
    return found


def title(stage, page):
    for line in open(f"{stage}/{page}", encoding="utf-8"):
        if line.startswith("# "):
            return re.sub(r"[`\\]|\[([^\]]*)\]\([^)]*\)", r"\1", line[2:]).strip()
    return page


def navigation(stage, made):
    nav = [{"rarebit": "README.md"}]
    for name, shelf in SHELVES:
        pages = [f"{shelf}/README.md", *shelf_pages(stage, shelf)]
        rows = [pages[0], *({title(stage, page): page} for page in pages[1:])]
        if shelf == "docs/reference":
            commands_, *others = made
            rows += [{title(stage, page): page} for page in others]
            rows.append({"Commands": [commands_[0], *({title(stage, page): page} for page in commands_[1:])]})
        nav.append({name: rows})
    nav.append({"Project": [{title(stage, page): page} for page in PROJECT]})
    return nav


def named(nav):
    for entry in nav:
        value = list(entry.values())[0] if isinstance(entry, dict) else entry
        yield from [value] if isinstance(value, str) else named(value)


def drop_figures(path):
    """Words alone are searched: nobody looks for a figure of a table, and among very many of them lunr, whose keys are
    letters and numbers in a row, takes one for another and then finds nothing at all."""
    index = json.load(open(path, encoding="utf-8"))
    for entry in index["docs"]:
        entry["text"] = re.sub(r"(?<![\w.])[\d.,]*\d(?![\w.])", " ", entry["text"])
    json.dump(index, open(path, "w", encoding="utf-8"))


def main(build, out):
    stage, out = os.path.abspath(f"{out}/site-source"), os.path.abspath(f"{out}/site")
    shutil.rmtree(stage, ignore_errors=True)
    copy_documents(stage)
    made = [commands(build, stage), headers(stage), docstrings(build, stage)]
    unlink_sources(stage)
    open(f"{stage}/site.css", "w", encoding="utf-8").write(STYLE)
    nav = navigation(stage, made)
    pages = {os.path.relpath(f"{folder}/{name}", stage) for folder, _, names in os.walk(stage) for name in names if name.endswith(".md")}
    unnamed = sorted(pages - set(named(nav)) - {"docs/pictures/README.md"})
    if unnamed:
        print(f"site: {unnamed[0]} is in no README of its shelf; add a line there", file=sys.stderr)
        return 1
    settings = {
        "site_name": "rarebit", "docs_dir": stage, "site_dir": out, "use_directory_urls": False, "nav": nav,
        "theme": {"name": "material", "font": False, "features": ["navigation.tabs", "navigation.indexes"],
                  "palette": {"primary": "indigo", "accent": "indigo"}},
        "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": False}}],
        "plugins": ["search"], "extra_css": ["site.css"], "extra": {"generator": False}}
    open(f"{stage}.yml", "w", encoding="utf-8").write(json.dumps(settings, indent=1))
    status = subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-f", f"{stage}.yml"]).returncode
    if not status:
        drop_figures(f"{out}/search/search_index.json")
        print(f"{out}/index.html; search needs a server: python3 -m http.server -d {out}")
    return status


if __name__ == "__main__":
    if sys.argv[1] == "--filter":
        sys.stdout.write(header_filter(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1], sys.argv[-1]))

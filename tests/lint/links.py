"""Prints the links of Markdown pages (their names on stdin) that lead nowhere; exit 1 if there are any."""

import os
import re
import sys


def text_lines(page):
    """The lines outside of code, with their numbers."""
    code = False
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        if line.startswith("```"):
            code = not code
        elif not code:
            yield number, line


def headings(page):
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#")) for _, line in text_lines(page) if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-") for text in plain}


def main():
    wrong = 0
    for page in filter(os.path.isfile, sys.stdin.read().split("\n")):
        for number, line in text_lines(page):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if re.match(r"[a-z]+:", target):
                    continue
                if not os.path.exists(full) or (anchor and full.endswith(".md") and anchor not in headings(full)):
                    print(f"{page}:{number}: {target} leads nowhere", file=sys.stderr)
                    wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

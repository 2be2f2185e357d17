"""Words of the sentences of Markdown pages: words.py [--list] PAGE...; exit 1 where they are too many.

Not counted: code, tables, headings, comments, and what stands below a heading "Sources". A piece of code is one word.
"""

import re
import sys

MEAN, MOST = 15, 35
WAITING = set()


def sentences(text):
    text = re.sub(r"<!--.*?-->|^```.*?^```", "\n", text, flags=re.S | re.M)
    text = re.sub(r"^##+ Sources\n.*", "", text, flags=re.S | re.M)
    blocks, block = [], []
    for line in text.split("\n") + [""]:
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if line.startswith(("#", "|", "    ", "![")) and not (item and block) or not line.strip() or item:
            blocks.append(" ".join(block))
            block = []
        if item:
            line = line[item.end():]
        elif line.startswith(("#", "|", "    ", "![")):
            continue
        block.append(line.strip().lstrip("> "))
    blocks.append(" ".join(block))
    for block in blocks:
        block = re.sub(r"`[^`]*`", "code", block)
        block = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)
        block = re.sub(r"[*_]", "", block)
        for sentence in re.split(r"(?<!\b[A-Z])(?<!\bal)[.!?][)\"']*\s+", block):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if words:
                yield len(words), sentence


def misread(text):
    """Lines that go on with a paragraph, and that Markdown takes for a list, a quotation or a heading."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    before = ""
    for line in text.split("\n"):
        begins = re.match(r"(?:[-+*>]|\d+[.)]|#+) ", line)
        if begins and before and not re.match(r"[-+*>|# ]|\d+[.)] ", before) and not before.endswith(":"):
            yield line
        before = line


def main(arguments):
    status = 0
    for page in [a for a in arguments if a != "--list"]:
        text = open(page, encoding="utf-8").read()
        counted = list(sentences(text))
        mean = sum(n for n, _ in counted) / max(1, len(counted))
        if "--list" in arguments:
            print(f"{page}: {sum(n for n, _ in counted)} words, {mean:.1f} a sentence, {sum(n > MOST for n, _ in counted)} too long")
            continue
        wrong = [f"{page}: {n} words: {sentence}" for n, sentence in counted if n > MOST]
        if mean > MEAN:
            wrong.append(f"{page}: {mean:.1f} words a sentence")
        misread_lines = [f"{page}: Markdown does not read this as text: {line}" for line in misread(text)]
        if misread_lines or wrong and page not in WAITING:
            print("\n".join(misread_lines + wrong), file=sys.stderr)
            status = 1
        if not wrong and page in WAITING:
            print(f"{page}: short enough now; take it off WAITING in tests/lint/words.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

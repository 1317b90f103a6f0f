#!/usr/bin/env python3
"""Prints the page of reference, from include/gpumem.h and in its order. Fails if a function or constant is missing.

usage: reference.py
"""

import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
sys.dont_write_bytecode = True
import header  # noqa: E402

COMMENT = re.compile(r"^/\*(.*?)\*/$\n?", re.M | re.S)
SECTION = re.compile(r"\s*-{20,} (.+?)\s*")
FIELD = re.compile(r"(\S+(?: \S+)*) {2,}(\S.*)")  # a word, then its aligned paragraph
FUNCTION = re.compile(r"\bGPUMEM_API\b[^;(]*?\b(gpumem_\w+)\(")
NAMED_AT_MOST = 3


def inline(text):
    """A line's text as HTML, with names of the interface as code, and functions as links."""
    text = html.escape(text, quote=False)
    text = re.sub(r"\b(gpumem_\w+)\(\)", r'<a href="#\1"><code>\1</code></a>', text)
    return re.sub(r"(?<![\w#>])((?:GPUMEM_\w|gpumem_\w)\w*\b\*?)(?!</)", r"<code>\1</code>", text)


def paragraphs(comment):
    """A comment's text as HTML: paragraphs, definition lists, and indented listings unchanged."""
    block, kind = [], None

    def flush():
        nonlocal block, kind
        if kind == "fields":
            rows = "".join(f"<dt>{inline(name)}</dt><dd>{inline(' '.join(words))}</dd>" for name, words in block)
            yield f"<dl>{rows}</dl>\n"
        elif kind == "text":
            yield f"<p>{inline(' '.join(block))}</p>\n"
        elif kind == "listing":
            yield f"<pre>{html.escape(chr(10).join(block))}</pre>\n"
        block, kind = [], None

    for line in comment:
        field = FIELD.fullmatch(line)
        if not line.strip():
            yield from flush()
        elif field and len(line) - len(field[2]) == 12:
            if kind != "fields":
                yield from flush()
                kind = "fields"
            if field[1][0].islower() and field[2][0].islower():  # the word goes on in a second line
                block[-1] = (f"{block[-1][0]} {field[1]}", [*block[-1][1], field[2]])
            else:
                block.append((field[1], [field[2]]))
        elif kind == "fields" and line.startswith(" " * 12):
            block[-1][1].append(line.strip())
        else:
            wanted = "listing" if line.startswith("  ") else "text"
            if kind != wanted:
                yield from flush()
                kind = wanted
            block.append(line if wanted == "listing" else line.strip())
    yield from flush()


def title(functions):
    named = ", ".join(f"`{name}`" for name in functions[:NAMED_AT_MOST])
    more = len(functions) - NAMED_AT_MOST
    return f"### {named}" + (f" and {more} more" if more > 0 else "")


def page(text):
    """The parts of the page: for each comment at the margin, its section, or its text and the declarations after it."""
    yield "# Reference\n"
    text = text.replace("/* SPDX-License-Identifier: Apache-2.0\n *\n", "/*", 1)
    text = text[: text.index("#ifdef __cplusplus\n}")]
    places = list(COMMENT.finditer(text))
    for match, following in zip(places, [*places[1:], None]):
        comment = [re.sub(r"^ ?\*? ?", "", line, count=1) for line in match[1].splitlines()]
        declarations = text[match.end() : following.start() if following else len(text)].strip()
        declarations = re.sub(r"^#.*\n?|^extern \"C\" \{\n?", "", declarations, flags=re.M).strip()
        functions = FUNCTION.findall(declarations)
        if section := SECTION.fullmatch(match[1]):
            yield f"## {section[1].capitalize()}\n"
        if functions:
            yield title(functions) + "\n"
            yield "".join(f'<a id="{name}"></a>' for name in functions) + "\n"
        if declarations:
            yield f"```c\n{declarations.replace('GPUMEM_API ', '')}\n```\n"
        if not section:
            yield "".join(paragraphs(comment))


def main():
    whole = "\n".join(page(header.HEADER.read_text(encoding="utf-8")))
    missing = [one["name"] for one in header.read()["functions"] if f'<a id="{one["name"]}"></a>' not in whole]
    missing += [one["name"] for one in header.read()["constants"] if one["name"] not in whole]
    if missing:
        sys.exit(f"the reference lacks {', '.join(missing)}")
    print(whole)


if __name__ == "__main__":
    main()

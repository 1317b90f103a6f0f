"""C++ source for the checks of its text, and their main program."""

import pathlib
import re
import sys

SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"}
_SKIPPED = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def _blank(found):
    text = found.group()
    lines = "\n" * text.count("\n")
    return (text[0] * 2 if text[0] in "\"'" else '""' if text[0] == "R" else " ") + lines


def plain(text):
    """The text without comments, preprocessor directives and the content of quotes. Each line keeps its number."""
    return _DIRECTIVE.sub(lambda found: "\n" * found.group().count("\n"), _SKIPPED.sub(_blank, text))


def sources(root, folders):
    """The path from the root, and the plain text, of every source file of the folders."""
    for folder in folders:
        for source in sorted((root / folder).rglob("*")):
            if source.suffix in SUFFIXES and source.is_file():
                yield source.relative_to(root).as_posix(), plain(source.read_text(encoding="utf-8"))


def check(violations, usage):
    """Prints the violations of the tree that the command line names; the exit status is 1 if there is one."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    found = list(violations(pathlib.Path(sys.argv[1]).resolve()))
    for violation in found:
        print(violation)
    return 1 if found else 0

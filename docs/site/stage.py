#!/usr/bin/env python3
"""Copies the pages of the site into a folder, in the folders of the tree, with the files that they link to and the generated reference.

usage: stage.py FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")


def tracked_pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [pathlib.Path(name) for name in listed.splitlines() if not name.startswith("bindings/")]


def put(path, text, into):
    (into / path).parent.mkdir(parents=True, exist_ok=True)
    (into / path).write_text(text, encoding="utf-8")


def listing(folder, into):
    """An index page for a linked folder without a README: a list of its pages."""
    pages = {path.stem: path.name for path in sorted((ROOT / folder).glob("*.md"))}
    lines = [f"- [{stem.replace('-', ' ')}]({name})" for stem, name in pages.items()]
    put(folder / "index.md", "\n".join([f"# {folder}", "", *lines, ""]), into)


def target_of(page, link, into):
    """The link for the site. A link to a folder leads to its index page; a linked file that is not a page is copied."""
    target = (ROOT / page.parent / link).resolve()
    path = target.relative_to(ROOT)
    if target.is_dir():
        if not (target / "README.md").exists():
            listing(path, into)
        return link.rstrip("/") + ("/README.md" if (target / "README.md").exists() else "/index.md")
    if target.suffix != ".md":
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, into / path)
    return link


def staged(page, into):
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```(\w+) \w+$", r"```\1", text, flags=re.M)  # the second word is for the tests
    return LINK.sub(lambda match: match[1] + target_of(page, match[2], into) + match[3], text)


def main():
    into = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(into, ignore_errors=True)
    for page in tracked_pages():
        put(page, staged(page, into), into)
    reference = subprocess.run([HERE / "reference.py"], check=True, capture_output=True, text=True).stdout
    put(pathlib.Path("reference.md"), reference, into)
    shutil.copyfile(HERE / "site.css", into / "docs/site.css")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()

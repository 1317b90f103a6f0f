#!/usr/bin/env python3
"""Checks that docs/concepts/distributed.md has the tables of bench/model, and the shares of rows within 15 %.

usage: model.py    prints each missing or outdated line, and exits 1 if there is one
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/concepts/distributed.md"
SHARE = re.compile(r"^nvidia-(h100|h200)[\w-]*: (\d+ of \d+ rows) within 15 %$", re.M)
DOCUMENTED = re.compile(r"two\s(H100|H200)[:,]\s(\d+\sof\s\d+\srows) are within 15 %")


def rows_of(text):
    return [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]


def main():
    made = subprocess.run([sys.executable, ROOT / "bench/model"], capture_output=True, text=True, encoding="utf-8", check=False)
    if made.returncode != 0:
        print(f"bench/model failed:\n{made.stderr}")
        return 1
    section = PAGE.read_text(encoding="utf-8").split("\n### Predictions for more GPUs\n")[1].split("\n### ")[0]
    shares = {device.upper(): share for device, share in SHARE.findall(made.stdout)}
    documented = {device: " ".join(share.split()) for device, share in DOCUMENTED.findall(section)}
    wrong = 0
    for device in ("H100", "H200"):
        if device not in shares or shares[device] != documented.get(device):
            print(f"{PAGE}: {device}: {documented.get(device)} are within 15 %, by bench/model {shares.get(device)}")
            wrong += 1
    predicted = [row for table in made.stdout.split("\n## ")[-2:] for row in rows_of(table)]
    present = rows_of(section)
    for row in predicted:
        if row not in present:
            print(f"{PAGE}: this row of bench/model is missing: {row}")
            wrong += 1
    for row in present:
        if row not in predicted:
            print(f"{PAGE}: bench/model does not print this row: {row}")
            wrong += 1
    print(f"{len(predicted)} rows of predictions, {wrong} wrong lines")
    return 1 if wrong or not predicted else 0


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    sys.exit(main())

"""The committed results: which device they are of, and their figures, and the reasons for what is missed."""

import fnmatch
import json
import statistics
import string
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
LIMITS = ROOT / "bench" / "limits.json"
MADE_OF_OTHERS = ("geometric mean", "median of")  # how the cases begin that the benchmarks work out from other rows
COMMAND = "command"  # what `gpumem bench` measured
TEXTBOOK = "ladder"  # every variant forced in turn, most of them meant to be slow: no part of a summary
NO_REASON = ("no reason measured yet", "No reason measured yet")

# The families in the order in which they are shown, in words. What stands here in no line comes last, under its own name.
FAMILIES = {
    "reduce": "reductions",
    "reduce_stream": "reductions, launches included",
    "reduce_call": "blocking sums",
    "reproducible": "sums, same bits on every GPU",
    "positions": "minimum and its index",
    "blas1": "dot products and norms",
    "compensated": "compensated sums",
    "small_types": "sums of 8-bit elements",
    "misaligned": "sums at odd addresses",
    "axis": "sums of rows and columns",
    "ceiling": "sums of 8 GiB and more",
    "transpose": "transposes",
    "transpose_across": "transposes, host to device and back",
    "permute": "permutations of axes",
    "copy": "copies",
    "copy_rows": "copies of rows",
    "copy_2d": "copies of rows",
    "heap_copy": "copies of heap memory",
    "fill": "fills",
    "convert": "conversions of element type",
    "axpby": "axpby: z = a x + b y",
    "gather": "gathered rows",
    "scatter": "scattered rows",
    "resize": "resized images",
    "dist": "arrays over two GPUs of a process",
    "move": "movement inside the device",
    "managed": "managed memory left on the host",
    "pool": "allocation",
    "dispatch": "enqueuing, host time",
    "startup": "loading the library",
    "arrays": "arrays of any shape, from Python",
    TEXTBOOK: "every variant, forced",
    COMMAND: "measured by `gpumem bench`",
}


def threads(run):
    return f"{run['threads']} thread{'' if run['threads'] == 1 else 's'}"


class Device(NamedTuple):
    name: str
    slug: str
    runs: list  # (file name, parsed JSON)

    @property
    def is_host(self):
        return self.name.startswith("host: ")

    @property
    def heading(self):
        return f"{self.name}, {threads(self.runs[0][1])}" if self.is_host else self.name

    def rows(self):
        """Every row once: where several files have it, that of the newest."""
        newest = {}
        for _, run in sorted(self.runs, key=lambda item: item[1]["date"]):
            for row in run["rows"]:
                newest[row["family"], row["case"], row["peer"]] = row
        return list(newest.values())

    def families(self):
        return sorted({row["family"] for row in self.rows()}, key=family_order)


def family_order(family):
    names = list(FAMILIES)
    return (names.index(family) if family in FAMILIES else len(names), family)


def words(family):
    return FAMILIES.get(family, family.replace("_", " "))


def slug(run):
    """As the benchmarks name their files."""
    text = run["device"] + (f" {threads(run)}" if run["device"].startswith("host: ") else "")
    for mark in ("(R)", "(r)", "(TM)", "(tm)"):
        text = text.replace(mark, "")
    kept = string.ascii_lowercase + string.digits
    return "-".join("".join(c if c in kept else " " for c in text.lower()).split())


def load(path):
    """A run as the pages read it, whichever program wrote it and when: results of before there was a schema are flat."""
    run = json.loads(path.read_text(encoding="utf-8"))
    if "schema" in run:
        run |= {"device": run["device"]["name"], "driver": run["device"]["driver"], "toolkit": run["device"]["toolkit"],
                **run["host"]}
    if run.get("schema") == "gpumem.bench/1":
        run["rows"] = [beside_nothing(row) for row in run["rows"] if row["skipped"] is None]
    return run


def beside_nothing(row):
    """A row of the gpumem command, which has no peers, as one of the benchmarks'."""
    half = row["median_us"] and (row["q3_us"] - row["q1_us"]) / row["median_us"]
    wrong = {} if row["verified"] is not False else {"wrong": "the result"}
    return {"family": COMMAND, "case": f"{row['group']}: {row['label']}", "peer": None,
            "ours_us": row["median_us"], "peer_us": None, "ratio": None, "bar": None, "bar_kind": None, "met": None,
            "gbs": row["gbs"], "fraction_of_ceiling": row["of_ceiling"], "spread": half, "repeats": row["samples"], **wrong}


def devices(folder):
    """GPUs first."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        run = load(path)
        found.setdefault(slug(run), Device(run["device"], slug(run), [])).runs.append((path.name, run))
    return sorted(found.values(), key=lambda d: (d.is_host, d.slug))


def limits(path):
    return json.loads(path.read_text(encoding="utf-8"))["limits"]


def limit_of(known, device, row):
    """Why a row misses its bar, as (in short, in full): the first entry that matches."""
    for entry in known:
        if (fnmatch.fnmatchcase(device.slug, entry.get("device", "*"))
                and fnmatch.fnmatchcase(f"{row['family']}/{row['case']}", entry["rows"])
                and fnmatch.fnmatchcase(row["peer"] or "", entry.get("peer", "*"))):
            elsewhere = entry["on"] if entry.get("on", device.name) != device.name else None
            return (entry["short"] + (f", as measured on {elsewhere}" if elsewhere else ""),
                    (f"As measured on {elsewhere}: " if elsewhere else "") + entry["limit"])
    return NO_REASON


def is_missed(row):
    return row.get("bar") is not None and not row["met"]


def beside(row):
    """What a row is measured against, in words; None where it is only shown."""
    if (row.get("bar_kind") or "").startswith("at_most"):
        return "a bound in µs"
    if row["peer"] is None:
        return "what the memory can do" if row["fraction_of_ceiling"] is not None else None
    return row["peer"]


def figure(row):
    """The ratio that a row stands with in a mean; None where there is none, or a side was wrong."""
    if row.get("wrong") or (row.get("bar_kind") or "").startswith("at_most"):
        return None
    return row["fraction_of_ceiling"] if row["peer"] is None else row["ratio"]


class Comparison(NamedTuple):
    device: str
    host: bool
    family: str
    peer: str
    cases: int
    mean: float  # geometric; None without ratios, as are the next two
    least: float
    greatest: float
    met: int
    bars: int


def comparisons(device):
    """One for each family and peer of a device, the textbook's variants left out."""
    grouped = {}
    for row in device.rows():
        if row["family"] not in (TEXTBOOK, COMMAND) and beside(row) and not row["case"].startswith(MADE_OF_OTHERS):
            grouped.setdefault((row["family"], beside(row)), []).append(row)
    for (family, peer), rows in sorted(grouped.items(), key=lambda item: family_order(item[0][0])):
        ratios = [r for r in map(figure, rows) if r is not None]
        spread = [statistics.geometric_mean(ratios), min(ratios), max(ratios)] if ratios else [None] * 3
        barred = [r for r in rows if r.get("bar") is not None]
        yield Comparison(device.heading, device.is_host, family, peer, len(rows), *spread, sum(1 for r in barred if r["met"]),
                         len(barred))


# -------------------------------------------------------------------------------------------------------- figures

def number(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def microseconds(value):
    if value is None:
        return "–"
    return number(value, 2 if value < 100 else 1 if value < 10000 else 0)


def percent(value):
    return "–" if value is None else number(100 * value, 1) + " %"


def bar_limit(row):
    return {"ratio": "≥ {:g}", "of_ceiling": "≥ {:g} of ceiling", "at_most_us": "≤ {:g} µs",
            "at_most_added_us": "≤ peer + {:g} µs"}[row["bar_kind"]].format(row["bar"])


def measured(row):
    """The figure that the row's bar is about."""
    if row.get("wrong"):
        return "wrong"
    return {"ratio": lambda: number(row["ratio"], 3), "of_ceiling": lambda: number(row["fraction_of_ceiling"], 3),
            "at_most_us": lambda: microseconds(row["ours_us"]) + " µs",
            "at_most_added_us": lambda: "+" + microseconds(row["ours_us"] - row["peer_us"]) + " µs"}[row["bar_kind"]]()


def rows_of(device, family):
    """A family's rows as a table."""
    headings = ["case", "peer", "bar", "ours µs", "peer µs", "ratio", "GB/s", "of ceiling", "spread"]

    def cells(row):
        if row.get("wrong"):
            return [row["case"], row["peer"] or "–", f"**wrong**: {row['wrong']}", "", "", "", "", "", ""]
        bar = "" if row.get("bar") is None else bar_limit(row) + (" met" if row["met"] else " **missed**")
        return [row["case"], row["peer"] or "–", bar, microseconds(row["ours_us"]), microseconds(row["peer_us"]),
                number(row["ratio"], 3), number(row["gbs"], 1), number(row["fraction_of_ceiling"], 3), percent(row["spread"])]

    return as_table(headings, 3, [cells(row) for row in device.rows() if row["family"] == family])


def as_table(headings, right_from, rows):
    """A markdown table whose columns from `right_from` on are set flush right."""
    ruler = ["---" if i < right_from else "--:" for i in range(len(headings))]
    return ["| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |" for cells in [headings, ruler] + rows]

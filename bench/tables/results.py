"""The committed results: their devices and figures, and the reasons for missed targets."""

import fnmatch
import json
import statistics
import string
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
LIMITS = ROOT / "bench" / "limits.json"
MADE_OF_OTHERS = ("geometric mean", "median of")  # cases that the benchmarks compute from other rows begin like this
COMMAND = "command"  # rows that `gpumem bench` measured
TEXTBOOK = "ladder"  # every implementation in turn, most of them slow on purpose: not part of a summary
NO_REASON = ("no reason measured yet", "No reason measured yet")

# The operations (the field "family" of a row) in the order of the pages, in words. An operation that is missing here comes last.
OPERATIONS = {
    "reduce": "reductions",
    "reduce_stream": "reductions, launch included",
    "reduce_call": "blocking sums",
    "reproducible": "sums, same bits on every GPU",
    "positions": "argmin and argmax",
    "blas1": "dot products and norms",
    "compensated": "compensated sums",
    "small_types": "sums of 8-bit elements",
    "misaligned": "sums at odd addresses",
    "axis": "sums of rows and columns",
    "lines": "reductions of rows and columns",
    "ceiling": "sum of 4 GiB",
    "transpose": "transposes",
    "in_place": "transposes in place",
    "transpose_across": "transposes between host and device",
    "permute": "permutations",
    "copy": "copies",
    "copy_rows": "copies of rows",
    "copy_2d": "copies of rows",
    "heap_copy": "copies of pageable memory",
    "fill": "fills",
    "convert": "conversions",
    "axpby": "axpby",
    "arithmetic": "sums and products of views",
    "gather": "gathers",
    "scatter": "scatters",
    "sort": "sorts",
    "resize": "resizes of images",
    "dist": "arrays over two GPUs",
    "managed": "managed memory on the host",
    "pool": "allocation",
    "dispatch": "enqueuing, host time",
    "startup": "loading the library",
    "arrays": "arrays from Python",
    TEXTBOOK: "every implementation",
    COMMAND: "measured by `gpumem bench`",
}

# Names of baselines that the pages spell differently.
BASELINES = {
    "10008x10008": "gpumem, 10008 x 10008 elements",
    "gpumem sum of it all": "gpumem, sum of all elements",
    "ncclSend+ncclRecv": "NCCL send and receive of the same bytes",
    "transpose+NCCL+copy": "local transpose, NCCL, copy",
    "pinned memory": "cudaMemcpyAsync from or to pinned memory",
    "CUB by faults": "CUB Sum by page faults",
    "cudaMemsetAsync by faults": "cudaMemsetAsync by page faults",
    "OpenMP tiled, and back": "OpenMP tiled copy, and back",
    "one thread": "gpumem, one thread",
    "gpumem_copy": "gpumem_copy (blocking)",
}


def threads(run):
    return f"{run['threads']} thread{'' if run['threads'] == 1 else 's'}"


class Device(NamedTuple):
    name: str
    slug: str
    runs: list  # (file name, parsed JSON)
    frameworks: list  # (file name, program, rows): results of bench/torch

    @property
    def is_host(self):
        return self.name.startswith("host: ")

    @property
    def heading(self):
        return f"{self.name}, {threads(self.runs[0][1])}" if self.is_host else self.name

    def rows(self):
        """Every row once. If several files have it, the newest counts."""
        newest = {}
        for _, run in sorted(self.runs, key=lambda item: item[1]["date"]):
            for row in run["rows"]:
                newest[row["family"], row["case"], row["peer"]] = row
        return list(newest.values()) + [row for _, _, rows in self.frameworks for row in rows]

    def operations(self):
        return sorted({row["family"] for row in self.rows()}, key=order_of)


def order_of(operation):
    names = list(OPERATIONS)
    return (names.index(operation) if operation in OPERATIONS else len(names), operation)


def words(operation):
    return OPERATIONS.get(operation, operation.replace("_", " "))


def slug(run):
    """As the benchmarks name their files."""
    text = run["device"] + (f" {threads(run)}" if run["device"].startswith("host: ") else "")
    for mark in ("(R)", "(r)", "(TM)", "(tm)"):
        text = text.replace(mark, "")
    kept = string.ascii_lowercase + string.digits
    return "-".join("".join(c if c in kept else " " for c in text.lower()).split())


def load(path):
    """A run in one form, whichever program wrote it. Results without a schema are older and flat."""
    run = json.loads(path.read_text(encoding="utf-8"))
    if "schema" in run:
        run |= {"device": run["device"]["name"], "driver": run["device"]["driver"], "toolkit": run["device"]["toolkit"],
                **run["host"]}
    if run.get("schema") == "gpumem.bench/1":
        run["rows"] = [without_baseline(row) for row in run["rows"] if row["skipped"] is None]
    return run


def without_baseline(row):
    """A row of the gpumem command, which has no baselines, in the form of the benchmarks."""
    half = row["median_us"] and (row["q3_us"] - row["q1_us"]) / row["median_us"]
    wrong = {} if row["verified"] is not False else {"wrong": "the result"}
    return {"family": COMMAND, "case": f"{row['group']}: {row['label']}", "peer": None,
            "ours_us": row["median_us"], "peer_us": None, "ratio": None, "bar": None, "bar_kind": None, "met": None,
            "gbs": row["gbs"], "fraction_of_ceiling": row["of_ceiling"], "spread": half, "repeats": row["samples"], **wrong}


# The programs of bench/torch use other names of operations.
MOVED = {"copy": "copy", "copy_2d": "copy_rows", "transpose": "transpose", "in place": "in_place", "gather": "gather", "scatter": "scatter",
         "convert": "convert", "lincomb": "arithmetic", "multiply": "arithmetic", "permute": "permute"}


BY_INDEX = {"counts": "torch.bincount", "atomics": "torch.index_add_", "ordered": "torch.index_add_, deterministic"}


def compared_with_torch(run):
    """Rows of bench/torch/lines.py or move.py that PyTorch has a call for."""
    bare = {"peer": "PyTorch", "bar": None, "bar_kind": None, "met": None, "fraction_of_ceiling": None, "spread": None, "repeats": None}
    for row in run["rows"]:
        if row["ratio"] is None or row.get("peer", "PyTorch") != "PyTorch":
            continue
        if "op" in row:
            wrong = {} if row["right"] else {"wrong": "the result"}
            by_index = "by index" in row["case"]
            peer = {"peer": BY_INDEX[row["op"]]} if by_index else {}
            first = row["case"].split()[0]
            family = "reduce_by_index" if by_index else first if first in ("scan", "sort") else "lines"
            yield {**bare, **wrong, **peer, "family": family, "case": f"{row['case']}/{row['dtype']}/{row['op']}", "ours_us": row["us"],
                   "peer_us": row["peer_us"], "ratio": row["ratio"], "gbs": row["gbs"]}
        else:
            operation, case = row["case"].split("/", 1)
            yield {**row, "family": MOVED[operation], "case": case}


def devices(folder):
    """GPUs first."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        run = load(path)
        found.setdefault(slug(run), Device(run["device"], slug(run), [], [])).runs.append((path.name, run))
    for path in sorted([*folder.glob("torch/*-lines.json"), *folder.glob("torch/*-move.json")]):
        run = json.loads(path.read_text(encoding="utf-8"))
        known = [device for device in found.values() if device.name == run["device"]]
        program = run.get("program") or f"lines.py, PyTorch {run['torch']}"
        for device in known:
            device.frameworks.append((f"torch/{path.name}", program, list(compared_with_torch(run))))
    return sorted(found.values(), key=lambda d: (d.is_host, d.slug))


def limits(path):
    return json.loads(path.read_text(encoding="utf-8"))["limits"]


def limit_of(known, device, row):
    """Why a row misses its target, as (in short, in full): the first entry that matches."""
    for entry in known:
        if (fnmatch.fnmatchcase(device.slug, entry.get("device", "*"))
                and fnmatch.fnmatchcase(f"{row['family']}/{row['case']}", entry["rows"])
                and fnmatch.fnmatchcase(row["peer"] or "", entry.get("peer", "*"))):
            return entry["short"], entry["limit"]
    return NO_REASON


def is_missed(row):
    return row.get("bar") is not None and not row["met"]


def baseline(row):
    """The baseline of a row in words; None if the row is only shown."""
    if (row.get("bar_kind") or "").startswith("at_most"):
        return "a limit in µs"
    if row["peer"] is None:
        if row["fraction_of_ceiling"] is None:
            return None
        return "theoretical peak" if row["case"].endswith("of_theoretical") else "measured peak"
    return BASELINES.get(row["peer"], row["peer"])


def figure(row):
    """The ratio of a row; None if it has none, or if a result was wrong."""
    if row.get("wrong") or (row.get("bar_kind") or "").startswith("at_most"):
        return None
    return row["fraction_of_ceiling"] if row["peer"] is None else row["ratio"]


class Comparison(NamedTuple):
    device: str
    host: bool
    operation: str
    baseline: str
    cases: int
    median: float  # of the ratios; like the next three, None without ratios
    mean: float  # geometric
    least: float
    greatest: float
    slower: int  # cases with a ratio under SLOWER
    met: int
    targets: int


SLOWER = 0.95


def compared(device):
    """The rows of a device by operation and baseline, without those that are not part of a summary."""
    grouped = {}
    for row in device.rows():
        if row["family"] not in (TEXTBOOK, COMMAND) and baseline(row) and not row["case"].startswith(MADE_OF_OTHERS):
            grouped.setdefault((row["family"], baseline(row)), []).append(row)
    return grouped


def ratios_of(rows):
    return [r for r in map(figure, rows) if r is not None]


def comparisons(device):
    """One for each operation and baseline of a device."""
    for (operation, name), rows in sorted(compared(device).items(), key=lambda item: order_of(item[0][0])):
        ratios = ratios_of(rows)
        spread = [statistics.median(ratios), statistics.geometric_mean(ratios), min(ratios), max(ratios)] if ratios else [None] * 4
        aimed = [r for r in rows if r.get("bar") is not None]
        yield Comparison(device.heading, device.is_host, operation, name, len(ratios) or len(rows), *spread,
                         sum(1 for r in ratios if r < SLOWER), sum(1 for r in aimed if r["met"]), len(aimed))


# -------------------------------------------------------------------------------------------------------- figures

def number(value, digits):
    return "–" if value is None else f"{value:,.{digits}f}"


def microseconds(value):
    if value is None:
        return "–"
    return number(value, 2 if value < 100 else 1 if value < 10000 else 0)


def percent(value):
    return "–" if value is None else number(100 * value, 1) + " %"


def target(row):
    return {"ratio": "≥ {:g}", "of_ceiling": "≥ {:g} of peak", "at_most_us": "≤ {:g} µs",
            "at_most_added_us": "≤ baseline + {:g} µs"}[row["bar_kind"]].format(row["bar"])


def measured(row):
    """The figure that the target of the row is about."""
    if row.get("wrong"):
        return "wrong"
    return {"ratio": lambda: number(row["ratio"], 3), "of_ceiling": lambda: number(row["fraction_of_ceiling"], 3),
            "at_most_us": lambda: microseconds(row["ours_us"]) + " µs",
            "at_most_added_us": lambda: "+" + microseconds(row["ours_us"] - row["peer_us"]) + " µs"}[row["bar_kind"]]()


def rows_of(device, operation):
    """The rows of an operation as a table."""
    headings = ["case", "baseline", "target", "gpumem µs", "baseline µs", "ratio", "GB/s", "of peak", "spread"]

    def cells(row):
        name = BASELINES.get(row["peer"], row["peer"]) or "–"
        if row.get("wrong"):
            return [row["case"], name, f"**wrong**: {row['wrong']}", "", "", "", "", "", ""]
        aim = "" if row.get("bar") is None else target(row) + (" met" if row["met"] else " **missed**")
        return [row["case"], name, aim, microseconds(row["ours_us"]), microseconds(row["peer_us"]),
                number(row["ratio"], 3), number(row["gbs"], 1), number(row["fraction_of_ceiling"], 3), percent(row["spread"])]

    return as_table(headings, 3, [cells(row) for row in device.rows() if row["family"] == operation])


def as_table(headings, right_from, rows):
    """A Markdown table. The columns from `right_from` on are aligned right."""
    ruler = ["---" if i < right_from else "--:" for i in range(len(headings))]
    return ["| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |" for cells in [headings, ruler] + rows]

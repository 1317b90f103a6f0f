"""A page for each family on each device: every row that was measured, and why bars are missed."""

import statistics

from results import as_table, is_missed, limit_of, microseconds, number, percent, words

DTYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64")
HEADINGS = ["case", "peer", "bar", "ours µs", "peer µs", "ratio", "GB/s", "of ceiling", "spread"]


def bar_limit(row):
    return {
        "ratio": "≥ {:g}",
        "of_ceiling": "≥ {:g} of ceiling",
        "at_most_us": "≤ {:g} µs",
        "at_most_added_us": "≤ peer + {:g} µs",
    }[row["bar_kind"]].format(row["bar"])


def bar_text(row):
    return "" if row.get("bar") is None else bar_limit(row) + (" met" if row["met"] else " **missed**")


def measured(row):
    """The figure that the row's bar is about."""
    if row.get("wrong"):
        return "wrong"
    return {
        "ratio": lambda: number(row["ratio"], 3),
        "of_ceiling": lambda: number(row["fraction_of_ceiling"], 3),
        "at_most_us": lambda: microseconds(row["ours_us"]) + " µs",
        "at_most_added_us": lambda: "+" + microseconds(row["ours_us"] - row["peer_us"]) + " µs",
    }[row["bar_kind"]]()


def row_cells(row):
    if row.get("wrong"):
        return [row["case"], row["peer"] or "–", f"**wrong**: {row['wrong']}", "", "", "", "", "", ""]
    return [row["case"], row["peer"] or "–", bar_text(row), microseconds(row["ours_us"]), microseconds(row["peer_us"]),
            number(row["ratio"], 3), number(row["gbs"], 1), number(row["fraction_of_ceiling"], 3), percent(row["spread"])]


# ------------------------------------------------------------------------- a grid: sizes down, element types across

def grid_place(row):
    """(line, column) of a row whose case names an element type, else None. Data that L2 does not hold, because it was emptied
    or is too small, shares a column; 'warm' has its own."""
    parts = row["case"].split("/")
    types = [part for part in parts if part in DTYPES]
    if len(types) != 1 or row["peer"] is None or row.get("bar_kind") not in (None, "ratio"):
        return None
    line = "/".join(part for part in parts if part not in (types[0], "warm", "cold"))
    return line, types[0] + (" warm" if "warm" in parts else "")


def grid_cell(row):
    if row is None:
        return ""
    if row.get("wrong"):
        return "**wrong**"
    ratio = number(row["ratio"], 2)
    if row["met"] is False:
        ratio = f"**{number(row['ratio'], 3)}**"
    return f"{ratio} ({microseconds(row['ours_us'])})"


def grid(peer, rows):
    lines, columns, cells = [], [], {}
    for row in rows:
        line, column = grid_place(row)
        lines += [line] if line not in lines else []
        columns += [column] if column not in columns else []
        cells[line, column] = row
    columns.sort(key=lambda c: (DTYPES.index(c.split()[0]), not c.endswith("warm")))
    body = []
    for line in lines:
        here = [cells[line, c] for c in columns if (line, c) in cells]
        bars = sorted({r["bar"] for r in here if r["bar"] is not None})
        bar = "≥ " + ", ".join(f"{b:g}" for b in bars) if bars else ""
        body.append([line, bar] + [grid_cell(cells.get((line, c))) for c in columns])
    spreads = [r["spread"] for r in rows if r["spread"] is not None]
    spread = f" Spread: median {percent(statistics.median(spreads))}, widest {percent(max(spreads))}." if spreads else ""
    return [f"Beside {peer}; ratio (our µs), bold where the bar is missed.{spread}", ""] + as_table(
        ["case", "bar"] + columns, 2, body)


def tables(rows):
    """A grid for each peer, then what fits in none."""
    peers, rest, seen = {}, [], set()
    for row in rows:
        place = grid_place(row)
        if place is None or (place, row["peer"]) in seen:
            rest.append(row)
        else:
            seen.add((place, row["peer"]))
            peers.setdefault(row["peer"], []).append(row)
    lines = []
    for peer, gridded in peers.items():
        lines += grid(peer, gridded) + [""]
    return lines + (as_table(HEADINGS, 3, [row_cells(r) for r in rest]) + [""] if rest else [])


# ---------------------------------------------------------------------------------------------------------- a page

def facts(name, run):
    """The machine and the run."""
    parts = [f"CPU {run['cpu']}" if run["cpu"] and run["cpu"] not in run["device"] else None,
             f"driver {run['driver']}" if run["driver"] else None,
             f"CUDA toolkit {run['toolkit']}" if run["toolkit"] else None,
             f"{run['threads']} threads" + (f" (OpenMP {run['peer_threads']})" if run["peer_threads"] else ""),
             run["date"], f"commit {run['commit']}" if run["commit"] else None,
             "a quick run" if run.get("quick") else None]
    ceilings = ", ".join(f"{kind} {number(run['ceilings'][kind], 1)}" for kind in ("read", "write", "copy"))
    stated = run["ceilings"].get("theoretical")
    return [f"From [{name}]({name}): " + ", ".join(p for p in parts if p) + ". " +
            f"Ceilings measured in this run, GB/s: {ceilings}" + (f"; theoretical {number(stated, 1)}." if stated else "."), ""]


def missed(device, rows, known):
    """The rows that miss their bars, by reason."""
    reasons = {}
    for row in filter(is_missed, rows):
        reasons.setdefault(limit_of(known, device, row)[1], []).append(row)
    if not reasons:
        return []
    lines = ["Not met:", ""]
    for reason, rows_of in reasons.items():
        lines.append(f"- {reason.rstrip('.')}: " +
                     ", ".join(f"`{r['case']}` {measured(r)} ({bar_limit(r)})" for r in rows_of) + ".")
    return lines + [""]


def page(device, family, known):
    lines = [f"# {device.heading}: {family}", "", f"{words(family).capitalize()}. Written by `bench/table`; how it is measured "
             "stands in [performance.md](../../docs/performance.md), in detail in [bench/README.md](../README.md).", ""]
    for name, run in device.runs:
        rows = [row for row in run["rows"] if row["family"] == family]
        if rows:
            lines += facts(name, run) + missed(device, rows, known) + tables(rows)
    return "\n".join(lines).rstrip("\n") + "\n"


def page_name(device, family):
    return f"{device.slug}-{family.replace('_', '-')}.md"


def pages(found, known):
    """The text of every page by its file's name."""
    return {page_name(d, family): page(d, family, known) for d in found for family in d.families()}

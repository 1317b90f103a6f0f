"""What docs/performance.md says of all results: a table of the families beside their peers, and what is missed. As CSV too, from
which docs/pictures/draw takes its picture; and the page that says of each device where the results come from, and why bars are missed."""

import csv
import io

from results import as_table, bar_limit, comparisons, family_order, figure, is_missed, limit_of, measured, number, words

COLUMNS = ["device", "host", "family", "words", "peer", "cases", "mean", "least", "greatest", "bars_met", "bars"]


def cells(found):
    """A comparison's three cells in the columns of one device."""
    if found is None:
        return ["", "", ""]
    return [number(found.mean, 2), number(found.least, 2), f"{found.met} of {found.bars}" if found.bars else "–"]


def table(devices):
    """Families and peers down, devices across."""
    grouped = {}
    for device in devices:
        for c in comparisons(device):
            grouped.setdefault((c.family, c.peer), {})[device.slug] = c
    headings = ["", "beside"]
    for device in devices:
        headings += [f"{device.heading}: mean", "least", "bars met"] if len(devices) > 1 else ["mean", "least", "bars met"]
    body, before = [], None
    for (family, peer), by_device in sorted(grouped.items(), key=lambda item: family_order(item[0][0])):
        body.append([words(family) if family != before else "", peer])
        before = family
        for device in devices:
            body[-1] += cells(by_device.get(device.slug))
    return as_table(headings, 2, body) + [""]


def standing(devices):
    lines = []
    for host, side in ((False, "On a GPU"), (True, "On the host")):
        here = [d for d in devices if d.is_host == host]
        if here:
            lines += [f"{side}: {', '.join(d.heading.removeprefix('host: ') for d in here)}.", ""] + table(here)
    return lines


def missed_of(device, family, rows, known):
    """One entry of the list: the reasons in short, with how often each applies and the worst case of each."""
    reasons = {}
    for row in filter(is_missed, rows):
        reasons.setdefault(limit_of(known, device, row)[0], []).append(row)
    said = []
    for short, of_it in reasons.items():
        least = min((r for r in map(figure, of_it) if r is not None), default=None)
        said.append(f"{short} ({len(of_it)}" + (f", least {number(least, 2)})" if least is not None else ")"))
    return f"- {words(family)}: " + "; ".join(said) + "."


def missing(devices, known):
    lines = []
    for device in devices:
        rows = device.rows()
        barred = [r for r in rows if r.get("bar") is not None]
        met = sum(1 for r in barred if r["met"])
        lines += [f"**{device.heading.removeprefix('host: ')}**: {met} of {len(barred)} bars met.", ""]
        families = [f for f in device.families() if any(is_missed(r) for r in rows if r["family"] == f)]
        lines += [missed_of(device, f, [r for r in rows if r["family"] == f], known) for f in families]
        lines += [""] if families else []
    return lines


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
    families = ", ".join(sorted({row["family"] for row in run["rows"]}, key=family_order))
    return (f"- [{name}]({name}): {families}. " + ", ".join(p for p in parts if p) +
            f". Ceilings in GB/s: {ceilings}" + (f"; theoretical {number(stated, 1)}." if stated else "."))


def reasons(device, family, rows, known):
    """Why a family's rows miss their bars, in full."""
    found = {}
    for row in rows:
        if row["family"] == family and is_missed(row):
            found.setdefault(limit_of(known, device, row)[1], []).append(row)
    if not found:
        return []
    return [f"**{family}**", ""] + [
        f"- {reason.rstrip('.')}: " + ", ".join(f"`{r['case']}` {measured(r)} ({bar_limit(r)})" for r in of_it) + "."
        for reason, of_it in found.items()] + [""]


def page(devices, known):
    lines = ["# Results", "", "Written by `bench/table`. The rows are in the JSON files; `bench/table DEVICE FAMILY` prints those of a family. "
             "How they are measured stands in [performance.md](../../docs/performance.md), in detail in [bench/README.md](../README.md).", ""]
    for device in devices:
        lines += [f"## {device.heading}", ""] + [facts(name, run) for name, run in device.runs] + [""]
        missed = [line for family in device.families() for line in reasons(device, family, device.rows(), known)]
        lines += ["Not met:", ""] + missed if missed else []
    return "\n".join(lines).rstrip("\n") + "\n"


def as_csv(devices):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    found = [c for device in devices for c in comparisons(device)]
    for c in sorted(found, key=lambda c: (c.host, family_order(c.family))):
        ratios = ["" if r is None else f"{r:.4f}" for r in (c.mean, c.least, c.greatest)]
        writer.writerow([c.device, int(c.host), c.family, words(c.family), c.peer, c.cases, *ratios, c.met, c.bars])
    return out.getvalue()


# The bandwidth of copies of heap and of pinned memory, by size and direction: from the rows of the family heap_copy.

UNITS = {"KiB": 10, "MiB": 20, "GiB": 30}
MOST_BYTES = 1 << 30
CURVE_COLUMNS = ["direction", "bytes", "gpumem_heap_gbs", "cudaMemcpy_heap_gbs", "pinned_gbs"]


def bytes_of(size):
    return int(size[:-3]) << UNITS[size[-3:]]


def rates(rows):
    """GB/s (1e9 bytes a second) of gpumem_copy and cudaMemcpy from or to heap memory, and of pinned memory."""
    found = {}
    for row in rows:
        parts = row["case"].split("/")
        if row["family"] != "heap_copy" or len(parts) != 2 or bytes_of(parts[1]) > MOST_BYTES:
            continue
        size = bytes_of(parts[1])
        entry = found.setdefault((parts[0], size), {})
        if row["peer"] == "cudaMemcpy":
            entry["gpumem"] = size / row["ours_us"] / 1e3
            entry["cudaMemcpy"] = size / row["peer_us"] / 1e3
        elif row["peer"] == "pinned memory":
            entry["pinned"] = size / row["peer_us"] / 1e3
    for (direction, size), entry in sorted(found.items()):
        if len(entry) == 3:
            yield [direction, size] + [f"{entry[name]:.3f}" for name in ("gpumem", "cudaMemcpy", "pinned")]


def curves(devices):
    """The text of each device's curve by its file's name."""
    texts = {}
    for device in devices:
        rows = list(rates(device.rows()))
        if rows:
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(CURVE_COLUMNS)
            writer.writerows(rows)
            texts[f"{device.slug}-heap-copy.csv"] = out.getvalue()
    return texts

"""What docs/performance.md says of all results: a table of the families beside their peers, and what is missed. As CSV too, from
which docs/pictures/draw takes its picture."""

import csv
import io

from pages import page_name
from results import as_table, comparisons, family_order, figure, is_missed, limit_of, number, words

FOLDER = "../bench/results/"
COLUMNS = ["device", "host", "family", "words", "peer", "cases", "mean", "least", "greatest", "bars_met", "bars"]


def cells(device, found):
    """A comparison's three cells in the columns of one device."""
    if found is None:
        return ["", "", ""]
    link = f"{FOLDER}{page_name(device, found.family)}"
    bars = f"{found.met} of {found.bars}" if found.bars else "–"
    return [number(found.mean, 2), number(found.least, 2), f"[{bars}]({link})"]


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
            body[-1] += cells(device, by_device.get(device.slug))
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
    return f"- [{words(family)}]({FOLDER}{page_name(device, family)}): " + "; ".join(said) + "."


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


def as_csv(devices):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    found = [c for device in devices for c in comparisons(device)]
    for c in sorted(found, key=lambda c: (c.host, family_order(c.family))):
        ratios = ["" if r is None else f"{r:.4f}" for r in (c.mean, c.least, c.greatest)]
        writer.writerow([c.device, int(c.host), c.family, words(c.family), c.peer, c.cases, *ratios, c.met, c.bars])
    return out.getvalue()

"""The pages made of the results: bench/results/summary.md, and the tables in docs/performance.md. The summary also as CSV, the input of
docs/pictures/draw."""

import csv
import fnmatch
import io
import statistics

from results import COMMAND, SLOWER, as_table, baseline, compared, comparisons, figure, is_missed, limit_of, number, order_of, ratios_of, words

COLUMNS = ["device", "host", "operation", "words", "baseline", "cases", "median", "mean", "least", "greatest", "slower", "targets_met", "targets"]

# The rows of the main table of docs/performance.md: operation, baseline.
MAIN = [
    ("reduce", "CUB Sum"), ("reduce_call", "CUB Sum, copy, synchronize"), ("reproducible", "CUB Sum, gpu_to_gpu"), ("blas1", "cuBLAS dot"),
    ("lines", "PyTorch"), ("transpose", "cuBLAS Sgeam"), ("permute", "PyTorch"), ("gather", "PyTorch"), ("scatter", "PyTorch"),
    ("copy", "cudaMemcpyAsync"), ("copy_rows", "cudaMemcpy2DAsync"), ("heap_copy", "cudaMemcpy"),
]

# The rows of its table of slow cases: description, operation, baseline, patterns of the cases, cause.
SLOW = [
    ("sums of 2^10 to 2^12 elements", "reduce", "CUB Sum", ["sum/*/2^1[0-2]/*"], "An empty kernel takes 2.7 to 2.9 µs, CUB 3.5 to 3.9, gpumem 3.7 to 4.1"),
    ("sums of 2^22 and 2^23 elements in L2", "reduce", "CUB Sum", ["sum/*/2^2[23]/warm"], "Not explained; the H200 does not show it"),
    ("sums of columns in batches", "lines", "PyTorch", ["batches columns*"], "PyTorch adds f16 in f32, gpumem in f64"),
    ("gathers of 4-byte rows in order", "gather", "PyTorch", ["*rows of 4 bytes*in order"], "The index is checked before anything is written"),
    ("gathers of 4-byte rows", "gather", "cudaMemcpyAsync", ["*x4B"], "The copy moves contiguous lines; each row costs a sector"),
    ("scatters of 4-byte rows", "scatter", "cudaMemcpyAsync", ["*x4B"], "As for gathers; sectors are also read before they are written"),
    ("transposes in place, not square", "transpose", "gpumem_transpose into another matrix",
     ["4B/16384x8192/in_place", "4B/10007x9973/in_place", "4B/1048576x32/in_place", "8B/7000x6000/in_place"], "Up to three passes over the matrix"),
    ("blocking copies up to 512 KiB to the device", "heap_copy", "cudaMemcpy", ["to_device/*KiB*"], "A call takes 2.5 to 3 µs before it starts the copy"),
    ("asynchronous copies of pageable memory", "heap_copy", "gpumem_copy (blocking)", ["*"], "Each 2 MiB chunk waits for a host function of the stream"),
    ("halo across the fastest axis, two GPUs", "dist", "NCCL send and receive of the same bytes", ["halo/*/z"], "524,288 runs of 8 bytes, which the baseline sends packed"),
    ("calls on less than 1 KB, on the host", "arrays", "C loop", ["*(256 B)*", "*512 B*"], "A call takes 0.5 to 1.1 µs"),
    ("sums of columns on the host", "arrays", "PyTorch 2.11", ["cols sum*"], "One thread at a time has the lanes of a column"),
    ("moving maxima on the host", "arrays", "C loop", ["moving max*"], "The loop doubles the window: two operations per window"),
]


def cell(value):
    return number(value, 2)


def table_of(device):
    """The comparisons of a device."""
    rows = [[words(c.operation), c.baseline, c.cases, cell(c.median), cell(c.mean), cell(c.least), cell(c.greatest), c.slower if c.median else "–",
             f"{c.met} of {c.targets}" if c.targets else "–"] for c in comparisons(device)]
    headings = ["operation", "baseline", "cases", "median", "mean", "worst", "best", f"under {SLOWER}", "targets met"]
    return as_table(headings, 2, rows) + [""]


def gpus_of(devices):
    return [d for d in devices if not d.is_host]


def main_table(devices):
    """Twelve operations, each GPU in columns of its own."""
    gpus = gpus_of(devices)
    found = {(c.operation, c.baseline, d.slug): c for d in gpus for c in comparisons(d)}
    rows = []
    for operation, name in MAIN:
        here = [found.get((operation, name, d.slug)) for d in gpus]
        if any(here):
            cases = sorted({c.cases for c in here if c})
            rows.append([words(operation), name, " and ".join(map(str, cases)), *[cell(v) if c else "" for c in here for v in ((c.median, c.least) if c else ("", ""))]])
    names = [d.name.removeprefix("NVIDIA ").split()[0] for d in gpus]
    return as_table(["operation", "baseline", "cases", *[f"{n}: {what}" for n in names for what in ("median", "worst")]], 2, rows)


def slow_table(devices):
    """Slow cases of gpumem, with the device that has the worst ratio."""
    rows = []
    for text, operation, name, patterns, cause in SLOW:
        found = {}
        for device in devices:
            here = [r for r in compared(device).get((operation, name), []) if any(fnmatch.fnmatchcase(r["case"], p) for p in patterns)]
            if ratios_of(here):
                found[device.heading] = ratios_of(here)
        if found:
            where = min(found, key=lambda d: min(found[d]))
            label = where.removeprefix("NVIDIA ").split()[0] if not where.startswith("host: ") else "host"
            rows.append([text, name, cause, label, len(found[where]), cell(statistics.median(found[where])), cell(min(found[where]))])
    return as_table(["operation", "baseline", "cause", "on", "cases", "median", "worst"], 4, rows)


def machines_table(devices):
    """Where and when the results were measured, one line for each device."""
    rows = []
    for device in devices:
        runs = [(name, run) for name, run in device.runs if any(row["family"] != COMMAND for row in run["rows"])]

        def all_of(values):
            return ", ".join(sorted({str(v) for v in values if v})) or "–"

        files = [name for name, _ in runs] + [name for name, _, _ in device.frameworks]
        rows.append([device.name.removeprefix("host: ").replace("(R)", ""), all_of(run["threads"] for _, run in runs), all_of(run["driver"] for _, run in runs),
                     all_of(run["toolkit"] for _, run in runs), all_of(run["commit"] for _, run in runs), all_of(run["date"][:10] for _, run in runs),
                     ", ".join(f"[{i + 1}](../bench/results/{name})" for i, name in enumerate(files))])
    return as_table(["device", "host threads", "driver", "CUDA", "commit", "date", "results"], 7, rows)


def facts(name, run):
    """The machine and the run."""
    parts = [f"CPU {run['cpu']}" if run["cpu"] and run["cpu"] not in run["device"] else None,
             f"driver {run['driver']}" if run["driver"] else None,
             f"CUDA toolkit {run['toolkit']}" if run["toolkit"] else None,
             f"{run['threads']} threads" + (f" (OpenMP {run['peer_threads']})" if run["peer_threads"] else ""),
             run["date"], f"commit {run['commit']}" if run["commit"] else None,
             "a quick run" if run.get("quick") else None]
    peaks = {kind: run["ceilings"][kind] for kind in ("read", "write", "copy") if run["ceilings"][kind]}
    stated = run["ceilings"].get("theoretical")
    said = [", ".join(p for p in parts if p) + "."]
    if peaks:
        said.append("Measured peak in GB/s: " + ", ".join(f"{kind} {number(value, 1)}" for kind, value in peaks.items()) +
                    (f" (theoretical {number(stated, 1)})." if stated else "."))
    return f"- [{name}]({name}): " + " ".join(said)


def reasons(device, known):
    """Why the targets of a device are missed: for each reason the number of cases and the worst of them."""
    found = {}
    for row in filter(is_missed, device.rows()):
        found.setdefault((row["family"], limit_of(known, device, row)[0]), []).append(row)
    rows = []
    for (operation, reason), of_it in sorted(found.items(), key=lambda item: order_of(item[0][0])):
        rows.append([words(operation), reason, len(of_it), cell(min((r for r in map(figure, of_it) if r is not None), default=None))])
    return ["Targets that are missed:", ""] + as_table(["operation", "reason", "cases", "worst"], 2, rows) + [""] if rows else []


def page(devices, known):
    lines = ["# Results", "", "`bench/table` writes this page. The rows are in the JSON files. `bench/table DEVICE OPERATION` prints the rows of an operation.", "",
             "A ratio is the time of the baseline divided by the time of gpumem. Above 1, gpumem is faster. *Mean* is the geometric mean. "
             f"*Under {SLOWER}* counts the cases that are slower than the baseline by more than 5 %. [performance.md](../../docs/performance.md) says how the "
             "ratios are measured. [limits.json](../limits.json) has the reasons for missed targets in full; they are of an H200 or of the host named there.", ""]
    for device in devices:
        lines += [f"## {device.heading}", ""] + [facts(name, run) for name, run in device.runs]
        lines += [f"- [{name}]({name}): {program}." for name, program, _ in device.frameworks] + [""]
        lines += table_of(device) + reasons(device, known)
    return "\n".join(lines).rstrip("\n") + "\n"


def as_csv(devices):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    found = [c for device in devices for c in comparisons(device)]
    for c in sorted(found, key=lambda c: (c.host, order_of(c.operation))):
        ratios = ["" if r is None else f"{r:.4f}" for r in (c.median, c.mean, c.least, c.greatest)]
        writer.writerow([c.device, int(c.host), c.operation, words(c.operation), c.baseline, c.cases, *ratios, c.slower, c.met, c.targets])
    return out.getvalue()


UNITS = {"KiB": 10, "MiB": 20, "GiB": 30}
MOST_BYTES = 1 << 30
CURVE_COLUMNS = ["direction", "bytes", "gpumem_heap_gbs", "cudaMemcpy_heap_gbs", "pinned_gbs"]


def bytes_of(size):
    return int(size[:-3]) << UNITS[size[-3:]]


def rates(rows):
    """GB/s (1e9 bytes per second) of gpumem_copy and cudaMemcpy with pageable memory, and of copies of pinned memory."""
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
    """The text of the curve of each device by the name of its file."""
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

"""The bandwidth of copies of heap and of pinned memory, by size and direction, as CSV: from the rows of the family heap_copy."""

import csv
import io

UNITS = {"KiB": 10, "MiB": 20, "GiB": 30}
MOST_BYTES = 1 << 30
COLUMNS = ["direction", "bytes", "gpumem_heap_gbs", "cudaMemcpy_heap_gbs", "pinned_gbs"]


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
            writer.writerow(COLUMNS)
            writer.writerows(rows)
            texts[f"{device.slug}-heap-copy.csv"] = out.getvalue()
    return texts

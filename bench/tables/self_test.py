"""Checks of the programs in this folder on two invented devices. One operation is missing on the second."""

import json
import tempfile
from pathlib import Path

from results import devices, rows_of

ROW = {"family": "copy", "case": "64KiB", "ours_us": 2.0, "peer_us": 3.0, "peer": "loop", "ratio": 1.5, "bar": 0.9,
       "bar_kind": "ratio", "met": True, "gbs": 2.048, "fraction_of_ceiling": None, "spread": 0.01, "repeats": 15}
MACHINE = {"program": "p", "driver": None, "toolkit": None, "cpu": "C", "threads": 2, "peer_threads": 2, "commit": "c",
           "quick": False, "ceilings": {"read": 1.0, "write": None, "copy": 3.0}, "skipped": []}
LIMITS = [{"rows": "copy/sl*", "peer": "lo*", "on": "D(R) 1", "short": "the loop", "limit": "The loop wins."},
          {"device": "e", "rows": "*", "short": "x", "limit": "x"}]
COMMAND = {"group": "copy", "label": "64 B", "problem": "copy bytes=64", "variant": "vec16", "chosen_by": "table", "bytes": 128, "samples": 21, "median_us": 4.0, "q1_us": 3.9,
           "q3_us": 4.1, "gbs": 32.0, "of_ceiling": 0.5, "verified": True, "skipped": None}
MARKED = "before\n" + "between\n".join(
    f"<!-- {name}:begin (written by bench/table) -->\n<!-- {name}:end -->\n" for name in ("main", "slow", "machines")) + "after\n"
TORCH = {"device": "D(R) 1", "torch": "2", "rows": [
    {"case": "rows of 8", "dtype": "f16", "op": "sum", "us": 2.0, "gbs": 1.0, "peer_us": 3.0, "ratio": 1.5, "right": True},
    {"case": "rows of 8", "dtype": "f16", "op": "prod", "us": 2.0, "gbs": 1.0, "peer_us": None, "ratio": None, "right": True}]}
MOVE = {"device": "D(R) 1", "program": "move.py, PyTorch 2", "rows": [
    dict(ROW, family="move", case="gather/rows of 4 bytes, in order", peer=peer, ratio=ratio, bar=None) for peer, ratio in (("PyTorch", 0.5), ("plain copy", 0.1))]}


def head(schema, date, rows):
    """A run as results.hpp of the command begins it."""
    return {"schema": schema, "date": date, "device": {"name": "D(R) 1", "driver": None, "toolkit": None},
            "host": {"cpu": "C", "threads": 2, "peer_threads": None}, "rows": rows}


def copies():
    rate = dict(ROW, case="rate", peer=None, peer_us=None, ratio=None, bar=0.98, bar_kind="of_ceiling", met=False,
                fraction_of_ceiling=0.97)
    return [ROW, dict(ROW, case="slow", ratio=0.5, met=False), dict(ROW, case="bad", wrong="got 1, expected 2", met=False), rate]


def reductions():
    warm = dict(ROW, family="reduce", case="sum/f32/2^10/warm", ratio=1.25)
    large = dict(warm, case="sum/f32/2^31", ratio=1.5, ours_us=1875.9, bar=None, bar_kind=None, met=None)
    median = dict(warm, case="median of all", ratio=9.0)
    return [median, warm, dict(warm, case="sum/f32/2^10/cold", ratio=0.75, met=False), large, dict(large, case="sum/i32/2^31", ratio=1.01)]


def results(folder):
    forced = dict(ROW, family="ladder", ratio=0.01, bar=None, bar_kind=None, met=None)
    runs = {
        "d.json": {"device": "D(R) 1", "date": "1", "rows": copies() + reductions() + [forced]},
        "d-command.json": head("gpumem.bench/1", "1", [COMMAND, dict(COMMAND, skipped="it does not fit", median_us=None)]),
        "d-later.json": head("gpumem.peers/1", "2", [dict(ROW, ratio=6.0)]),
        "e.json": {"device": "E", "date": "1", "rows": [dict(ROW, ratio=2.0), dict(ROW, case="slower", ratio=0.8, met=False)]},
        "host.json": {"device": "host: H", "date": "1", "rows": [dict(ROW, family="startup", bar=9, bar_kind="at_most_us")]},
    }
    for name, run in runs.items():
        (folder / name).write_text(json.dumps(MACHINE | run), encoding="utf-8")
    (folder / "torch").mkdir()
    (folder / "torch" / "d-lines.json").write_text(json.dumps(TORCH), encoding="utf-8")
    (folder / "torch" / "d-move.json").write_text(json.dumps(MOVE), encoding="utf-8")


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part}\n\nis not in\n\n{text}"


def check_page(folder):
    expect((folder / "summary.md").read_text(encoding="utf-8"), "## D(R) 1\n", "- [d-later.json](d-later.json): ", "Measured peak in GB/s: read 1.0, copy 3.0.",
           # 6.0 from the later file, and 0.5; the wrong row has no ratio.
           "| copies | loop | 2 | 3.25 | 1.73 | 0.50 | 6.00 | 1 | 1 of 3 |", "| copies | measured peak | 1 | 0.97 | 0.97 | 0.97 | 0.97 | 0 | 0 of 1 |",
           "| reductions of rows and columns | PyTorch | 1 | 1.50 |", "| gathers | PyTorch | 1 | 0.50 | 0.50 | 0.50 | 0.50 | 1 | – |",
           "| loading the library | a limit in µs | 1 | – | – | – | – | – | 1 of 1 |",
           "| copies | the loop | 1 | 0.50 |", "| copies | no reason measured yet | 2 | 0.97 |")


def check_rows(folder):
    (device,) = [d for d in devices(folder) if d.slug == "d-1"]
    expect("\n".join(rows_of(device, "copy")), "| 64KiB | loop | ≥ 0.9 met | 2.00 | 3.00 | 6.000 |", "≥ 0.9 **missed**",
           "≥ 0.98 of peak **missed**", "**wrong**: got 1, expected 2")
    expect("\n".join(rows_of(device, "command")), "| copy: 64 B | – |  | 4.00 | – | – | 32.0 | 0.500 | 5.0 % |")


def check_document(text):
    expect(text, "before\n", "between\n", "after\n", "| operation | baseline | cases | D(R): median | D(R): worst | E: median | E: worst |",
           "| gathers | PyTorch | 1 | 0.50 | 0.50 |  |  |", "| gathers of 4-byte rows in order | PyTorch |", "| D(R) | 1 | 0.50 | 0.50 |",
           "| D 1 | 2 | – | – | c | 1, 2 | [1](../bench/results/d-later.json), [2](../bench/results/d.json),")
    assert "ladder" not in text and "command" not in text


def check_csv(folder):
    expect((folder / "summary.csv").read_text(encoding="utf-8"), "D(R) 1,0,copy,copies,loop,2,3.2500,1.7321,0.5000,6.0000,1,1,3\n",
           "\"host: H, 2 threads\",1,startup,loading the library,a limit in µs,1,,,,,0,1,1\n")


def run(table):
    """`table` is what bench/table does with a folder, a document, the limits and whether it only checks."""
    with tempfile.TemporaryDirectory() as place:
        folder, document = Path(place) / "results", Path(place) / "doc.md"
        folder.mkdir()
        document.write_text(MARKED, encoding="utf-8")
        results(folder)
        assert table(folder, document, LIMITS, True) == 1
        assert table(folder, document, LIMITS, False) == 0
        assert table(folder, document, LIMITS, True) == 0
        assert table(folder, document, [], True) == 1
        check_page(folder)
        check_rows(folder)
        check_document(document.read_text(encoding="utf-8"))
        check_csv(folder)
        (folder / "old.md").write_text("x")  # no result makes it
        assert table(folder, document, LIMITS, True) == 1
        assert table(folder, document, LIMITS, False) == 0
        assert not (folder / "old.md").exists() and table(folder, document, LIMITS, True) == 0
    return 0

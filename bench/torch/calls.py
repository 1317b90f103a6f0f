#!/usr/bin/env python3
"""Measures what a call costs in Python: microseconds of the host per call, compared with PyTorch and CuPy.

usage: calls.py FOLDER_OF_THE_PACKAGE [--out FILE.json] [--only WORD] [--quick]

Each operation is called with PyTorch's tensors, with CuPy's arrays and with gpumem's arrays, all in device memory and short. The
baseline is PyTorch's or CuPy's own call, and for gpumem's arrays PyTorch's. A call that is enqueued goes to the same stream on both
sides. A call that waits for the device, or allocates, is made on the default stream. A sample is the mean of many calls, without
the wait for the device after them. Samples of both sides alternate, and the median counts. Where both sides have the same result, it is compared.
"""

import argparse
import gc
import json
import statistics
import sys
import time

import cupy
import numpy as np
import torch


def operands(make, seed=1):
    """Operands of one library, by name."""
    random = np.random.default_rng(seed)
    real, mask = random.random(4096, dtype=np.float32), random.integers(0, 2, 4096).astype(bool)
    matrix = real[:4096].repeat(16).reshape(256, 256) * random.random((256, 256), dtype=np.float32)
    found = {"x": real, "y": real[::-1].copy(), "z": 0 * real, "h": np.zeros(4096, np.float16), "m": matrix, "n": 0 * matrix,
             "c": matrix.reshape(16, 64, 64), "e": np.zeros((64, 16, 64), np.float32), "r": np.zeros(256, np.float32), "i": random.permutation(256),
             "j": random.integers(0, 64, 4096), "u": np.zeros(64), "w": np.zeros(64, np.float32), "b": mask, "k": np.zeros(4096, bool), "one": np.zeros(1),
             "f": np.zeros((), np.float32), "at": np.zeros((), np.int64), "p": np.zeros(4096, np.int64), "s": real[:1000]}  # fmt: skip
    return {name: make(array) for name, array in found.items()}


def enqueued(ctx, s):
    """Per operation: its name, gpumem's call, PyTorch's and CuPy's, and the operand with the result, or None: it is not compared."""
    w = {"stream": s}
    return [
        ("fill", lambda a: ctx.fill(a["z"], 2, **w), lambda a: a["z"].fill_(2), lambda a: a["z"].fill(2), "z"),
        ("copy", lambda a: ctx.copy(a["z"], a["x"], **w), lambda a: a["z"].copy_(a["x"]), lambda a: cupy.copyto(a["z"], a["x"]), "z"),
        ("transpose", lambda a: ctx.transpose(a["m"], a["n"], **w), lambda a: a["n"].copy_(a["m"].t()), lambda a: cupy.copyto(a["n"], a["m"].T), "n"),
        ("permute", lambda a: ctx.permute(a["c"], (1, 0, 2), a["e"], **w), lambda a: a["e"].copy_(a["c"].permute(1, 0, 2)),
         lambda a: cupy.copyto(a["e"], a["c"].transpose(1, 0, 2)), "e"),
        ("sums of rows", lambda a: ctx.reduce(a["m"], axis=1, out=a["r"], **w), lambda a: torch.sum(a["m"], 1, out=a["r"]),
         lambda a: cupy.sum(a["m"], 1, out=a["r"]), "r"),
        ("convert", lambda a: ctx.convert(a["x"], out=a["h"], **w), lambda a: a["h"].copy_(a["x"]), lambda a: cupy.copyto(a["h"], a["x"]), "h"),
        ("map add", lambda a: ctx.map("add", a["x"], a["y"], a["z"], **w), lambda a: torch.add(a["x"], a["y"], out=a["z"]),
         lambda a: cupy.add(a["x"], a["y"], a["z"]), "z"),
        ("map by a number", lambda a: ctx.map("multiply", a["x"], 2, a["z"], **w), lambda a: torch.mul(a["x"], 2, out=a["z"]),
         lambda a: cupy.multiply(a["x"], 2, a["z"]), "z"),
        ("compare", lambda a: ctx.compare("less", a["x"], a["y"], a["k"], **w), lambda a: torch.lt(a["x"], a["y"], out=a["k"]),
         lambda a: cupy.less(a["x"], a["y"], a["k"]), "k"),
        ("where", lambda a: ctx.where(a["b"], a["x"], a["y"], a["z"], **w), lambda a: torch.where(a["b"], a["x"], a["y"], out=a["z"]),
         lambda a: cupy.where(a["b"], a["x"], a["y"]), None),
        ("gather rows", lambda a: ctx.gather(a["m"], a["i"], a["n"], **w), lambda a: torch.index_select(a["m"], 0, a["i"], out=a["n"]),
         lambda a: cupy.take(a["m"], a["i"], 0, a["n"]), "n"),
        ("scatter rows", lambda a: ctx.scatter(a["m"], a["i"], a["n"], **w), lambda a: a["n"].index_copy_(0, a["i"], a["m"]),
         lambda a: a["n"].__setitem__(a["i"], a["m"]), "n"),
        ("reduce_by_index", lambda a: ctx.reduce_by_index(a["x"], a["j"], 64, out=a["u"], **w), lambda a: a["w"].index_add_(0, a["j"], a["x"]),
         lambda a: cupy.add.at(a["w"], a["j"], a["x"]), None),
        ("scan", lambda a: ctx.scan(a["x"], dtype="f32", out=a["z"], **w), lambda a: torch.cumsum(a["x"], 0, out=a["z"]),
         lambda a: cupy.cumsum(a["x"], out=a["z"]), "z"),
        ("sort", lambda a: ctx.sort(a["x"], a["z"], order=a["p"], **w), lambda a: torch.sort(a["x"], out=(a["z"], a["p"])), lambda a: cupy.sort(a["x"]), None),
        ("argsort", lambda a: ctx.argsort(a["x"], a["p"], **w), lambda a: torch.argsort(a["x"], stable=True), lambda a: cupy.argsort(a["x"]), None),
        ("axpby", lambda a: ctx.axpby(1, a["x"], 3, a["y"], a["z"], **w), lambda a: torch.add(a["x"], a["y"], alpha=3, out=a["z"]), None, "z"),
        ("lincomb", lambda a: ctx.lincomb([(1, a["x"]), (3, a["y"])], a["z"], **w), lambda a: torch.add(a["x"], a["y"], alpha=3, out=a["z"]), None, "z"),
        ("lincomb of a factor in memory", lambda a: ctx.lincomb([(1, a["x"]), (a["one"], a["y"])], a["z"], **w),
         lambda a: torch.addcmul(a["x"], a["f"], a["y"], out=a["z"]), None, "z"),
        ("lincomb_dot", lambda a: ctx.lincomb_dot([(1, a["x"]), ((3, None, None), a["y"])], [None], a["z"], a["one"], **w),
         lambda a: torch.dot(torch.add(a["x"], a["y"], alpha=3, out=a["z"]), a["z"], out=a["f"]), None, "z"),
        ("dot", lambda a: ctx.dot(a["x"], a["y"], out=a["one"], **w), lambda a: torch.dot(a["x"], a["y"], out=a["f"]),
         lambda a: cupy.dot(a["x"], a["y"], a["f"]), None),
        ("argreduce", lambda a: ctx.argreduce(a["x"], "max", axis=0, out=(a["one"], a["at"]), **w),
         lambda a: torch.max(a["x"], 0, out=(a["f"], a["at"])), lambda a: cupy.argmax(a["x"], out=a["at"]), "at"),
        ("select_places", lambda a: ctx.select_places(a["b"], a["p"], kept=a["at"], **w), lambda a: torch.nonzero_static(a["b"], size=4096), None, None),
        ("empty of a stream", lambda a: ctx.empty(1 << 18, "f32", **w), lambda a: torch.empty(1 << 18, device="cuda"), lambda a: cupy.empty(1 << 18, "f4"), None),
    ]  # fmt: skip


def waiting(ctx):
    """The same for calls that wait for the device, or that enqueue nothing."""
    image = (128, 128)
    return [
        ("sum of 1,000", lambda a: ctx.reduce(a["s"]), lambda a: a["s"].sum().item(), lambda a: float(a["s"].sum()), None),
        ("argreduce, a number", lambda a: ctx.argreduce(a["x"], "max")[1], lambda a: a["x"].argmax().item(), lambda a: int(a["x"].argmax()), None),
        ("select", lambda a: ctx.select(a["x"], a["b"]), lambda a: a["x"][a["b"]], lambda a: a["x"][a["b"]], None),
        ("select_places, blocking", lambda a: ctx.select_places(a["b"]), lambda a: torch.nonzero(a["b"]), lambda a: cupy.flatnonzero(a["b"]), None),
        ("count", lambda a: ctx.count(a["b"]), lambda a: torch.count_nonzero(a["b"]).item(), lambda a: int(cupy.count_nonzero(a["b"])), None),
        ("map add, blocking", lambda a: ctx.map("add", a["x"], a["y"], a["z"]), lambda a: (torch.add(a["x"], a["y"], out=a["z"]), torch.cuda.synchronize()),
         lambda a: (cupy.add(a["x"], a["y"], a["z"]), cupy.cuda.runtime.deviceSynchronize()), "z"),
        ("resize, blocking", lambda a: ctx.resize(a["m"], image), lambda a: (torch.nn.functional.interpolate(a["m"][None, None], image, mode="bilinear"),
                                                                              torch.cuda.synchronize()), None, None),
        ("asarray", lambda a: ctx.asarray(a["x"]), lambda a: cupy.from_dlpack(a["x"]), lambda a: torch.from_dlpack(a["x"]), None),
        ("empty", lambda a: ctx.empty(1 << 18, "f32"), lambda a: torch.empty(1 << 18, device="cuda"), lambda a: cupy.empty(1 << 18, "f4"), None),
    ]  # fmt: skip


def on_host(x):
    return x.numpy() if hasattr(x, "numpy") and not torch.is_tensor(x) else x.cpu().numpy() if torch.is_tensor(x) else cupy.asnumpy(x)


def is_same(ours, theirs, own, other, result):
    """Compares the results of one call of each side."""
    found = []
    for call, a in (ours, own), (theirs, other):
        call(a)
        torch.cuda.synchronize()
        found.append(on_host(a[result]))
    return bool(np.allclose(*found, rtol=1e-5, atol=1e-3))


def sampled(sides, samples, calls):
    taken = [[] for _ in sides]
    for _ in range(samples + 1):
        for side, (call, a) in zip(taken, sides):
            begun = time.perf_counter_ns()
            for _ in range(calls):
                call(a)
            side.append((time.perf_counter_ns() - begun) / calls / 1e3)
            torch.cuda.synchronize()
    return [statistics.median(side[1:]) for side in taken]


def measure(rows, args, cases, arrays):
    samples, calls = (3, 50) if args.quick else (10, 200)
    for name, ours, of_torch, of_cupy, result in cases:
        for kind, peer in ("PyTorch", of_torch), ("CuPy", of_cupy), ("gpumem", of_torch):
            if peer is None or args.only not in name:
                continue
            own, other = arrays[kind], arrays["PyTorch" if kind == "gpumem" else kind]
            try:
                right = None if result is None else is_same(ours, peer, own, other, result)
                us, peer_us = sampled([(ours, own), (peer, other)], samples, calls)
            except Exception as error:  # another version of a library may lack a call
                print(f"{name:30} {kind:8} {type(error).__name__}: {error}")
                continue
            rows.append({"call": name, "arrays": kind, "us": round(us, 2), "peer_us": round(peer_us, 2), "ratio": round(peer_us / us, 2), "right": right})
            print(f"{name:30} {kind:8} {us:8.2f} us   peer {peer_us:8.2f} us   ratio {peer_us / us:5.2f}{'   WRONG' if right is False else ''}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    sys.path.insert(0, args.package)
    import gpumem

    rows, stream = [], torch.cuda.Stream()
    with gpumem.Context("cuda") as ctx:
        arrays = {"PyTorch": operands(lambda x: torch.from_numpy(x.copy()).cuda()), "CuPy": operands(cupy.asarray), "gpumem": operands(ctx.array)}
        for a in arrays.values():
            ctx.fill(a["one"], 3)
        arrays["PyTorch"]["f"].fill_(3)
        torch.cuda.synchronize()
        gc.disable()  # its pauses are not part of a call
        with torch.cuda.stream(stream), cupy.cuda.ExternalStream(stream.cuda_stream), ctx.Stream(stream) as s:
            measure(rows, args, enqueued(ctx, s), arrays)
        measure(rows, args, waiting(ctx), arrays)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cupy": cupy.__version__, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()

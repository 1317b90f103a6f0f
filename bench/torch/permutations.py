#!/usr/bin/env python3
"""Compares permutations of axes, and sums of rows and columns, with cuTENSOR's, on the same device and in the same run.

usage: permutations.py LIBGPUMEM LIBCUTENSOR [--out FILE.json] [--only REGEX] [--seed N] [--samples N] [--variants]

harness.py has the method of timing. --variants also times each variant that accepts a case. Rates count bytes read and bytes
written. Every result is compared with PyTorch's.
"""

import argparse
import ctypes
import json
import math
import random
import re
import statistics

import torch

from harness import CALLS, I32, I64, PTR, Library, timed

TYPES = {2: torch.float16, 4: torch.float32, 8: torch.float64, 16: torch.complex128}
CUDA_TYPES = {2: 2, 4: 0, 8: 1, 16: 5}
PERMUTE, TRANSPOSE = 10, 2
DTYPE = {2: 8, 4: 10, 8: 11}

# From models and codes: attention heads, images to channels last and back, volumes, spectral and chemistry tensors.
REAL = [
    (2, (8, 1024, 16, 64), (0, 2, 1, 3)), (2, (32, 128, 12, 64), (0, 2, 3, 1)), (2, (4, 2048, 32, 128), (0, 2, 1, 3)),
    (2, (1, 4096, 8, 128), (2, 0, 3, 1)), (2, (64, 3, 224, 224), (0, 2, 3, 1)), (2, (64, 56, 56, 256), (0, 3, 1, 2)),
    (2, (128, 50257), (1, 0)), (2, (4096, 11008), (1, 0)), (2, (364, 1708), (1, 0)), (2, (16, 8, 512, 64), (2, 0, 1, 3)),
    (4, (64, 3, 224, 224), (0, 2, 3, 1)), (4, (32, 224, 224, 3), (0, 3, 1, 2)), (4, (16, 256, 28, 28), (0, 2, 3, 1)),
    (4, (8, 12, 512, 64), (0, 2, 1, 3)), (4, (1000, 1000), (1, 0)), (4, (38, 122, 100), (2, 1, 0)),
    (4, (768, 3072), (1, 0)), (4, (100000, 19), (1, 0)), (4, (19, 128, 128, 128), (1, 2, 3, 0)), (4, (365, 180, 360), (1, 2, 0)),
    (4, (256, 256, 256), (1, 0, 2)), (4, (2048, 33, 64), (0, 2, 1)), (4, (512, 9, 512), (1, 0, 2)),
    (8, (128, 128, 128), (2, 1, 0)), (8, (256, 256, 256), (1, 2, 0)), (8, (20, 20, 120, 120), (3, 0, 2, 1)),
    (8, (5, 192, 192, 192), (1, 2, 3, 0)), (8, (64, 64, 64, 6), (3, 0, 1, 2)), (8, (40, 40, 40, 40), (2, 3, 0, 1)),
    (8, (16, 16, 16, 16, 16), (4, 3, 2, 1, 0)),
    (16, (128, 128, 128), (1, 2, 0)), (16, (8, 12, 10, 14, 6), (2, 0, 4, 1, 3)), (16, (512, 512, 16), (2, 0, 1)),
]
THREE = ((128, 128, 128), (100, 200, 300), (1000, 40, 500), (64, 7, 70000), (400, 384, 368))
SUMS = ((1 << 14, 1 << 12), (100000, 100), (12, 5000000), (1000, 1000), (365, 64800), (1 << 20, 64))


class Cutensor:
    def __init__(self, path):
        self.lib, self.handle = ctypes.CDLL(path), PTR()
        self.check(self.lib.cutensorCreate(ctypes.byref(self.handle)))

    def check(self, status):
        if status != 0:
            self.lib.cutensorGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(self.lib.cutensorGetErrorString(status).decode())

    def tensor(self, extents, size):
        made = PTR()
        self.check(self.lib.cutensorCreateTensorDescriptor(self.handle, ctypes.byref(made), I32(len(extents)),
                                                           (I64 * len(extents))(*extents), (I64 * len(extents))(*strides(extents)),
                                                           I32(CUDA_TYPES[size]), I32(256)))
        return made

    def compute(self, size):
        return PTR.in_dll(self.lib, "CUTENSOR_COMPUTE_DESC_" + ("64F" if size >= 8 else "32F"))

    def plan(self, operation, workspace=0):
        preference, plan = PTR(), PTR()
        self.check(self.lib.cutensorCreatePlanPreference(self.handle, ctypes.byref(preference), I32(-1), I32(0)))
        self.check(self.lib.cutensorCreatePlan(self.handle, ctypes.byref(plan), operation, preference, ctypes.c_uint64(workspace)))
        return plan

    def permute(self, size, extents, order, src, dst, stream):
        modes, operation = list(range(len(extents))), PTR()
        array = lambda values: (I32 * len(values))(*values)
        self.check(self.lib.cutensorCreatePermutation(
            self.handle, ctypes.byref(operation), self.tensor(extents, size), array(modes), I32(1),
            self.tensor([extents[d] for d in order], size), array(order), self.compute(size)))
        plan, one = self.plan(operation), scalar(size)
        return lambda: self.check(self.lib.cutensorPermute(self.handle, plan, ctypes.byref(one), PTR(src.data_ptr()),
                                                           PTR(dst.data_ptr()), PTR(stream)))

    def sums(self, size, extents, axis, src, dst, stream):
        operation, array = PTR(), lambda values: (I32 * len(values))(*values)
        kept = self.tensor([extents[1 - axis]], size)
        self.check(self.lib.cutensorCreateReduction(
            self.handle, ctypes.byref(operation), self.tensor(extents, size), array([0, 1]), I32(1), kept, array([1 - axis]), I32(1),
            kept, array([1 - axis]), I32(3), self.compute(size)))
        room = torch.empty(1 << 24, dtype=torch.uint8, device="cuda")
        plan, one, zero = self.plan(operation, room.numel()), scalar(size), scalar(size, 0)
        return lambda: self.check(self.lib.cutensorReduce(
            self.handle, plan, ctypes.byref(one), PTR(src.data_ptr()), ctypes.byref(zero), PTR(dst.data_ptr()),
            PTR(dst.data_ptr()), PTR(room.data_ptr()), ctypes.c_uint64(room.numel()), PTR(stream)))


def strides(extents):
    return [math.prod(extents[d + 1:]) for d in range(len(extents))]


def scalar(size, value=1):
    return (ctypes.c_double * 2)(value, 0) if size >= 8 else ctypes.c_float(value)


def fused(extents, order):
    """The permutation without axes of one element, and with neighbours of both sides as one axis."""
    groups = []
    for axis in (d for d in order if extents[d] > 1):
        if groups and axis == groups[-1][-1] + 1:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    by_source = sorted(groups)
    return [math.prod(extents[d] for d in g) for g in by_source], [by_source.index(g) for g in groups]


class Run:
    def __init__(self, options):
        self.library = Library(options.library, {
            "permute_async": [PTR, I64, I32, PTR, PTR, PTR, PTR, PTR, PTR, PTR],
            "transpose_batched_async": [PTR, I64, I64, I64, PTR, I64, I64, PTR, I64, I64, I64, PTR],
            "reduce_axes_async": [PTR, I32, I32, I32, PTR, PTR, PTR, I32, PTR, I32, PTR, PTR],
            "variant_count": [I32, PTR], "variant_name": [I32, I32, PTR], "variant_force": [PTR, I32, ctypes.c_char_p]})
        self.peer, self.options, self.rows = Cutensor(options.cutensor), options, []

    def names(self, family):
        count, name = I32(), ctypes.c_char_p()
        self.library.check(self.library.lib.gpumem_variant_count(family, ctypes.byref(count)))
        for i in range(count.value):
            self.library.check(self.library.lib.gpumem_variant_name(family, i, ctypes.byref(name)))
            if not name.value.startswith((b"host", b"in_place")):
                yield name.value

    def each_variant(self, family, call, times):
        """The time of every variant that accepts the call, by name."""
        for name in self.names(family):
            self.library.call("variant_force", family, name)
            try:
                call()
                times[name.decode()] = round(timed(self.library.stream, [call], 2)[0], 2)
            except RuntimeError:
                pass
            self.library.call("variant_force", family, None)

    def case(self, kind, name, nbytes, own, other, good, variants):
        times = timed(self.library.stream, [own, other], self.options.samples)
        torch.cuda.synchronize()
        row = {"set": kind, "case": name, "us": round(times[0], 2), "gbs": round(nbytes / times[0] / 1e3, 1),
               "peer_us": round(times[1], 2), "ratio": round(times[1] / times[0], 3), "right": good()}
        if self.options.variants:
            row["variants"] = {}
            variants(row["variants"])
        self.rows.append(row)
        print(f"{name:44} {row['us']:9.2f} us {row['gbs']:7.0f} GB/s  cuTENSOR {row['ratio']:6.2f} "
              f"{'' if row['right'] else 'WRONG'} {row.get('variants', '')}", flush=True)

    def permute(self, kind, size, extents, order):
        name = f"permute/{size}B/{'x'.join(map(str, extents))}/{''.join(map(str, order))}"
        if self.options.only and not re.search(self.options.only, name):
            return
        src = torch.randn(math.prod(extents) * max(1, size // 8), device="cuda").to(TYPES[min(size, 8)])
        src = (src.view(torch.complex128) if size == 16 else src).view(extents)
        dst = torch.zeros([extents[d] for d in order], dtype=src.dtype, device="cuda")
        sides, axes = (I64 * len(extents))(*extents), (I32 * len(extents))(*order)
        own = lambda: self.library.call("permute_async", size, len(extents), sides, axes, src.data_ptr(), None, dst.data_ptr(),
                                        None, self.library.wrapped)
        torch.cuda.synchronize()

        def variants(times):
            self.each_variant(PERMUTE, own, times)
            kept, moved = fused(extents, order)
            if moved not in ([1, 0], [0, 2, 1]):
                return
            batches, rows, cols = [1] * (3 - len(kept)) + kept
            self.each_variant(TRANSPOSE, lambda: self.library.call(
                "transpose_batched_async", size, rows, cols, src.data_ptr(), cols, rows * cols, dst.data_ptr(), rows, rows * cols,
                batches, self.library.wrapped), times)

        other = self.peer.permute(size, extents, order, src, dst, self.library.stream.cuda_stream)
        self.case(kind, name, 2 * src.numel() * size, own, other, lambda: torch.equal(dst, src.permute(order).contiguous()), variants)

    def sums(self, size, extents, axis):
        name = f"{'rows' if axis == 1 else 'columns'}/{size}B/{'x'.join(map(str, extents))}"
        if self.options.only and not re.search(self.options.only, name):
            return
        src = torch.rand(extents, device="cuda").to(TYPES[size])
        mine, dst = (torch.zeros(extents[1 - axis], dtype=src.dtype, device="cuda") for _ in range(2))
        sides = (I64 * 2)(*extents)
        torch.cuda.synchronize()
        own = lambda: self.library.call("reduce_axes_async", DTYPE[size], 0, 2, sides, src.data_ptr(), None, 1 << axis,
                                        mine.data_ptr(), DTYPE[size], None, self.library.wrapped)
        other = self.peer.sums(size, extents, axis, src, dst, self.library.stream.cuda_stream)
        near = lambda: torch.allclose(mine, src.double().sum(axis).to(src.dtype), rtol=2 * torch.finfo(src.dtype).eps)
        self.case("sums of rows and columns", name, src.numel() * size, own, other, near, lambda times: None)


def random_permutations(run, kind, count, seed):
    """1 to 400 MB, most of it in the range that L2 holds."""
    chosen = random.Random(seed)
    for _ in range(count):
        size, rank = chosen.choice((2, 4, 8, 16)), chosen.randint(2, 6)
        total = 10 ** chosen.uniform(6, 8.6) / size
        cuts = [chosen.uniform(0.3, 1.7) for _ in range(rank)]
        extents = tuple(max(2, round(total ** (c / sum(cuts)))) for c in cuts)
        order = list(range(rank))
        while order == sorted(order):
            chosen.shuffle(order)
        run.permute(kind, size, extents, tuple(order))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("cutensor")
    parser.add_argument("--out")
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--variants", action="store_true")
    run = Run(parser.parse_args())
    for size, extents, order in REAL:
        run.permute("models and codes", size, extents, order)
    for size in (4, 8, 16):
        for extents in THREE:
            for order in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
                run.permute("three axes", size, extents, order)
    random_permutations(run, "random", 60, run.options.seed)
    for size in (2, 4, 8):
        for extents in SUMS:
            for axis in (0, 1):
                run.sums(size, extents, axis)
    for kind in dict.fromkeys(row["set"] for row in run.rows):
        ratios = [row["ratio"] for row in run.rows if row["set"] == kind]
        print(f"{kind}: {len(ratios)} cases, mean {statistics.mean(ratios):.2f}, below 0.95 {sum(r < 0.95 for r in ratios)}, "
              f"least {min(ratios):.2f}")
    if run.options.out:
        with open(run.options.out, "w") as out:
            json.dump({"program": f"permutations.py, PyTorch {torch.__version__}", "device": torch.cuda.get_device_name(),
                       "peer": "cuTENSOR", "calls": CALLS, "rows": run.rows}, out, indent=0)


if __name__ == "__main__":
    main()

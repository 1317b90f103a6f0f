#!/usr/bin/env python3
"""Compares reductions, scans and sorts of many lines, and reductions by index, with PyTorch's, on the same device and in the same run.

usage: lines.py LIBGPUMEM [--out FILE.json] [--only REGEX] [--quick]

harness.py has the method of timing. There are nine samples. Rates count the bytes of x once, and the offsets of segments or the
index. Every result is compared with PyTorch's. "ordered" is index_add_ with torch.use_deterministic_algorithms.
"""

import argparse
import ctypes
import json
import math
import re

import torch

from harness import CALLS, I32, I64, PTR, Library, timed

DTYPES = {"i8": (0, torch.int8), "i32": (4, torch.int32), "i64": (6, torch.int64), "f16": (8, torch.float16),
          "bf16": (9, torch.bfloat16), "f32": (10, torch.float32), "f64": (11, torch.float64)}
OPS = {"sum": 0, "max": 2, "sum_squares": 4}


class Lines(Library):
    def __init__(self, path):
        super().__init__(path, {"reduce_axis_async": [PTR, I32, I32, I32, PTR, I64, I64, I64, I64, I64, PTR, PTR, PTR],
                                "argreduce_axis_async": [PTR, I32, I32, I32, PTR, I64, I64, I64, I64, I64, PTR, PTR, PTR, PTR],
                                "reduce_axes_async": [PTR, I32, I32, I32, PTR, PTR, PTR, I32, PTR, I32, PTR, PTR],
                                "reduce_segments_async": [PTR, I32, I32, PTR, I64, PTR, I64, PTR, PTR, PTR],
                                "reduce_by_index_async": [PTR, I32, I32, PTR, I32, PTR, I64, PTR, I64, PTR, PTR],
                                "reduce_rows_by_index_async": [PTR, I32, I32, PTR, I64, I64, I64, I32, PTR, PTR, I64, PTR, PTR],
                                "scan_axis_async": [PTR, I32, I32, I32, I32, PTR, I32, PTR, PTR, PTR, PTR, I32, PTR, PTR],
                                "sort_segments_async": [PTR, I32, PTR, I64, PTR, I64, I32, PTR, PTR, I32, PTR, PTR]})

    def axis(self, dtype, op, axis, x, rows, cols, ld, batches, batch_stride, result):
        self.call("reduce_axis_async", DTYPES[dtype][0], OPS[op], axis, x.data_ptr(), rows, cols, ld, batches, batch_stride,
                  result.data_ptr(), None, self.wrapped)

    def search(self, dtype, axis, x, rows, cols, batches, value, index):
        self.call("argreduce_axis_async", DTYPES[dtype][0], OPS["max"], axis, x.data_ptr(), rows, cols, cols, batches, rows * cols,
                  value.data_ptr(), index.data_ptr(), None, self.wrapped)

    def segments(self, dtype, op, x, offsets, result):
        self.call("reduce_segments_async", DTYPES[dtype][0], OPS[op], x.data_ptr(), x.numel(), offsets.data_ptr(),
                  offsets.numel() - 1, result.data_ptr(), None, self.wrapped)


    def by_index(self, dtype, op, x, index, result):
        self.call("reduce_by_index_async", DTYPES[dtype][0], OPS[op], x if x is None else x.data_ptr(), 6, index.data_ptr(),
                  index.numel(), result.data_ptr(), result.numel(), None, self.wrapped)


def made(dtype, elements):
    torch_type = DTYPES[dtype][1]
    if torch_type.is_floating_point:
        return (torch.rand(elements, device="cuda", dtype=torch.float32) - 0.25).to(torch_type)
    info = 100 if dtype == "i8" else 1000000
    return torch.randint(-info, info, (elements,), device="cuda", dtype=torch_type)


def peer(dtype, op, x, dim):
    """The call that a user of PyTorch would write."""
    if op == "sum":
        return lambda: torch.sum(x, dim)
    if op == "max":
        return lambda: torch.amax(x, dim)
    if x.is_floating_point():
        return lambda: torch.linalg.vector_norm(x, 2, dim)
    return lambda: torch.sum(x * x, dim)


def expected(op, x, dim):
    wide = x.double() if x.is_floating_point() else x.long()
    return {"sum": lambda: wide.sum(dim), "max": lambda: wide.amax(dim), "sum_squares": lambda: (wide * wide).sum(dim)}[op]()


class Run:
    def __init__(self, library, samples, only):
        self.library, self.samples, self.only, self.rows = library, samples, only, []

    def report(self, name, dtype, op, nbytes, own, other, good):
        row = {"case": name, "dtype": dtype, "op": op, "us": round(own, 2), "gbs": round(nbytes / own / 1e3, 1),
               "peer_us": None if other is None else round(other, 2),
               "ratio": None if other is None else round(other / own, 3), "right": good}
        self.rows.append(row)
        print(f"{name:34} {dtype:5} {op:12} {row['us']:10.2f} us {row['gbs']:8.1f} GB/s  ratio {row['ratio']}"
              f"{'' if good else '  WRONG'}", flush=True)

    def axis(self, name, dtype, op, axis, rows, cols, batches=1, ld=None, shift=0):
        if self.only and not re.search(self.only, name):
            return
        ld = ld or cols
        store = made(dtype, shift + batches * rows * ld)
        x = store[shift:shift + batches * rows * ld].view(batches, rows, ld)[:, :, :cols]
        dim = 2 if axis == 0 else 1
        torch.cuda.synchronize()  # the next tensor may reuse the memory of x's source
        result = torch.empty(batches * (rows if axis == 0 else cols), device="cuda", dtype=torch.float64
                             if x.is_floating_point() else torch.int64)
        own = lambda: self.library.axis(dtype, op, axis, x, rows, cols, ld, batches, rows * ld, result)
        other = peer(dtype, op, x, dim)
        times = timed(self.library.stream, [own, other], self.samples)
        chunk = x[:max(1, min(batches, (1 << 26) // max(1, rows * cols)))]
        want = expected(op, chunk, dim).reshape(-1)
        got = result[:want.numel()].to(want.dtype)
        good = torch.allclose(got, want, rtol=1e-9, atol=1e-9)
        self.report(name, dtype, op, batches * rows * cols * x.element_size(), times[0], times[1], good)

    def axes(self, name, dtype, shape, axes):
        """Sums of floating-point types over several axes, with results of the type of x."""
        if self.only and not re.search(self.only, name):
            return
        x = made(dtype, math.prod(shape)).view(shape)
        want = x.double().sum(axes).to(x.dtype)
        torch.cuda.synchronize()
        code, extents, result = DTYPES[dtype][0], (ctypes.c_int64 * len(shape))(*shape), torch.empty_like(want)
        own = lambda: self.library.call("reduce_axes_async", code, 0, len(shape), extents, x.data_ptr(), None,
                                        sum(1 << axis for axis in axes), result.data_ptr(), code, None, self.library.wrapped)
        times = timed(self.library.stream, [own, lambda: torch.sum(x, axes)], self.samples)
        good = torch.allclose(result, want, rtol=2 * torch.finfo(x.dtype).eps)
        self.report(name, dtype, "sum", x.numel() * x.element_size(), times[0], times[1], good)

    def search(self, name, dtype, axis, rows, cols, batches=1):
        """The maxima and their places. torch.max(x, dim) returns both, the values in the type of x."""
        if self.only and not re.search(self.only, name):
            return
        x = made(dtype, batches * rows * cols).view(batches, rows, cols)
        dim = 2 if axis == 0 else 1
        torch.cuda.synchronize()
        lines = batches * (rows if axis == 0 else cols)
        value = torch.empty(lines, device="cuda", dtype=torch.float64 if x.is_floating_point() else torch.int64)
        index = torch.empty(lines, device="cuda", dtype=torch.int64)
        own = lambda: self.library.search(dtype, axis, x, rows, cols, batches, value, index)
        times = timed(self.library.stream, [own, lambda: torch.max(x, dim)], self.samples)
        # PyTorch may return any place of equal elements.
        at = torch.take_along_dim(x, index.view(batches, -1).unsqueeze(dim), dim).reshape(-1)
        good = torch.equal(at.to(value.dtype), value) and torch.equal(torch.amax(x, dim).reshape(-1).to(value.dtype), value)
        self.report(name, dtype, "argmax", x.numel() * x.element_size(), times[0], times[1], good)

    def segments(self, name, dtype, op, lengths):
        if self.only and not re.search(self.only, name):
            return
        offsets = torch.zeros(lengths.numel() + 1, dtype=torch.int64, device="cuda")
        offsets[1:] = torch.cumsum(lengths.cuda(), 0)
        n = int(offsets[-1])
        x = made(dtype, n)
        torch.cuda.synchronize()
        result = torch.empty(lengths.numel(), device="cuda", dtype=torch.float64 if x.is_floating_point() else torch.int64)
        own = lambda: self.library.segments(dtype, op, x, offsets, result)
        other = (lambda: torch.segment_reduce(x, op, offsets=offsets)) if x.is_floating_point() else None
        times = timed(self.library.stream, [own] + ([other] if other else []), self.samples)
        wide = torch.zeros(n + 1, dtype=torch.float64 if x.is_floating_point() else torch.int64, device="cuda")
        wide[1:] = torch.cumsum(x.double() if x.is_floating_point() else x.long(), 0)
        want = wide[offsets[1:]] - wide[offsets[:-1]]
        good = torch.allclose(result.to(want.dtype), want, rtol=1e-6, atol=1e-5)
        self.report(name, dtype, op, n * x.element_size() + 8 * offsets.numel(), times[0], times[1] if other else None, good)


    def by_index(self, name, dtype, n, bins, way):
        """way: counts, atomics or ordered."""
        if self.only and not re.search(self.only, name):
            return
        index = torch.randint(0, bins, (n,), device="cuda")
        x = None if way == "counts" else made(dtype, n)
        torch.cuda.synchronize()
        floating = x is not None and x.is_floating_point()
        result = torch.empty(bins, device="cuda", dtype=torch.float64 if floating else torch.int64)
        own = lambda: self.library.by_index(dtype, "sum", x, index, result)
        if x is None:
            other = lambda: torch.bincount(index, minlength=bins)
            want = other()
        else:
            sums = torch.zeros(bins, device="cuda", dtype=x.dtype)
            other = lambda: sums.zero_().index_add_(0, index, x)
            want = torch.zeros(bins, device="cuda", dtype=result.dtype).index_add_(0, index, x.to(result.dtype))
        torch.use_deterministic_algorithms(way == "ordered")
        times = timed(self.library.stream, [own, other], self.samples, captured=x is not None)
        torch.use_deterministic_algorithms(False)
        good = torch.allclose(result, want, rtol=1e-6, atol=1e-5)
        self.report(name, dtype, way, n * (8 + (0 if x is None else x.element_size())), times[0], times[1], good)


    def rows_by_index(self, name, dtype, n, cols, bins, way):
        """way: atomics or ordered."""
        if self.only and not re.search(self.only, name):
            return
        index = torch.randint(0, bins, (n,), device="cuda")
        x = made(dtype, n * cols).view(n, cols)
        wide = torch.float64 if x.is_floating_point() else torch.int64
        result = torch.empty(bins, cols, device="cuda", dtype=wide)
        sums = torch.zeros(bins, cols, device="cuda", dtype=x.dtype)
        torch.cuda.synchronize()
        own = lambda: self.library.call("reduce_rows_by_index_async", DTYPES[dtype][0], 0, x.data_ptr(), n, cols, cols, 6,
                                        index.data_ptr(), result.data_ptr(), bins, None, self.library.wrapped)
        want = torch.zeros_like(result).index_add_(0, index, x.to(wide))
        torch.use_deterministic_algorithms(way == "ordered")
        times = timed(self.library.stream, [own, lambda: sums.zero_().index_add_(0, index, x)], self.samples)
        torch.use_deterministic_algorithms(False)
        good = torch.allclose(result, want, rtol=1e-6, atol=1e-5)
        self.report(name, dtype, way, x.numel() * x.element_size() + 8 * n, times[0], times[1], good)

    def scan(self, name, dtype, shape, axis):
        """Running sums with results of the type of x. Those of PyTorch may round after each addition."""
        if self.only and not re.search(self.only, name):
            return
        x = made(dtype, math.prod(shape)).view(shape)
        want = torch.cumsum(x.double() if x.is_floating_point() else x.long(), axis).to(x.dtype)
        result = torch.empty_like(x)
        torch.cuda.synchronize()
        code, extents = DTYPES[dtype][0], (ctypes.c_int64 * len(shape))(*shape)
        own = lambda: self.library.call("scan_axis_async", code, 0, 0, len(shape), extents, axis, x.data_ptr(), None,
                                        result.data_ptr(), None, code, None, self.library.wrapped)
        times = timed(self.library.stream, [own, lambda: torch.cumsum(x, axis, dtype=x.dtype)], self.samples)
        good = torch.allclose(result, want, rtol=1e-5) if x.is_floating_point() else torch.equal(result, want)
        self.report(name, dtype, "sum", 2 * x.numel() * x.element_size(), times[0], times[1], good)

    def sort(self, name, dtype, segments, length):
        """Sorted keys and their positions. torch.sort(dim) is a call that waits for the device."""
        if self.only and not re.search(self.only, name):
            return
        x = made(dtype, segments * length)
        offsets = torch.arange(0, x.numel() + 1, length, device="cuda")
        result, order = torch.empty_like(x), torch.empty(x.numel(), device="cuda", dtype=torch.int64)
        torch.cuda.synchronize()
        own = lambda: self.library.call("sort_segments_async", DTYPES[dtype][0], x.data_ptr(), x.numel(), offsets.data_ptr(),
                                        segments, 0, result.data_ptr(), order.data_ptr(), 6, None, self.library.wrapped)
        rows = x.view(segments, length)
        times = timed(self.library.stream, [own, lambda: torch.sort(rows, dim=1, stable=True)], self.samples, captured=False)
        values, places = torch.sort(rows, dim=1, stable=True)
        places = (places + length * torch.arange(segments, device="cuda").unsqueeze(1)).reshape(-1)
        good = torch.equal(result, values.reshape(-1)) and torch.equal(order, places)
        self.report(name, dtype, "sort", 2 * x.numel() * (x.element_size() + 4), times[0], times[1], good)


def compare_other_lines(run):
    """Scans, sorts, and reductions of rows by index."""
    for dtype in ("f32", "f64", "i32"):
        for n, cols, bins in ((1 << 20, 32, 10000), (1 << 17, 128, 1 << 17), (1 << 22, 3, 100000), (1 << 20, 16, 100)):
            for way in ("atomics", "ordered"):
                run.rows_by_index(f"rows by index {n}x{cols} in {bins}", dtype, n, cols, bins, way)
        for shape, axis in (((1 << 20, 64), 1), ((65536, 1024), 1), ((1024, 65536), 0), ((64, 1 << 20), 1), ((256, 40, 6400), 1),
                            ((1000, 1000), 0), ((1000, 1000), 1)):
            run.scan(f"scan {'x'.join(map(str, shape))} along axis {axis}", dtype, shape, axis)
        for segments, length in ((1 << 20, 16), (100000, 100), (1000, 1000), (1 << 14, 1024), (64, 1 << 18)):
            run.sort(f"sort {segments} segments of {length}", dtype, segments, length)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--out")
    parser.add_argument("--only", help="only cases whose names match this regular expression")
    parser.add_argument("--quick", action="store_true", help="fewer types, operations and samples")
    options = parser.parse_args()
    run = Run(Lines(options.library), 5 if options.quick else 9, options.only)
    elements = 1 << 27
    kinds = [("f32", "sum"), ("f16", "sum"), ("i8", "sum"), ("f32", "max")]
    if not options.quick:
        kinds = [(d, o) for d in ("f64", "f32", "f16", "bf16", "i32", "i8") for o in OPS]
    for dtype, op in kinds:
        for cols in (8, 32, 64, 100, 128, 129, 200, 256, 384, 512, 768, 1000, 1024, 2048, 4096, 50257):
            run.axis(f"rows of {cols}", dtype, op, 0, elements // cols, cols)
        for cols in (32, 64, 129, 512, 1024, 4096):
            run.axis(f"columns, {cols} wide", dtype, op, 1, elements // cols, cols)
    for dtype in ("f32", "f16") if options.quick else ("f64", "f32", "f16", "bf16", "i32", "i8"):
        for cols in (8, 10, 32, 100, 256, 1000, 1024, 4096, 50257):
            run.search(f"search rows of {cols}", dtype, 0, elements // cols, cols)
        for cols in (32, 129, 512, 4096):
            run.search(f"search columns, {cols} wide", dtype, 1, elements // cols, cols)
        for batches, rows, cols in ((16, 21, 262144), (8, 150, 65536), (20000, 200, 3), (1024, 128, 128)):
            run.search(f"search columns {batches}x{rows}x{cols}", dtype, 1, rows, cols, batches)
        for rows, cols in ((64, 64), (1, 1048576), (1000, 1000)):
            for axis in (0, 1):
                run.search(f"search small {'rows' if axis == 0 else 'columns'} {rows}x{cols}", dtype, axis, rows, cols)
    for dtype in ("f32", "f16"):
        for name, shape, axes in (("time, longitude", (512, 512, 512), (0, 2)), ("channels of NCHW", (32, 64, 256, 256), (0, 2, 3)),
                                  ("channels of NHWC", (32, 256, 256, 64), (0, 1, 2)), ("pixels of NHWC", (32, 256, 256, 64), (1, 2))):
            run.axes(f"axes: {name}", dtype, shape, axes)
    for dtype in ("f32", "f16"):
        for cols in (100, 128, 256, 1000):
            run.axis(f"rows of {cols}, misaligned", dtype, "sum", 0, elements // cols, cols, shift=1)
            run.axis(f"rows of {cols}, padded", dtype, "sum", 0, elements // cols, cols, ld=cols + 28)
        for batches, rows, cols in ((100000, 4, 8), (4096, 16, 64), (1024, 128, 128), (1000, 500, 30), (20000, 200, 3)):
            for axis in (0, 1):
                run.axis(f"batches {'rows' if axis == 0 else 'columns'} {batches}x{rows}x{cols}", dtype, "sum", axis, rows,
                         cols, batches)
        for rows, cols in ((64, 64), (256, 256), (64, 4096), (4096, 64), (4, 262144), (1, 1048576), (1000, 1000)):
            for axis in (0, 1):
                run.axis(f"small {'rows' if axis == 0 else 'columns'} {rows}x{cols}", dtype, "sum", axis, rows, cols)
    torch.manual_seed(1)
    run.segments("segments 524288 of 0..299", "f32", "sum", torch.randint(0, 300, (524288,)))
    run.segments("segments 10 of 2^26", "f32", "sum", torch.randint(1 << 22, 1 << 23, (10,)))
    run.segments("segments 100000 of 2^26", "f32", "sum", torch.randint(0, 1342, (100000,)))
    run.segments("segments 3 million of 2^25", "f64", "sum", torch.randint(0, 23, (3000000,)))
    run.segments("segments 20 million of 2^26", "i32", "sum", torch.randint(0, 7, (20000000,)))
    huge = torch.randint(0, 64, (200000,))
    huge[1234] = 1 << 26
    run.segments("segments one huge", "f32", "sum", huge)
    for n in (1 << 20, 1 << 24, 1 << 27):
        for bins in (16, 256, 10000, 1 << 20, 1 << 24):
            if bins > n:
                continue
            run.by_index(f"by index {n} in {bins}", "i64", n, bins, "counts")
            for dtype in ("f32",) if options.quick else ("f32", "f64", "i32"):
                for way in ("atomics", "ordered"):
                    run.by_index(f"by index {n} in {bins}", dtype, n, bins, way)
    compare_other_lines(run)
    if options.out:
        with open(options.out, "w") as out:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "calls": CALLS, "rows": run.rows}, out,
                      indent=0)


if __name__ == "__main__":
    main()

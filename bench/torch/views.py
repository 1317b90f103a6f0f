#!/usr/bin/env python3
"""Compares sums of views with the sum of as many contiguous elements, and with the sum of the sliced array by PyTorch or NumPy.

usage: views.py LIBGPUMEM [--host] [--out FILE.json] [--only REGEX] [--quick]

On the device, harness.py has the method of timing, and the baseline is torch.sum. With --host, the calls are blocking, the
baseline is numpy.sum, and the clock is the host's. Rates count the elements of the view once. Each result is compared with
the result of a copy without padding, which must have the same bits.
"""

import argparse
import ctypes
import json
import re
import statistics
import time

F32, F64 = 10, 11
SUM = 0


def strides_of(whole):
    return [whole[1] * whole[2], whole[2], 1]


SHAPES = [("interior of 512^3", (510, 510, 510), (512, 512, 512)), ("interior of 64^3", (62, 62, 62), (64, 64, 64)),
          ("interior of 128^3", (126, 126, 126), (128, 128, 128)), ("rows of 1000 in 1024", (1, 131072, 1000), (1, 131072, 1024)),
          ("rows of 30 in 32", (1, 1 << 22, 30), (1, 1 << 22, 32)), ("interior of 8194^2", (1, 8192, 8192), (1, 8194, 8194))]


def offset_of(extents, whole):
    """Of the first element of the view, which is in the middle of the array."""
    return sum((w - e) // 2 * s for e, w, s in zip(extents, whole, strides_of(whole)))


def vector(numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


def report(rows, name, dtype, size, own, contiguous, other, right):
    row = {"case": name, "dtype": dtype, "us": round(own, 2), "gbs": round(size / own / 1e3, 1),
           "of_contiguous": round(contiguous / own, 3), "ratio": round(other / own, 3), "right": right}
    rows.append(row)
    print(f"{name:24} {dtype} {row['us']:10.2f} us {row['gbs']:8.1f} GB/s  of contiguous {row['of_contiguous']:6.3f}  "
          f"baseline {row['ratio']:6.2f}{'' if right else '  WRONG'}", flush=True)


def on_device(args, rows):
    import torch

    from harness import I32, I64, PTR, Library, timed
    library = Library(args.library, {"reduce_view_async": [PTR, I32, I32, I32, PTR, PTR, PTR, PTR, PTR, PTR],
                                     "reduce_async": [PTR, I32, I32, PTR, I64, I64, PTR, PTR, PTR]})
    for name, extents, whole in chosen(args):
        for code, dtype, kind in ((F32, "f32", torch.float32), (F64, "f64", torch.float64)):
            store = torch.rand(whole[0] * whole[1] * whole[2], device="cuda", dtype=kind)
            view = store.as_strided(extents, strides_of(whole), offset_of(extents, whole))
            packed = view.contiguous().view(-1)
            results = torch.zeros(2, device="cuda", dtype=torch.float64)
            e, s = vector(extents), vector(strides_of(whole))

            def own(view=view, code=code, results=results, e=e, s=s):
                library.call("reduce_view_async", code, SUM, 3, e, view.data_ptr(), s, results.data_ptr(), None, library.wrapped)

            def contiguous(packed=packed, code=code, results=results):
                library.call("reduce_async", code, SUM, packed.data_ptr(), packed.numel(), 1, results.data_ptr() + 8, None, library.wrapped)

            torch.cuda.synchronize()
            taken = timed(library.stream, [own, contiguous, lambda view=view: torch.sum(view)], 5 if args.quick else 9)
            torch.cuda.synchronize()
            report(rows, name, dtype, view.numel() * view.element_size(), *taken, bool(results[0] == results[1]))


def on_host(args, rows):
    import numpy
    library = ctypes.CDLL(args.library)
    options = (ctypes.c_char * 4096)()
    ctx = ctypes.c_void_p()
    library.gpumem_ctx_options_init(options, ctypes.c_int64(ctypes.sizeof(options)))
    ctypes.cast(ctypes.byref(options, 8), ctypes.POINTER(ctypes.c_int32))[0] = -1  # GPUMEM_DEVICE_HOST
    if library.gpumem_ctx_create(options, ctypes.byref(ctx)) != 0:
        raise SystemExit("no context on the host")

    def clocked(call):
        call()
        times = []
        for _ in range(5 if args.quick else 15):
            start = time.perf_counter()
            call()
            times.append(1e6 * (time.perf_counter() - start))
        return statistics.median(times)

    for name, extents, whole in chosen(args):
        for code, dtype in ((F32, "f4"), (F64, "f8")):
            store = numpy.random.default_rng(1).random(whole[0] * whole[1] * whole[2]).astype(dtype)
            size = store.itemsize
            view = numpy.lib.stride_tricks.as_strided(store[offset_of(extents, whole):], extents, [size * s for s in strides_of(whole)])
            packed = numpy.ascontiguousarray(view)
            results = (ctypes.c_double * 2)()
            e, s = vector(extents), vector(strides_of(whole))
            own = lambda: library.gpumem_reduce_view(ctx, code, SUM, 3, e, ctypes.c_void_p(view.ctypes.data), s, results)
            contiguous = lambda: library.gpumem_reduce(ctx, code, SUM, ctypes.c_void_p(packed.ctypes.data), ctypes.c_int64(packed.size),
                                                       ctypes.c_int64(1), ctypes.byref(results, 8))
            taken = [clocked(call) for call in (own, contiguous, view.sum)]
            report(rows, name, dtype, view.size * size, *taken, results[0] == results[1])


def chosen(args):
    return [shape for shape in SHAPES if not args.only or re.search(args.only, shape[0])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--only")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    rows = []
    (on_host if args.host else on_device)(args, rows)
    if args.out:
        with open(args.out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()

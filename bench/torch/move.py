#!/usr/bin/env python3
"""Compares movement, conversions and sums over views in device memory with PyTorch's, and with a plain copy of the same bytes.

All are on the same device and in the same run.

usage: move.py LIBGPUMEM [--out FILE.json] [--only WORD] [--quick] [--seed N]

harness.py has the method of timing. The plain copy is gpumem_copy_async of as many aligned bytes. Rates count bytes read and
bytes written. For a gather or scatter, they also count the index once. Every result is compared with PyTorch's.
"""

import argparse
import ctypes
import datetime
import json
import os
import random
import statistics
import subprocess

import torch

from harness import CALLS, I32, I64, PTR, Library, timed

TYPES = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
MIB = 1 << 20
# By gpumem_dtype. Types without copy kernels in PyTorch, or with other values than ours, are only compared with a plain
# copy.
DTYPES = {"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "u16": None, "i32": torch.int32, "u32": None, "i64": torch.int64,
          "u64": None, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
STORED = {"u16": torch.int16, "u32": torch.int32, "u64": torch.int64}
SIGNATURES = {
    "copy_async": [PTR, PTR, PTR, I64, PTR],
    "copy_2d_async": [PTR, PTR, I64, PTR, I64, I64, I64, PTR],
    "transpose_batched_async": [PTR, I64, I64, I64, PTR, I64, I64, PTR, I64, I64, I64, PTR],
    "permute_async": [PTR, I64, I32, PTR, PTR, PTR, PTR, PTR, PTR, PTR],
    "gather_async": [PTR, I64, PTR, I64, I64, I32, PTR, I64, PTR, I64, PTR, PTR],
    "convert_async": [PTR, I32, PTR, I32, PTR, I64, PTR],
    "sort_async": [PTR, I32, PTR, I64, I32, PTR, PTR, I32, PTR],
    "lincomb_f32_async": [PTR, I32, PTR, I32, PTR, PTR, PTR, PTR, PTR, PTR],
    "lincomb_f64_async": [PTR, I32, PTR, I32, PTR, PTR, PTR, PTR, PTR, PTR],
    "multiply_f32_async": [PTR, I32, PTR, PTR, PTR, PTR, PTR, PTR, PTR, PTR],
    "multiply_f64_async": [PTR, I32, PTR, PTR, PTR, PTR, PTR, PTR, PTR, PTR],
    "map_async": [PTR, I32, I32, I32, *[PTR] * 9],
    "compare_async": [PTR, I32, I32, I32, *[PTR] * 8],
    "where_async": [PTR, I64, I32, *[PTR] * 10],
    "convert_scaled_async": [PTR, I32, PTR, I32, *[PTR] * 6, ctypes.c_double, I32, PTR, PTR, PTR],
    "scatter_async": [PTR, I64, PTR, I64, I32, PTR, I64, PTR, I64, I64, PTR, PTR],
}


def noise(count, size):
    """`count` elements of `size` bytes. They are integers, so no bits are a NaN."""
    if size == 16:
        return torch.randint(-1000, 1000, (2 * count,), device="cuda").double().view(torch.complex128)
    return torch.randint(0, 120 if size == 1 else 30000, (count,), device="cuda", dtype=TYPES[size])


def same(a, b):
    return bool(torch.equal(a, b))


class Run:
    def __init__(self, library, samples, only):
        self.library, self.samples, self.only, self.rows = library, samples, only, []

    def wants(self, name):
        return not self.only or self.only in name

    def case(self, name, moved, own, other, good, copy_bar=None, peer_bar=None):
        """moved: bytes, each way. good(): whether the result of the last own() is right."""
        src, dst = noise(moved, 1), torch.empty(moved, dtype=torch.uint8, device="cuda")
        plain = lambda: self.library.call("copy_async", dst.data_ptr(), src.data_ptr(), moved, self.library.wrapped)
        torch.cuda.synchronize()
        calls = [own, plain] + ([other] if other else [])
        times = timed(self.library.stream, calls, self.samples)
        own()
        torch.cuda.synchronize()
        wrong = None if good() else "the result is not PyTorch's"
        for peer, taken, bar in [("plain copy", times[1], copy_bar)] + ([("PyTorch", times[2], peer_bar)] if other else []):
            ratio = taken / times[0]
            row = {"family": "move", "case": name, "peer": peer, "ours_us": round(times[0], 2), "peer_us": round(taken, 2),
                   "ratio": round(ratio, 3), "gbs": round(2 * moved / times[0] / 1e3, 1), "fraction_of_ceiling": None,
                   "spread": None, "repeats": self.samples, "bar": bar, "bar_kind": "ratio" if bar else None,
                   "met": None if bar is None else ratio >= bar and not wrong}
            if wrong:
                row["wrong"] = wrong
            self.rows.append(row)
        said = f"  PyTorch {times[2] / times[0]:6.2f}" if other else ""
        print(f"{name:44} {times[0]:9.2f} us {2 * moved / times[0] / 1e3:7.0f} GB/s  copy {times[1] / times[0]:5.3f}{said}"
              f"{'  WRONG' if wrong else ''}", flush=True)

    # ------------------------------------------------------------------------------------------------- the operations

    def transpose(self, size, rows, cols, batches=1, src_pad=0, dst_pad=0, gap=0, bar=None, in_place=False):
        name = f"{'in place' if in_place else 'transpose'}/{size}B/{'' if batches == 1 else f'{batches}x'}{rows}x{cols}"
        name += "" if src_pad == dst_pad == gap == 0 else f"/padded {src_pad},{dst_pad},{gap}"
        if not self.wants(name):
            return
        src_ld, dst_ld = cols + src_pad, rows + dst_pad
        src_step, dst_step = rows * src_ld + gap, cols * dst_ld + gap
        src = noise(batches * src_step, size)
        dst = src if in_place else torch.zeros(batches * dst_step, dtype=src.dtype, device="cuda")
        x = src.as_strided((batches, cols, rows), (src_step, 1, src_ld))
        y = dst.as_strided((batches, cols, rows), (dst_step, dst_ld, 1))
        want = x.clone(memory_format=torch.contiguous_format)
        out = torch.empty_like(want)
        own = lambda: self.library.call("transpose_batched_async", size, rows, cols, src.data_ptr(), src_ld, src_step,
                                        dst.data_ptr(), dst_ld, dst_step, batches, self.library.wrapped)

        def in_turn():  # the timed calls have transposed src several times
            src.copy_(want.transpose(1, 2).reshape(-1))
            torch.cuda.synchronize()
            own()
            torch.cuda.synchronize()
            return same(y, want)

        good = in_turn if in_place else lambda: same(y, want)
        other = (lambda: (out.copy_(x), src.copy_(out.view(-1)))) if in_place else (lambda: y.copy_(x))
        self.case(name, batches * rows * cols * size, own, other, good, bar, 1.0)

    def permute(self, size, extents, order, bar=None):
        name = f"permute/{size}B/{'x'.join(map(str, extents))}/{''.join(map(str, order))}"
        if not self.wants(name):
            return
        src = noise(int(torch.tensor(extents).prod()), size).view(extents)
        dst = torch.zeros([extents[d] for d in order], dtype=src.dtype, device="cuda")
        sides, axes = (I64 * len(extents))(*extents), (I32 * len(extents))(*order)
        own = lambda: self.library.call("permute_async", size, len(extents), sides, axes, src.data_ptr(), None, dst.data_ptr(),
                                        None, self.library.wrapped)
        moved = src.permute(order)
        self.case(name, src.numel() * size, own, lambda: dst.copy_(moved), lambda: same(dst, moved.contiguous()), bar, 1.0)

    def copy(self, nbytes, src_offset, dst_offset, bar=None, peer_bar=None):
        name = f"copy/{nbytes} bytes/src + {src_offset}, dst + {dst_offset}"
        if not self.wants(name):
            return
        src, dst = noise(nbytes + 64, 1), torch.zeros(nbytes + 64, dtype=torch.uint8, device="cuda")
        x, y = src[src_offset:src_offset + nbytes], dst[dst_offset:dst_offset + nbytes]
        own = lambda: self.library.call("copy_async", y.data_ptr(), x.data_ptr(), nbytes, self.library.wrapped)
        self.case(name, nbytes, own, lambda: y.copy_(x), lambda: same(x, y), bar, peer_bar)

    def rows_of(self, row, src_pitch, dst_pitch, total, shift=0, bar=None):
        name = f"copy_2d/rows of {row}, pitches {src_pitch}, {dst_pitch}{f', + {shift}' if shift else ''}"
        if not self.wants(name):
            return
        rows = total // max(src_pitch, dst_pitch)
        src, dst = noise(rows * src_pitch + 64, 1), torch.zeros(rows * dst_pitch + 64, dtype=torch.uint8, device="cuda")
        x = src.as_strided((rows, row), (src_pitch, 1), shift)
        y = dst.as_strided((rows, row), (dst_pitch, 1), 0)
        own = lambda: self.library.call("copy_2d_async", y.data_ptr(), dst_pitch, x.data_ptr(), src_pitch, row, rows,
                                        self.library.wrapped)
        self.case(name, rows * row, own, lambda: y.copy_(x), lambda: same(x, y), bar, 1.0)

    def by_index(self, operation, row, n, of, shuffled, copy_gbs=None, peer_bar=None):
        name = f"{operation}/{n} rows of {row} bytes of {of}{'' if shuffled else ', in order'}"
        if not self.wants(name):
            return
        size = 4 if row % 4 == 0 else 1
        gathers = operation == "gather"
        index = torch.randperm(of, device="cuda")[:n] if shuffled else torch.arange(n, device="cuda")
        src, dst = noise((of if gathers else n) * row // size, size).view(-1, row // size), None
        dst = torch.zeros((n if gathers else of, row // size), dtype=src.dtype, device="cuda")
        if gathers:
            own = lambda: self.library.call("gather_async", row, src.data_ptr(), of, row, 6, index.data_ptr(), n, dst.data_ptr(),
                                            row, None, self.library.wrapped)
            other = lambda: torch.index_select(src, 0, index, out=dst)
            good = lambda: same(dst, src[index])
        else:
            own = lambda: self.library.call("scatter_async", row, src.data_ptr(), row, 6, index.data_ptr(), n, dst.data_ptr(),
                                            of, row, None, self.library.wrapped)
            other = lambda: dst.index_copy_(0, index, src)
            good = lambda: same(dst[index], src)
        self.case(name, n * row + 4 * n, own, other, good, None, peer_bar)

    def convert(self, from_name, to_name, n, src_offset=0, dst_offset=0, bar=None):
        """Converts integers that every type can represent. Offsets are in elements."""
        name = f"convert/{from_name} to {to_name}/{n}{f'/src + {src_offset}, dst + {dst_offset}' if src_offset or dst_offset else ''}"
        if not self.wants(name):
            return
        from_type, to_type = DTYPES[from_name], DTYPES[to_name]
        numbers = torch.randint(0, 120, (n + src_offset,), device="cuda").to(from_type or STORED[from_name])
        x = numbers[src_offset:]
        y = torch.zeros(n + dst_offset, device="cuda", dtype=to_type or STORED[to_name])[dst_offset:]
        codes = list(DTYPES)
        own = lambda: self.library.call("convert_async", codes.index(from_name), x.data_ptr(), codes.index(to_name), y.data_ptr(),
                                        n, self.library.wrapped)
        other = (lambda: y.copy_(x)) if from_type and to_type else None
        moved = n * (x.element_size() + y.element_size()) // 2
        self.case(name, moved, own, other, lambda: same(y, x.to(y.dtype)), bar, 1.0)

    def sort(self, dtype, n, descending=False, peer_bar=None):
        """Keys of any bits but NaNs, with their positions as i64, which PyTorch always computes."""
        name = f"sort/{dtype}/{n}{'/descending' if descending else ''}"
        if not self.wants(name):
            return
        kind = DTYPES[dtype]
        x = (torch.randn(n, device="cuda") * 1000).to(kind) if kind.is_floating_point else torch.randint(
            torch.iinfo(kind).min, torch.iinfo(kind).max, (n,), device="cuda", dtype=kind)
        keys, order = torch.empty_like(x), torch.empty(n, device="cuda", dtype=torch.int64)
        of_peer = torch.empty_like(x), torch.empty_like(order)
        own = lambda: self.library.call("sort_async", list(DTYPES).index(dtype), x.data_ptr(), n, int(descending), keys.data_ptr(),
                                        order.data_ptr(), 6, self.library.wrapped)
        other = lambda: torch.sort(x, stable=True, descending=descending, out=of_peer)
        other()
        self.case(name, n * x.element_size(), own, other, lambda: same(keys, of_peer[0]) and same(order, of_peer[1]), None, peer_bar)

    def lincomb(self, name, z, sources, factors, bar=None):
        """`sources` are views of one type. `arrays` have their elements, and each array counts once as bytes read."""
        name = f"lincomb/f{8 * z.element_size()}/{name}"
        if not self.wants(name):
            return
        rank, terms, real = z.dim(), len(sources), ctypes.c_float if z.dtype == torch.float32 else ctypes.c_double
        strides = (I64 * (rank * terms))(*(s for x in sources for s in x.stride()))
        extents, z_strides, numbers = (I64 * rank)(*z.shape), (I64 * rank)(*z.stride()), (real * terms)(*factors)
        places = (PTR * terms)(*(x.data_ptr() for x in sources))
        own = lambda: self.library.call(f"lincomb_f{8 * z.element_size()}_async", rank, extents, terms, numbers, places, strides,
                                        z.data_ptr(), z_strides, self.library.wrapped)

        def other():
            torch.mul(sources[0], factors[0], out=z)
            for x, factor in zip(sources[1:], factors[1:]):
                torch.add(z, x, alpha=factor, out=z)

        def good():
            wide = sum(x.double() * factor for x, factor in zip(sources, factors))
            return torch.allclose(z.double(), wide, rtol=1e-5, atol=1e-5)

        arrays = {x.untyped_storage().data_ptr(): x.numel() for x in sources if 0 not in x.stride()}
        self.case(name, (sum(arrays.values()) + z.numel()) * z.element_size() // 2, own, other, good, bar, 1.0)

    def multiply(self, name, z, x, y, bar=None):
        name = f"multiply/f{8 * z.element_size()}/{name}"
        if not self.wants(name):
            return
        rank = z.dim()
        extents, x_strides, y_strides, z_strides = ((I64 * rank)(*v) for v in (z.shape, x.stride(), y.stride(), z.stride()))
        own = lambda: self.library.call(f"multiply_f{8 * z.element_size()}_async", rank, extents, x.data_ptr(), x_strides,
                                        y.data_ptr(), y_strides, z.data_ptr(), z_strides, self.library.wrapped)
        arrays = [v.numel() for v in (x, y, z) if 0 not in v.stride()]
        self.case(name, sum(arrays) * z.element_size() // 2, own, lambda: torch.mul(x, y, out=z), lambda: same(z, x * y), bar, 1.0)


    def mapped(self, name, kind, z, sources, other, function=0, bar=0.95):
        """An elementwise operation on views. function: the number of the function or comparison. other(): PyTorch's."""
        name = f"{kind}/{name}"
        if not self.wants(name):
            return
        codes = {dtype: code for code, dtype in enumerate(DTYPES.values()) if dtype}
        rank, extents = z.dim(), (I64 * z.dim())(*z.shape)
        strides = [(I64 * rank)(*v.stride()) for v in (*sources, z)]
        pairs = [part for v, own in zip((*sources, z), strides) for part in (v.data_ptr(), own)]
        source = codes[sources[0].dtype]
        args = {"map": (function, source, rank, extents, *pairs[:2], *(pairs[2:4] if len(sources) > 1 else (None, None)), *pairs[-2:], None),
                "compare": (function, source, rank, extents, *pairs),
                "where": (z.element_size(), rank, extents, *pairs),
                "convert_scaled": (rank, extents, source, *pairs[:-2], *(None,) * (6 - len(pairs[:-2])), 0.0, codes[z.dtype], *pairs[-2:])}[kind]
        own = lambda: self.library.call(f"{kind}_async", *args, self.library.wrapped)
        moved = [v.numel() * v.element_size() for v in (*sources, z) if 0 not in v.stride()]

        def good():
            found = z.clone()
            other()
            return same(found, z)

        self.case(name, sum(moved) // 2, own, other, good, bar, 1.0)


def maps(run, quick):
    for n in (1 << 20, 1 << 24, 1 << 28):
        for dtype in (torch.float32, torch.float64, torch.int8, torch.float16):
            x = torch.randint(1, 100, (n,), device="cuda").to(dtype)
            y = torch.randint(1, 100, (n,), device="cuda").to(dtype)
            z = torch.empty_like(x)
            name = f"{str(dtype)[6:]} {n}"
            bar = 0.95 if n > 1 << 20 else None
            run.mapped("add " + name, "map", z, [x, y], lambda: torch.add(x, y, out=z), 16, bar)
            run.mapped("negate " + name, "map", z, [x], lambda: torch.neg(x, out=z), 0, bar)
            run.mapped("maximum " + name, "map", z, [x, y], lambda: torch.maximum(x, y, out=z), 22, bar)
            if dtype.is_floating_point:
                run.mapped("divide " + name, "map", z, [x, y], lambda: torch.div(x, y, out=z), 19, bar)
                run.mapped("square root " + name, "map", z, [x], lambda: torch.sqrt(x, out=z), 3, bar)
            else:
                run.mapped("divide " + name, "map", z, [x, y], lambda: torch.div(x, y, rounding_mode="trunc", out=z), 19, bar)
            mask = torch.empty(n, dtype=torch.uint8, device="cuda")
            run.mapped("less " + name, "compare", mask, [x, y], lambda: torch.lt(x, y, out=mask.view(torch.bool)), 0, bar)
            mask.copy_(x < y)
            run.mapped(name, "where", z, [mask, x, y], lambda: torch.where(mask.view(torch.bool), x, y, out=z), 0, bar)
    for dtype in (torch.float32, torch.float64):
        u = torch.rand(8192, 8200, device="cuda", dtype=dtype) + 1
        z = torch.empty_like(u)
        name = str(dtype)[6:]
        one = u[0, :1].clone().expand(8192, 8192)
        for kind, of_y in (("rows by a row", u[0, :8192].clone().expand(8192, 8192)), ("columns by a column", u[:, :1].clone().expand(8192, 8192)),
                           ("by a number", one)):  # fmt: skip
            x, to = u[:, :8192], z[:, :8192]
            run.mapped(f"subtract {kind} {name}", "map", to, [x, of_y], lambda: torch.sub(x, of_y, out=to), 17)
        for kind, part in (("with padding", (slice(None), slice(8192))), ("inside", (slice(1, -1), slice(1, -1)))):
            x, to = u[part], z[part]
            run.mapped(f"multiply {kind} {name}", "map", to, [x, x], lambda: torch.mul(x, x, out=to), 18)
        x, to = u[:, ::2], z[:, ::2]
        run.mapped(f"add every second {name}", "map", to, [x, x], lambda: torch.add(x, x, out=to), 16, None)
    for source, to in ((torch.int16, torch.float32), (torch.uint8, torch.float32), (torch.float32, torch.int16), (torch.float16, torch.float16)):
        x = torch.randint(1, 100, (1 << 27,), device="cuda").to(source)
        z = torch.empty(1 << 27, device="cuda", dtype=to)
        scale, offset = (torch.full((1,), v, device="cuda", dtype=torch.float64).expand(1 << 27) for v in (0.5, 2.0))
        run.mapped(f"{source} to {to}", "convert_scaled", z, [x, scale, offset], lambda: z.copy_(((x.double() + 2) * 0.5).round() if not to.is_floating_point else (x.double() + 2) * 0.5))


def arithmetic(run, quick):
    for dtype in (torch.float32, torch.float64):
        u = torch.rand(8194, 8194, device="cuda", dtype=dtype)
        v = torch.empty_like(u)
        inner = u[1:-1, 1:-1]
        cross = [inner, u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]]
        run.lincomb("five points 8192x8192", v[1:-1, 1:-1], cross, [0.5, 0.125, 0.125, 0.125, 0.125], 0.85)
        flat = [t.reshape(-1)[:1 << 26] for t in (u, v)]
        run.lincomb("two of 2^26", torch.empty_like(flat[0]), flat, [0.5, 2.0], 0.9)
        run.multiply("2^26", torch.empty_like(flat[0]), *flat, 0.9)
        run.multiply("rows by a vector", torch.empty_like(u), u, u[0].clone().expand_as(u), 0.85)
        run.multiply("columns by a vector", torch.empty_like(u), u, u[0].clone()[:, None].expand_as(u), 0.85)
        run.lincomb("one, transposed", torch.empty_like(u), [u.t()], [0.5])
        run.lincomb("one, every second", torch.empty_like(flat[0][::2]), [flat[0][::2]], [0.5])
        for side in (64, 256, 1024):
            small = torch.rand(side + 2, side + 2, device="cuda", dtype=dtype)
            cross = [small[1:-1, 1:-1], small[:-2, 1:-1], small[2:, 1:-1], small[1:-1, :-2], small[1:-1, 2:]]
            run.lincomb(f"five points {side}x{side}", torch.empty_like(small)[1:-1, 1:-1], cross, [0.5] + [0.125] * 4)
        c = torch.rand(386, 386, 386, device="cuda", dtype=dtype)
        star = [c[1:-1, 1:-1, 1:-1], c[:-2, 1:-1, 1:-1], c[2:, 1:-1, 1:-1], c[1:-1, :-2, 1:-1], c[1:-1, 2:, 1:-1], c[1:-1, 1:-1, :-2],
                c[1:-1, 1:-1, 2:]]
        run.lincomb("seven points 384x384x384", torch.empty_like(c)[1:-1, 1:-1, 1:-1], star, [0.25] + [0.125] * 6, 0.85)


def conversions(run, quick):
    for from_name in DTYPES:
        for to_name in DTYPES:
            run.convert(from_name, to_name, 1 << 26, bar=0.9)
    for from_name, to_name in (("f32", "f16"), ("bf16", "f32"), ("u8", "f32"), ("f64", "f32"), ("i64", "i32"), ("i8", "u8")):
        for n in (1 << 12, 1 << 20, 1 << 26):
            run.convert(from_name, to_name, n)
            run.convert(from_name, to_name, n, 1, 0)
            run.convert(from_name, to_name, n, 0, 1)
            run.convert(from_name, to_name, n, 1, 1)
        if quick:
            break


def transposes(run, quick):
    sizes = (1, 4) if quick else (1, 2, 4, 8, 16)
    for size in sizes:
        for rows, cols in ((3, 3), (8, 8), (16, 4), (10, 20), (32, 32), (64, 64), (2, 3), (5, 7), (31, 33), (63, 63), (48, 40)):
            run.transpose(size, rows, cols, 128 * MIB // (rows * cols * size), bar=0.85)
        run.transpose(size, 8, 8, MIB, 1, 0, 3)
        run.transpose(size, 8, 8, MIB, 0, 1, 3)
        run.transpose(size, 12, 20, MIB // 2, 4, 4, 0)
    for size in (1, 2):
        for rows, cols in ((100000, 100), (4097, 4099), (10007, 9973), (30000, 5000), (1000000, 100)):
            run.transpose(size, rows, cols, bar=0.8)
        run.transpose(size, 10000, 33, bar=None)
    for size in sizes if quick else (1, 2, 4, 8):
        for rows, cols in ((1048576, 32), (4194304, 7), (65536, 1000), (10007, 9973), (2048, 2048), (16777216, 3), (7, 4194304)):
            run.transpose(size, rows, cols, bar=0.92 if size >= 4 else 0.8)
        run.transpose(size, 1024, 1024, bar=0.85)
    run.transpose(4, 16384, 16384, bar=0.92)
    for rows, cols in ((1000000, 5), (3, 10000000)):
        run.transpose(4, rows, cols, bar=0.6, in_place=True)
    for rows, cols in ((4096, 8192), (5000, 7001), (8192, 8192)):
        run.transpose(4, rows, cols, bar=0.4, in_place=True)
    run.transpose(4, 3, 3, MIB, bar=0.4, in_place=True)


def copies(run):
    for nbytes, bar in ((MIB, None), (16 * MIB, 0.95), (256 * MIB, 0.95)):
        for src, dst in ((0, 0), (1, 0), (1, 3), (4, 0), (8, 4), (2, 9)):
            run.copy(nbytes, src, dst, bar, 3.0 if nbytes == MIB and (src, dst) == (1, 3) else None)
    for row, src, dst in ((32, 48, 32), (32, 33, 47), (33, 33, 40), (64, 64, 80), (100, 128, 100), (100, 100, 128), (129, 131, 160),
                          (500, 512, 501), (1001, 1001, 1024), (1001, 1024, 1007), (1024, 2048, 1024), (4099, 4099, 5000)):
        run.rows_of(row, src, dst, 128 * MIB, row % 3, 0.85)


def indexed(run):
    for operation, of_peer in (("gather", 1.1), ("scatter", 1.1)):
        for row in (4, 8, 100, 128, 1000):
            n = min(1 << 25, 256 * MIB // row)
            run.by_index(operation, row, n, n, True, peer_bar=of_peer if row == 4 else 1.0)
        run.by_index(operation, 4, 1 << 25, 1 << 25, False, peer_bar=of_peer)
        run.by_index(operation, 4, 1 << 20, 1 << 20, True, peer_bar=of_peer)


def sorts(run):
    for dtype in ("u8", "i16", "f16", "i32", "f32", "i64", "f64"):
        for n in (1000, 100_000, 1 << 20, 1 << 24, 1 << 27):
            run.sort(dtype, n, peer_bar=1.1)
        run.sort(dtype, 1 << 24, True, 1.1)


def permutations(run, count, seed):
    chosen = random.Random(seed)
    for size, extents, order in ((4, (262144, 3, 3), (0, 2, 1)), (4, (4, 4, 4, 4), (3, 2, 1, 0)), (4, (199, 331, 397), (0, 2, 1)),
                                 (4, (384, 368, 400), (1, 2, 0)), (2, (384, 368, 400), (2, 1, 0)), (4, (17, 411, 11, 799), (1, 3, 0, 2)),
                                 (1, (91, 93, 43, 72), (3, 2, 1, 0)), (2, (64, 3, 224, 224), (0, 2, 3, 1)),
                                 (1, (64, 224, 224, 3), (0, 3, 1, 2)), (4, (32, 128, 16, 64), (0, 2, 1, 3))):
        run.permute(size, extents, order)
    first = len(run.rows)
    for _ in range(count):
        size, rank = chosen.choice((1, 2, 4, 8, 16)), chosen.randint(2, 8)
        total = chosen.uniform(64, 200) * MIB / size
        cuts = [chosen.uniform(0.4, 1.6) for _ in range(rank)]
        extents = [max(2, round(total ** (c / sum(cuts)))) for c in cuts]
        order = list(range(rank))
        while order == sorted(order):
            chosen.shuffle(order)
        run.permute(size, tuple(extents), tuple(order), bar=0.5 if size <= 2 else 0.6)
    for small in (True, False):
        ratios = [row["ratio"] for row in run.rows[first:]
                  if row["peer"] == "plain copy" and (row["case"].split("/")[1] in ("1B", "2B")) == small]
        if ratios:
            print(f"{'elements of 1 and 2 bytes' if small else 'others'}: {len(ratios)} permutations, median "
                  f"{statistics.median(ratios):.3f}, least {min(ratios):.3f} of a copy")


def driver():
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return asked.stdout.split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--out")
    parser.add_argument("--only", help="only cases whose names contain this word")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, permutations and samples")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random permutations")
    options = parser.parse_args()
    run = Run(Library(options.library, SIGNATURES), 5 if options.quick else 9, options.only)
    copies(run)
    transposes(run, options.quick)
    indexed(run)
    sorts(run)
    conversions(run, options.quick)
    maps(run, options.quick)
    arithmetic(run, options.quick)
    permutations(run, 30 if options.quick else 80, options.seed)
    if options.out:
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with open(options.out, "w") as out:
            json.dump({"program": f"move.py, PyTorch {torch.__version__}", "device": torch.cuda.get_device_name(),
                       "driver": driver(), "toolkit": torch.version.cuda, "cpu": None, "threads": os.cpu_count(),
                       "peer_threads": 0, "date": now, "commit": os.environ.get("GPUMEM_COMMIT", ""), "quick": options.quick,
                       "ceilings": {"read": None, "write": None, "copy": None}, "calls": CALLS, "rows": run.rows}, out, indent=0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares an iteration of BiCGStab and a damped Jacobi step with the same methods in CuPy, in CUDA graphs, on the same device.

usage: solvers.py [--out FILE.json]    with the Python packages gpumem and cupy

The operator has seven points and is not symmetric (an upwind convection-diffusion equation). Arrays are n x n x n cells of f64 with
one layer of zeros around them. A graph has ten iterations. A sample replays it 20 times, and the median of nine counts. The
programs in CuPy are those that a user would write: slices for the operator, and cupy.vdot for dot products, whose results stay on the
device. The solutions after all iterations are compared.
"""

import argparse
import json
import statistics

import cupy
import gpumem
import numpy as np

AT_ONCE, REPLAYS, SAMPLES = 10, 20, 9
WEIGHTS = [6.6, -1.3, -1.0, -1.2, -1.0, -1.1, -1.0]
SHIFTS = [(0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)]
INNER = (slice(1, -1),) * 3


def shifted(grid):
    n = grid.shape[0] - 2
    return [grid[tuple(slice(1 + d, n + 1 + d) for d in shift)] for shift in SHIFTS]


class Gpumem:
    """Every array is one of CuPy's, so both programs work on the same kind of memory."""

    def __init__(self, ctx, n, source):
        self.ctx = ctx
        self.grids = {name: cupy.zeros((n + 2,) * 3) for name in "xrpst"}
        self.plain = {name: cupy.zeros((n,) * 3) for name in ("v", "u", "hat")}
        self.scalars = cupy.zeros(8)
        self.source = source

    def reset(self):
        for name, grid in self.grids.items():
            grid[INNER] = self.source if name in "rp" else 0
        self.plain["hat"][...] = self.source
        self.scalars[0] = cupy.vdot(self.source, self.source)

    def capture_views(self):
        wrap = self.ctx.asarray
        self.inner = {name: wrap(grid[INNER]) for name, grid in self.grids.items()}
        self.around = {name: list(zip(WEIGHTS, map(wrap, shifted(grid)))) for name, grid in self.grids.items() if name in "xps"}
        self.at = {name: wrap(array) for name, array in self.plain.items()}
        self.scalar = [wrap(self.scalars[k : k + 1]) for k in range(8)]
        self.pairs = wrap(self.scalars[2:4]), wrap(self.scalars[4:6])
        self.b = wrap(self.source)

    def bicgstab(self, stream):
        ctx, of, at, s = self.ctx, self.inner, self.at, self.scalar
        rho, hv = s[0], s[1]
        for _ in range(AT_ONCE):
            # v = A p, hat.v; alpha = rho / hat.v
            ctx.lincomb_dot(self.around["p"], [at["hat"]], out=at["v"], results=hv, stream=stream)
            ctx.lincomb([(1, of["r"]), ((-1, rho, hv), at["v"])], out=of["s"], stream=stream)
            # u = A s, u.s, u.u; omega = u.s / u.u
            ctx.lincomb_dot(self.around["s"], [of["s"], None], out=at["u"], results=self.pairs[0], stream=stream)
            us, uu = s[2], s[3]
            ctx.lincomb([(1, of["x"]), ((1, rho, hv), of["p"]), ((1, us, uu), of["s"])], out=of["x"], stream=stream)
            # r = s - omega u, r.hat
            ctx.lincomb_dot([(1, of["s"]), ((-1, us, uu), at["u"])], [at["hat"]], out=of["r"], results=s[4], stream=stream)
            # beta = (new rho / rho) (alpha / omega) = (new rho / hat.v) (uu / us)
            ctx.map("multiply", s[4], uu, out=s[5], stream=stream)
            ctx.map("multiply", hv, us, out=s[6], stream=stream)
            ctx.lincomb([(1, of["p"]), ((-1, us, uu), at["v"])], out=of["t"], stream=stream)
            ctx.lincomb([(1, of["r"]), ((1, s[5], s[6]), of["t"])], out=of["p"], stream=stream)
            ctx.copy(rho, s[4], stream=stream)

    def jacobi(self, stream):
        omega = 0.8 / WEIGHTS[0]
        for k in range(AT_ONCE):
            # x += omega (b - A x), from x to s and back
            source, target = ("x", "s") if k % 2 == 0 else ("s", "x")
            terms = [((1 if w == WEIGHTS[0] else 0) - omega * w, view) for w, view in self.around[source]]
            self.ctx.lincomb([*terms, (omega, self.b)], out=self.inner[target], stream=stream)

    def solution(self):
        return self.grids["x"][INNER]


class Cupy:
    def __init__(self, n, source):
        self.grids = {name: cupy.zeros((n + 2,) * 3) for name in "xps"}
        self.source, self.rho = source, cupy.zeros(())
        self.r, self.hat = cupy.zeros((n,) * 3), cupy.zeros((n,) * 3)

    def reset(self):
        for grid in self.grids.values():
            grid[...] = 0
        self.grids["p"][INNER] = self.source
        self.r[...] = self.hat[...] = self.source
        self.rho[...] = cupy.vdot(self.source, self.source)

    @staticmethod
    def operator(grid):
        views = shifted(grid)
        total = WEIGHTS[0] * views[0]
        for weight, view in zip(WEIGHTS[1:], views[1:]):
            total += weight * view
        return total

    def bicgstab(self):
        x, p, s = (self.grids[name][INNER] for name in "xps")
        for _ in range(AT_ONCE):
            v = self.operator(self.grids["p"])
            alpha = self.rho / cupy.vdot(self.hat, v)
            s[...] = self.r - alpha * v
            u = self.operator(self.grids["s"])
            s_now = cupy.ascontiguousarray(s)
            omega = cupy.vdot(u, s_now) / cupy.vdot(u, u)
            x += alpha * p + omega * s
            self.r[...] = s - omega * u
            rho = cupy.vdot(self.hat, self.r)
            beta = rho / self.rho * (alpha / omega)
            p[...] = self.r + beta * (p - omega * v)
            self.rho[...] = rho

    def jacobi(self):
        x = self.grids["x"]
        for _ in range(AT_ONCE):
            x[INNER] += 0.8 / WEIGHTS[0] * (self.source - self.operator(x))

    def solution(self):
        return self.grids["x"][INNER]


def captured(stream, call):
    with stream:
        call()  # allocates
    stream.synchronize()
    with stream:
        stream.begin_capture()
        call()
        graph = stream.end_capture()
    return graph


def measure(stream, program, graph):
    taken = []
    for _ in range(SAMPLES):
        with stream:
            program.reset()
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            graph.launch(stream)
            program.reset()
            start.record(stream)
            for _ in range(REPLAYS):
                graph.launch(stream)
            end.record(stream)
        end.synchronize()
        taken.append(cupy.cuda.get_elapsed_time(start, end) * 1e3 / (REPLAYS * AT_ONCE))
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    rows, args = [], parser.parse_args()
    stream = cupy.cuda.Stream(non_blocking=True)
    with gpumem.Context() as ctx, ctx.Stream(stream) as wrapped:
        for n in (32, 64, 128):
            source = cupy.asarray(np.random.default_rng(n).standard_normal((n,) * 3))
            for method in ("bicgstab", "jacobi"):
                with stream:
                    own, other = Gpumem(ctx, n, source), Cupy(n, source)
                    own.reset()
                    other.reset()
                stream.synchronize()
                own.capture_views()
                graphs = captured(stream, lambda own=own, method=method: getattr(own, method)(wrapped)), captured(stream, getattr(other, method))
                found = []
                for program, graph in zip((own, other), graphs):
                    with stream:
                        program.reset()
                        graph.launch(stream)
                    stream.synchronize()
                    found.append(program.solution().get())
                times = [measure(stream, program, graph) for program, graph in zip((own, other), graphs)]
                right = bool(np.allclose(found[0], found[1], rtol=1e-8, atol=1e-10))
                row = {"method": method, "n": n, "us": round(times[0], 2), "cupy_us": round(times[1], 2),
                       "ratio": round(times[1] / times[0], 2), "right": right}
                rows.append(row)
                print(row, flush=True)
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()

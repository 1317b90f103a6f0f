#!/usr/bin/env python3
"""Compares device memory and time per step of three allocators: gpumem's, PyTorch's, and PyTorch's with expandable segments.

usage: allocator.py LIBGPUMEM [--out FILE.json] [--only PROGRAM] [--ways WAYS] [--seconds S]

Each of five programs runs once per allocator, in its own process. The driver reports the memory in use on the device
(cudaMemGetInfo). The figure is the maximum after any part of a step, without the memory in use after CUDA was initialised. Time
is the median of the later steps, measured by events.
"""

import argparse
import contextlib
import ctypes
import json
import os
import select
import signal
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

MIB = 1 << 20
WAYS = ("gpumem", "own", "expandable")


class Transformer:
    """Training on sequences whose lengths vary."""

    def __init__(self):
        layer = nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda()
        self.head = nn.Linear(1024, 8192).cuda()
        self.parameters = [*self.body.parameters(), *self.head.parameters()]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-4)
        self.lengths = torch.Generator().manual_seed(1)

    def step(self, part):
        length = int(torch.randint(64, 769, (1,), generator=self.lengths))
        x = torch.randn(8, length, 1024, device="cuda")
        loss = functional.cross_entropy(self.head(self.body(x)).flatten(0, 1), torch.zeros(8 * length, dtype=torch.long, device="cuda"))
        part()
        loss.backward()
        part()
        self.optimizer.step()
        self.optimizer.zero_grad()


class Convolutions:
    """Training a convolutional net with residual blocks."""

    class Block(nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.path = nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
                                      nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
            self.beside = nn.Conv2d(before, after, 1, stride, bias=False)

        def forward(self, x):
            return functional.relu(self.path(x) + self.beside(x))

    def __init__(self):
        widths = [3, 64, 64, 128, 128, 256, 256, 512]
        self.net = nn.Sequential(*(self.Block(a, b, 1 if a == b else 2) for a, b in zip(widths, widths[1:])), nn.AdaptiveAvgPool2d(1),
                                 nn.Flatten(), nn.Linear(512, 1000)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9)

    def step(self, part):
        x = torch.randn(96, 3, 160, 160, device="cuda")
        loss = self.net(x).logsumexp(1).mean()
        part()
        loss.backward()
        part()
        self.optimizer.step()
        self.optimizer.zero_grad()


class Decoder:
    """A decoder's caches of keys and values, which grow by one token per step and then start again."""

    LAYERS, LONGEST, SHAPE = 24, 96, (32, 16, 64)

    def __init__(self):
        width = self.SHAPE[1] * self.SHAPE[2]
        self.layers = [(nn.Linear(width, 3 * width).cuda().half(), nn.Linear(width, width).cuda().half()) for _ in range(self.LAYERS)]
        self.length = self.LONGEST
        self.caches = []

    @torch.no_grad()
    def step(self, part):
        batch, heads, size = self.SHAPE
        if self.length == self.LONGEST:
            self.length = 0
            self.caches = [torch.randn(2, batch, heads, 256, size, device="cuda", dtype=torch.half) for _ in range(self.LAYERS)]
        self.length += 1
        x = torch.randn(batch, 1, heads * size, device="cuda", dtype=torch.half)
        for i, (project, out) in enumerate(self.layers):
            q, k, v = project(x).view(batch, 1, 3, heads, size).permute(2, 0, 3, 1, 4)
            self.caches[i] = torch.cat([self.caches[i], torch.stack([k, v])], 3)
            x = x + out(functional.scaled_dot_product_attention(q, *self.caches[i]).transpose(1, 2).reshape(batch, 1, -1))
        part()


class Captured:
    """A captured graph on fixed memory, between work that allocates. The captured work allocates nothing."""

    def __init__(self):
        self.weights = [torch.randn(4096, 4096, device="cuda") / 64 for _ in range(8)]
        self.state = [torch.randn(4096, 4096, device="cuda") for _ in range(2)]
        self.stream = torch.cuda.Stream()
        self.graph = torch.cuda.CUDAGraph()
        self.sizes = torch.Generator().manual_seed(2)
        with torch.cuda.stream(self.stream):
            self.work()  # first use allocates libraries' own memory
            torch.cuda.synchronize()
            self.graph.capture_begin()
            self.work()
            self.graph.capture_end()
        torch.cuda.synchronize()

    def work(self):
        a, b = self.state
        for weight in self.weights:
            torch.mm(a, weight, out=b)
            b.tanh_()
            a.copy_(b)

    def step(self, part):
        rows = int(torch.randint(1024, 8193, (1,), generator=self.sizes))
        x = torch.randn(rows, 4096, device="cuda")
        for weight in self.weights:
            x = functional.gelu(x @ weight) + x
        part()
        self.graph.replay()
        x = x.softmax(1)


class Streams:
    """Work on eight streams, with blocks that the next stream uses too."""

    def __init__(self):
        self.streams = [torch.cuda.Stream() for _ in range(8)]
        self.sizes = torch.Generator().manual_seed(3)

    def step(self, part):
        start = torch.cuda.current_stream()
        last = None
        for stream in self.streams:
            rows = int(torch.randint(512, 4097, (1,), generator=self.sizes))
            stream.wait_stream(start)
            with torch.cuda.stream(stream):
                x = torch.randn(rows, 4096, device="cuda")
                y = torch.randn(4096, 4096, device="cuda")
                for _ in range(6):
                    x = torch.relu(x @ y) * 0.01
                if last is not None:
                    stream.wait_stream(last[0])
                    x = x + last[1].mean()
                    last[1].record_stream(stream)
                last = (stream, x)
        part()
        for stream in self.streams:
            start.wait_stream(stream)


PROGRAMS = {"transformer": Transformer, "convolutions": Convolutions, "decoder": Decoder, "captured": Captured, "streams": Streams}


def use_gpumem(path):
    lib = ctypes.CDLL(path)
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "gpumem_torch_malloc", "gpumem_torch_free")
    allocator.allocator().set_record_stream_fn(ctypes.cast(lib.gpumem_torch_record_stream, ctypes.c_void_p).value)
    torch.cuda.memory.change_current_allocator(allocator)
    return lib


def stats_of(lib):
    """The fields of gpumem_memory_stats_info that a row has."""
    ctx, stats = ctypes.c_void_p(), (ctypes.c_int64 * 25)()
    lib.gpumem_shared_ctx(0, ctypes.byref(ctx))
    lib.gpumem_memory_stats_init(stats, ctypes.c_int64(ctypes.sizeof(stats)))
    lib.gpumem_memory_stats(ctx, stats)
    return {"live_peak": stats[3], "reserved": stats[12], "reserved_peak": stats[13], "allocations": stats[16], "misses": stats[20]}


def in_use():
    free, total = torch.cuda.mem_get_info()
    return total - free


def begin(way, path):
    """Initialises CUDA with the allocator. Returns the library if the allocator is gpumem's."""
    lib = use_gpumem(path) if way == "gpumem" else None
    if way == "expandable":
        torch.cuda.memory._set_allocator_settings("expandable_segments:True")
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.cuda.init()
    in_use()
    return lib


def measure(lib, way, program, seconds):
    before = in_use()
    subject = PROGRAMS[program]()
    most = 0

    def look():
        nonlocal most
        most = max(most, in_use())

    steps, begin = 0, time.perf_counter()
    while steps < 8 or time.perf_counter() - begin < seconds / 2:
        subject.step(look)
        look()
        steps += 1
    torch.cuda.synchronize()
    steps = max(8, steps)
    misses = stats_of(lib)["misses"] if lib is not None else 0
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    cpu = time.perf_counter()
    events[0].record()
    for event in events[1:]:
        subject.step(lambda: None)
        event.record()
    cpu = time.perf_counter() - cpu
    torch.cuda.synchronize()
    look()
    row = {"program": program, "way": way, "in_use_mib": (most - before) / MIB, "context_mib": before / MIB, "steps": steps,
           "step_ms": statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:])),
           "mean_step_ms": events[0].elapsed_time(events[-1]) / steps, "enqueue_ms": cpu / steps * 1e3}
    if lib is not None:
        row |= {name: value / MIB if value > 1e6 or "peak" in name else value for name, value in stats_of(lib).items()}
        row["misses_a_step"] = (row["misses"] - misses) / steps
        row["in_use_now_mib"] = (in_use() - before) / MIB
    else:
        row["reserved"] = torch.cuda.memory_reserved() / MIB
        row["live_peak"] = torch.cuda.max_memory_allocated() / MIB
    return row


class Case:
    """A program with an allocator, in a child process. The child initialises CUDA at once, measures on request, and keeps its
    memory until the end. So only the measured program changes the memory in use on the device."""

    LONGEST = 30  # seconds

    def __init__(self, way, path, program, seconds):
        self.name = {"program": program, "way": way}
        self.results, results = os.pipe()
        go, self.go = os.pipe()
        self.child = os.fork()
        if self.child > 0:
            os.close(results)
            os.close(go)
            return
        try:
            lib = begin(way, path)
            os.write(results, b".")
            os.read(go, 1)
            row = measure(lib, way, program, seconds)
        except Exception as error:  # reported, and the other programs continue
            row = self.name | {"error": repr(error)}
        os.write(results, json.dumps(row).encode() + b"\n")
        os.read(go, 1)
        os._exit(0)

    def tell(self):
        with contextlib.suppress(OSError):
            os.write(self.go, b".")

    def await_output(self):
        """Waits for a point after CUDA is initialised, and for the line of results at the end."""
        return bool(select.select([self.results], [], [], self.LONGEST)[0])

    def run(self):
        self.tell()
        text = b""
        while not text.endswith(b"\n"):
            more = os.read(self.results, 4096) if self.await_output() else b""
            if not more:
                os.kill(self.child, signal.SIGKILL)
                return self.name | {"error": "no result"}
            text += more
        return json.loads(text.lstrip(b"."))

    def end(self):
        self.tell()
        os.waitpid(self.child, 0)


def show(row):
    begin = f"{row['program']:14}{row['way']:12}"
    if "error" in row:
        print(begin + row["error"], flush=True)
        return
    names = ("reserved", "reserved_peak", "in_use_now_mib", "allocations", "misses", "misses_a_step", "mean_step_ms", "steps")
    more = {name: round(row[name], 1) for name in names if name in row}
    print(f"{begin}{row['in_use_mib']:11.0f}{row['live_peak']:10.0f}{row['step_ms']:9.3f}{row['enqueue_ms']:9.3f}  {more}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--out")
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    rows = []
    print(f"{'program':14}{'allocator':12}{'in use MiB':>11}{'live MiB':>10}{'step ms':>9}{'enqueue':>9}  more")
    path = os.path.abspath(options.library)
    programs = [options.only] if options.only else PROGRAMS
    cases = [Case(way, path, program, options.seconds) for program in programs for way in options.ways.split(",")]
    for case in cases:
        case.await_output()
    for case in cases:
        row = case.run()
        rows.append(row)
        show(row)
        if options.out:  # after each row, so that an abort keeps the earlier ones
            with open(options.out, "w") as file:
                json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, file, indent=1)
    for case in cases:
        case.end()


if __name__ == "__main__":
    sys.exit(main())

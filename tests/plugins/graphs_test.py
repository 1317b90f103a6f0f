#!/usr/bin/env python3
"""Graphs of PyTorch and CuPy whose memory comes from gpumem. Each case is a process. It prints PASS or FAIL and what it found.

usage: graphs_test.py LIBGPUMEM_SO [CASE...]
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import time

from gpumem_stats import Library, skip

MIB = 1 << 20
CASES = {}
HOOKS = {
    "set_record_stream_fn": "gpumem_torch_record_stream",
    "set_begin_allocate_to_pool": "gpumem_torch_begin_pool",
    "set_end_allocate_to_pool_fn": "gpumem_torch_end_pool",
    "set_release_pool": "gpumem_torch_release_pool",
    "set_reset_fn": "gpumem_torch_empty_cache",
}


def case(function):
    CASES[function.__name__] = function
    return function


class Failed(Exception):
    """A wrong result, with a sentence."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def use_gpumem(torch, library):
    allocator = torch.cuda.memory.CUDAPluggableAllocator(library.path, "gpumem_torch_malloc", "gpumem_torch_free")
    for hook, function in HOOKS.items():
        getattr(allocator.allocator(), hook)(library.address(function))
    torch.cuda.memory.change_current_allocator(allocator)


def pool_of_segments(torch, library):
    """A MemPool of PyTorch's own allocator, whose segments are gpumem's. The allocator must live as long."""
    names = ("gpumem_torch_segment_malloc", "gpumem_torch_segment_free")
    allocator = torch.cuda.memory.CUDAPluggableAllocator(library.path, *names)
    return torch.cuda.MemPool(allocator.allocator()), allocator


def in_use(torch):
    free, total = torch.cuda.mem_get_info()
    return total - free


def disturb(torch, seed):
    """Eager work between replays. It writes over all memory that it gets."""
    blocks = [torch.full((1 + (seed * 7919 + i * 104729) % (4 * MIB),), float("nan"), device="cuda") for i in range(24)]
    torch.cuda.synchronize()
    del blocks


class Training:
    """Whole steps of a transformer: loss, gradients and optimizer, all with memory of the graph."""

    def __init__(self, torch, batch=16, length=384, width=1024, layers=6):
        from torch import nn
        self.torch = torch
        torch.backends.cuda.enable_flash_sdp(False)  # the other ways to compute attention add in no fixed order
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_cudnn_sdp(False)
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True)
        self.net = nn.Sequential(nn.TransformerEncoder(layer, layers, enable_nested_tensor=False), nn.Linear(width, 512)).cuda()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-4, capturable=True)
        self.data = torch.randn(8, batch, length, width)
        self.x = self.data[0].cuda()
        self.target = (torch.arange(batch * length) % 512).cuda()
        self.most = 0

    def step(self):
        loss = self.torch.nn.functional.cross_entropy(self.net(self.x).flatten(0, 1), self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss

    def look(self):
        self.torch.cuda.synchronize()
        self.most = max(self.most, in_use(self.torch))

    def warm_up(self):
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        self.torch.cuda.current_stream().wait_stream(side)
        self.look()

    def run(self, pool=None):
        """The losses of replays with new data, between eager work."""
        torch = self.torch
        self.warm_up()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            loss = self.step()
        self.look()
        losses = []
        for i in range(16):
            self.x.copy_(self.data[i % len(self.data)])
            graph.replay()
            losses.append(float(loss))
            disturb(torch, i)
            self.look()
        return graph, losses


def train(torch, library, way):
    pool = kept = None
    if way == "gpumem":
        use_gpumem(torch, library)
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    if way == "segments":
        pool, kept = pool_of_segments(torch, library)
    before = in_use(torch)
    started = time.perf_counter()
    training = Training(torch)
    graph, losses = training.run(pool.id if pool else None)
    row = {"losses": losses, "mib": (training.most - before) / MIB, "seconds": time.perf_counter() - started,
           "gpumem_mib": library.stats().device_bytes / MIB if way != "own" else 0}
    if way == "segments":
        row["gpumem_mib_with_graph"] = row["gpumem_mib"]
        del graph, training
        gc.collect()
        torch._C._cuda_clearCublasWorkspaces()  # the one for the captured stream is memory of the pool
        del pool
        gc.collect()
        torch.cuda.empty_cache()
        row["gpumem_mib"] = library.stats().device_bytes / MIB
    return row


for name in ("own", "gpumem", "segments"):
    CASES[f"train_{name}"] = (lambda way: lambda torch, library: train(torch, library, way))(name)


@case
def isolation(torch, library):
    """Nobody gets the graph's memory, and a released graph gives it back."""
    use_gpumem(torch, library)
    x = torch.arange(8 * MIB, device="cuda", dtype=torch.int64)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 3 + 1) * 2  # x * 3 and the sum are freed within the graph
        z = (y - x) + 0  # the difference is freed too
    for seed in range(8):
        x.copy_(torch.arange(8 * MIB) + seed)
        graph.replay()
        expect(torch.equal(z.cpu(), torch.arange(8 * MIB) * 5 + 5 * seed + 2), f"replay {seed} gave wrong numbers")
        eager = [torch.full((8 * MIB,), -1, device="cuda", dtype=torch.int64) for _ in range(4)]
        for tensor in eager:
            expect(tensor.data_ptr() not in (y.data_ptr(), z.data_ptr()), "eager work got the graph's memory")
        graph.replay()
        torch.cuda.synchronize()
        expect(all(bool((tensor == -1).all()) for tensor in eager), "a replay wrote over eager memory")
        del eager, tensor
    torch.cuda.empty_cache()
    with_graph = library.stats().device_reserved_bytes
    del graph
    torch.cuda.empty_cache()
    without = library.stats().device_reserved_bytes
    expect(int((z[:4] - x[:4] * 5).sum()) == 8, "the result of a released graph was lost")
    del y, z
    torch.cuda.empty_cache()
    after = library.stats().device_reserved_bytes
    expect(without <= with_graph - 60 * MIB, f"a released graph kept its memory: {with_graph / MIB} and then {without / MIB} MiB")
    expect(after <= without - 120 * MIB, f"freed results were kept: {without / MIB} and then {after / MIB} MiB")
    return {"reserved_mib": [with_graph / MIB, without / MIB, after / MIB]}


@case
def shared_pool(torch, library):
    """Two graphs of one pool, and what the second costs."""
    use_gpumem(torch, library)
    x = torch.ones(4096, 4096, device="cuda")
    out = [torch.empty_like(x) for _ in range(2)]
    torch.cuda.synchronize()
    graphs, reserved = [], []
    for i in range(2):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[i], pool=graphs[0].pool() if i else None):
            torch.add((x * 2 + i).tanh(), x, out=out[i])
        reserved.append(library.stats().device_reserved_bytes / MIB)
    for _ in range(3):
        for graph in graphs:
            graph.replay()
        disturb(torch, 5)
    for i in range(2):
        expect(torch.allclose(out[i], (x * 2 + i).tanh() + x), f"graph {i} gave wrong numbers")
    expect(reserved[1] <= reserved[0] + 2, f"the second graph took memory of its own: {reserved} MiB")
    return {"reserved_mib": reserved}


@case
def graphed_callables(torch, library):
    """torch.cuda.make_graphed_callables: forward and backward graphs of a module."""
    use_gpumem(torch, library)
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
    x = torch.randn(256, 512, device="cuda", requires_grad=True)
    net(x).square().mean().backward()
    expected = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    graphed = torch.cuda.make_graphed_callables(net, (torch.randn(256, 512, device="cuda", requires_grad=True),))
    for seed in range(4):
        net.zero_grad()
        graphed(x).square().mean().backward()
        disturb(torch, seed)
    worst = max(float((p.grad - e).abs().max()) for p, e in zip(net.parameters(), expected))
    expect(worst < 1e-5, f"gradients differ by {worst}")
    return {"worst": worst}


@case
def streams_in_a_graph(torch, library):
    """A graph on two streams, with blocks that both use."""
    use_gpumem(torch, library)
    x = torch.arange(4 * MIB, device="cuda", dtype=torch.int64)
    side, main = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=main):
        a = x * 2
        side.wait_stream(main)
        with torch.cuda.stream(side):
            b = (a + 1) * 3
            a.record_stream(side)
        del a
        c = (x + 7) * 5
        d = c * 2
        main.wait_stream(side)
        result = b + d
    for seed in range(6):
        x.copy_(torch.arange(4 * MIB) + seed)
        graph.replay()
        i = torch.arange(4 * MIB) + seed
        expect(torch.equal(result.cpu(), (i * 2 + 1) * 3 + (i + 7) * 10), f"replay {seed} gave wrong numbers")
        disturb(torch, seed)


@case
def failed_capture(torch, library):
    """A capture that fails, and another after it."""
    use_gpumem(torch, library)
    x = torch.ones(MIB, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            y = x * 2
            torch.cuda.synchronize()
        raise Failed("a synchronisation was captured")
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
    del graph
    x.zero_()
    expect(float((x + 1).sum()) == MIB, "eager work fails after a failed capture")
    return {"reason": reason}


def compile_with(torch, trees):
    import torch._inductor.config as config
    config.triton.cudagraph_trees = trees
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()
    compiled = torch.compile(net, mode="reduce-overhead")
    with torch.no_grad():
        for seed in range(8):
            x = torch.randn(64, 256, device="cuda")
            difference = float((compiled(x).clone() - net(x)).abs().max())
            expect(difference < 1e-4, f"call {seed} differs by {difference}")
            disturb(torch, seed)


@case
def compiled_without_trees(torch, library):
    """torch.compile(mode="reduce-overhead") with config.triton.cudagraph_trees = False."""
    use_gpumem(torch, library)
    compile_with(torch, False)


@case
def compiled_with_trees(torch, library):
    """The default of reduce-overhead, which asks questions that PyTorch's class for foreign allocators refuses."""
    use_gpumem(torch, library)
    try:
        compile_with(torch, True)
    except RuntimeError as error:
        sentence = str(error)
        expect("does not yet support" in sentence, f"another reason than was expected: {sentence}")
        return {"refused": sentence.splitlines()[0]}
    return {"refused": "no, it works"}


@case
def eager_segments(torch, library):
    """torch.cuda.use_mem_pool() with segments from gpumem, beside PyTorch's own allocator."""
    pool, kept = pool_of_segments(torch, library)
    with torch.cuda.use_mem_pool(pool):
        x = torch.ones(64 * MIB, device="cuda")
    expect(library.stats().device_bytes >= 256 * MIB, "the memory is not gpumem's")
    expect(float(x.sum()) == 64 * MIB, "wrong numbers")
    del x, pool
    gc.collect()
    torch.cuda.empty_cache()
    left = library.stats().device_bytes
    expect(left == 0, f"{left} bytes were not given back")


@case
def cupy_graph(_, library):
    """CuPy's capture with memory from gpumem."""
    import cupy
    stream = cupy.cuda.Stream(non_blocking=True)
    addresses = [library.address(name) for name in ("gpumem_cupy_malloc", "gpumem_cupy_free")]
    pool = (ctypes.c_int32(0), ctypes.c_int64(-1), ctypes.c_int64(1))
    cupy.cuda.set_allocator(cupy.cuda.memory.CFunctionAllocator(stream.ptr, *addresses, library).malloc)
    with stream:
        x = cupy.arange(8 * MIB, dtype=cupy.int64)
        result = cupy.empty_like(x)
        cupy.subtract(x * 3 + 1, 2, out=result)  # compiles the kernels
        stream.synchronize()
        library.functions.gpumem_torch_begin_pool(*pool, None)
        stream.begin_capture()
        cupy.subtract(x * 3 + 1, 2, out=result)
        graph = stream.end_capture()
        library.functions.gpumem_torch_end_pool(*pool)
        for seed in range(6):
            x += 1
            eager = [cupy.full(8 * MIB, -1, dtype=cupy.int64) for _ in range(3)]
            graph.launch(stream)
            stream.synchronize()
            expect(bool((result == (cupy.arange(8 * MIB) + seed + 1) * 3 - 1).all()), f"replay {seed} gave wrong numbers")
            expect(all(bool((array == -1).all()) for array in eager), "a replay wrote over eager memory")
            del eager
        stream.synchronize()
    library.functions.gpumem_torch_empty_cache()
    before = library.stats().device_reserved_bytes
    del graph
    library.functions.gpumem_torch_release_pool(*pool)
    library.functions.gpumem_torch_empty_cache()
    after = library.stats().device_reserved_bytes
    expect(after <= before - 60 * MIB, f"the graph's memory was not given back: {before / MIB} and then {after / MIB} MiB")
    del x, result  # before their stream
    return {"reserved_mib": [before / MIB, after / MIB]}


def run_one(library, name):
    torch = None
    if name != "cupy_graph":
        import torch
    try:
        row = CASES[name](torch, library) or {}
    except Failed as error:
        row = {"failed": str(error)}
    except Exception as error:  # a row as well, so that the other cases run
        sentence = (str(error).splitlines() or [""])[0]
        row = {"failed": f"{type(error).__name__}: {sentence}; gpumem: {library.last_error()}"}
    print("row " + json.dumps(row), flush=True)
    os._exit(0)  # no destructors of a library in an unknown state


def row_of(path, name):
    command = [sys.executable, __file__, path, "--one", name]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": "no result after 150 s"}
    rows = [line[4:] for line in child.stdout.splitlines() if line.startswith("row ")]
    if rows:
        return json.loads(rows[-1])
    return {"failed": f"exit {child.returncode}: {' | '.join((child.stdout + child.stderr).splitlines()[-4:])}"}


def compare(rows, way):
    """The losses and the memory of training, beside those with PyTorch's own allocator."""
    own, ours = rows["train_own"], rows[f"train_{way}"]
    if "failed" in own or "failed" in ours:
        return {"failed": "a training failed"}
    ratio = ours["mib"] / own["mib"]
    worst = max(abs(a - b) / abs(a) for a, b in zip(own["losses"], ours["losses"]))
    row = {"ratio_of_memory": round(ratio, 3), "mib": [round(own["mib"]), round(ours["mib"])], "losses_differ_by": worst}
    if ours["losses"] != own["losses"]:
        row["failed"] = "the losses differ"
    elif len(set(own["losses"])) < 8 or any(loss != loss for loss in own["losses"]):
        row["failed"] = f"the losses are not those of a training: {own['losses']}"
    elif ratio > 1.05:
        row["failed"] = "more than 1.05 times the memory"
    elif way == "segments" and (ours["gpumem_mib_with_graph"] < 100 or ours["gpumem_mib"] > 0):
        row["failed"] = f"segments: {ours['gpumem_mib_with_graph']} MiB with the graph, {ours['gpumem_mib']} after it"
    return row


def show(name, row):
    numbers = {key: value for key, value in row.items() if key not in ("losses", "failed")}
    print(f"{'FAIL' if 'failed' in row else 'PASS'} {name:24} {row.get('failed', '')} {json.dumps(numbers)}", flush=True)
    return "failed" in row


def main():
    path = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["--one"]:
        return run_one(Library(path), sys.argv[3])
    probe = """import torch
assert torch.cuda.is_available(), "PyTorch finds no GPU"
print(torch.__version__, torch.cuda.get_device_name())"""
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    if found.returncode != 0:
        skip(found.stderr.splitlines()[-1])
    print(found.stdout.strip())
    rows, failures = {}, 0
    for name in sys.argv[2:] or CASES:
        rows[name] = row_of(path, name)
        failures += show(name, rows[name])
        if name in ("train_gpumem", "train_segments") and "train_own" in rows:
            failures += show(name + ":own", compare(rows, name[6:]))
    print(f"{'FAIL' if failures else 'PASS'} {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())

#!/usr/bin/env python3
"""PyTorch on gpumem's pool. Results are the same as with PyTorch's allocator, the memory comes from gpumem, and all of it is freed.

usage: torch_test.py LIBGPUMEM_SO
"""

import ctypes
import gc
import hashlib
import subprocess
import sys
import time

from gpumem_stats import Library, expect, skip

STREAMS = 4
ROUNDS = 30
SIDE = 257


def work(torch):
    """Elementwise work on several streams. One stream makes blocks that another uses. Returns the bytes of the results."""
    digest = hashlib.sha256()
    streams = [torch.cuda.default_stream()] + [torch.cuda.Stream() for _ in range(STREAMS - 1)]
    results = []
    for round_ in range(ROUNDS):
        stream = streams[round_ % STREAMS]
        other = streams[(round_ + 1) % STREAMS]
        with torch.cuda.stream(stream):
            x = torch.arange(SIDE * (SIDE + round_), device="cuda", dtype=torch.int64)
            y = (x * 3 + round_).reshape(SIDE, -1).t().contiguous()
            z = torch.cat([y, y + 1])
        other.wait_stream(stream)
        with torch.cuda.stream(other):
            results.append((z * z - 7) % 1000003)
        z.record_stream(other)
        del x, y, z
    torch.cuda.synchronize()
    for result in results:
        on_host = result.cpu()
        digest.update(ctypes.string_at(on_host.data_ptr(), on_host.numel() * on_host.element_size()))
    return digest.hexdigest()


def capture(torch, library):
    """A graph runs on memory from outside. If a graph allocates, PyTorch raises, gpumem has the reason, and the device still works."""
    static_x = torch.ones(1 << 10, device="cuda")
    static_y = torch.zeros(1 << 10, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.add(static_x, static_x, out=static_y)
    graph.replay()
    torch.cuda.synchronize()
    expect(float(static_y.sum()) == 2 << 10, "a graph without memory of its own does not run")

    x = torch.arange(1 << 16, device="cuda", dtype=torch.int64)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    raised = None
    try:
        with torch.cuda.graph(graph):
            y = x * 2 + 1
    except RuntimeError as error:
        raised = error
    sentence = library.last_error()
    expect(raised is not None, "a graph was captured whose memory gpumem did not give")
    expect("invalidated" in sentence and "graph" in sentence, f"gpumem's reason is missing: {sentence!r}")
    print(f"PyTorch raised {type(raised).__name__}: {str(raised).splitlines()[0]}\ngpumem says: {sentence}")
    try:
        graph.replay()
        torch.cuda.synchronize()
        expect(False, "a graph that was not captured can be replayed")
    except RuntimeError:
        pass
    expect(int((x * 2 + 1).sum()) == (1 << 16) ** 2, "the device does not work after the capture")
    torch.cuda.synchronize()


def use_gpumem(torch, library):
    allocator = torch.cuda.memory.CUDAPluggableAllocator(library.path, "gpumem_torch_malloc", "gpumem_torch_free")
    allocator.allocator().set_record_stream_fn(library.address("gpumem_torch_record_stream"))
    torch.cuda.memory.change_current_allocator(allocator)


def main():
    try:
        import torch
    except ImportError as error:
        skip(f"PyTorch can't be imported: {error}")
    if not torch.cuda.is_available():
        skip("PyTorch finds no GPU")
    if sys.argv[1] == "--default":  # another process, because an allocator in use can't be changed
        print(work(torch))
        return
    library = Library(sys.argv[-1])
    if sys.argv[1] == "--capture":  # in another process too, because PyTorch may remain in a capture
        use_gpumem(torch, library)
        return capture(torch, library)
    ours = subprocess.run([sys.executable, __file__, "--default"], check=True, capture_output=True, text=True)
    expected = ours.stdout.strip()
    subprocess.run([sys.executable, __file__, "--capture", library.path], check=True)
    use_gpumem(torch, library)
    torch.cuda.init()

    before = library.stats()
    block = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    during = library.stats()
    expect(during.device_bytes >= before.device_bytes + (1 << 20), "a tensor's memory is not gpumem's")
    expect(during.device_allocations > before.device_allocations, "gpumem was not asked for the tensor's memory")
    del block
    expect(torch.empty(0, device="cuda").numel() == 0, "a tensor of no elements can't be made")

    for _ in range(3):
        found = work(torch)
        expect(found == expected, f"the results differ from those of PyTorch's own allocator: {found}, not {expected}")
    gc.collect()
    torch.cuda.synchronize()
    after = library.stats()
    expect(after.device_blocks == before.device_blocks, f"{after.device_blocks} blocks were not given back")
    expect(after.device_hits > after.device_misses, "freed memory was not used again")

    pairs = 20000
    begin = time.perf_counter()
    for _ in range(pairs):
        torch.empty(4096, dtype=torch.uint8, device="cuda")
    each = (time.perf_counter() - begin) / pairs
    print(f"{after.device_allocations} allocations, {after.device_hits} without new memory; "
          f"a torch.empty and its end: {each * 1e6:.2f} us")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main()

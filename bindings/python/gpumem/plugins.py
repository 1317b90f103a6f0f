"""gpumem's pool as the allocator of PyTorch and CuPy."""

import itertools

from . import _gpumem as raw
from . import _library

# Functions of PyTorch's allocator that are set, where PyTorch has them, and gpumem's function for each.
HOOKS = {
    "set_record_stream_fn": "gpumem_torch_record_stream",
    "set_begin_allocate_to_pool": "gpumem_torch_begin_pool",
    "set_end_allocate_to_pool_fn": "gpumem_torch_end_pool",
    "set_release_pool": "gpumem_torch_release_pool",
    "set_reset_fn": "gpumem_torch_empty_cache",
}
numbers = itertools.count(1)
segments = []  # the allocator of all pools, which PyTorch does not keep alive


def torch_allocator():
    """An allocator for torch.cuda.memory.change_current_allocator(). Set it before PyTorch uses the GPU."""
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(_library.path, "gpumem_torch_malloc", "gpumem_torch_free")
    for hook, function in HOOKS.items():
        if hasattr(allocator.allocator(), hook):
            getattr(allocator.allocator(), hook)(raw.function_address(function))
    return allocator


def torch_pool():
    """A torch.cuda.MemPool with memory from gpumem, for programs whose allocator is PyTorch's own.

    Use it with torch.cuda.use_mem_pool(pool), or with torch.cuda.graph(graph, pool=pool.id).
    """
    import torch

    if not segments:
        names = ("gpumem_torch_segment_malloc", "gpumem_torch_segment_free")
        segments.append(torch.cuda.memory.CUDAPluggableAllocator(_library.path, *names))
    return torch.cuda.MemPool(segments[0].allocator())


def cupy_allocator(stream=0):
    """An allocator for cupy.cuda.set_allocator().

    stream=0 is safe in every program. With the number of a stream (1 is the default stream), frees do not wait, and the
    program may use the memory only on that stream.
    """
    import cupy

    addresses = [raw.function_address(name) for name in ("gpumem_cupy_malloc", "gpumem_cupy_free")]
    return cupy.cuda.memory.CFunctionAllocator(stream, *addresses, raw).malloc


class GraphMemory:
    """Memory for a graph that CuPy captures with cupy_allocator(stream.ptr).

    In its with statement, memory that CuPy allocates on any such stream is the graph's. Call release() when the graph
    is no longer used.
    """

    def __init__(self, device=0):
        self.pool = (device, -1, next(numbers))  # PyTorch's numbers are not negative
        self.begun = 0

    def __enter__(self):
        raw.gpumem_torch_begin_pool(*self.pool, 0)
        self.begun += 1
        return self

    def __exit__(self, *exception):
        raw.gpumem_torch_end_pool(*self.pool)

    def release(self):
        for _ in range(self.begun):
            raw.gpumem_torch_release_pool(*self.pool)
        self.begun = 0

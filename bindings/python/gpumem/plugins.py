"""gpumem's pool as the allocator of PyTorch and CuPy."""

from . import _gpumem as raw
from . import _library


def torch_allocator():
    """For torch.cuda.memory.change_current_allocator(), before PyTorch has used the GPU."""
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(_library.path, "gpumem_torch_malloc", "gpumem_torch_free")
    allocator.allocator().set_record_stream_fn(raw.function_address("gpumem_torch_record_stream"))
    return allocator


def cupy_allocator(stream=0):
    """For cupy.cuda.set_allocator(). 0: safe in every program. A stream's number, 1 for the default one: nothing waits, and
    the memory is used on that stream alone."""
    import cupy

    addresses = [raw.function_address(name) for name in ("gpumem_cupy_malloc", "gpumem_cupy_free")]
    return cupy.cuda.memory.CFunctionAllocator(stream, *addresses, raw).malloc

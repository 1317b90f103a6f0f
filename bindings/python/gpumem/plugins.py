"""gpumem's pool as the allocator of PyTorch and CuPy."""

from . import _gpumem as raw
from . import _library


def torch_allocator():
    """An allocator for torch.cuda.memory.change_current_allocator(). Set it before PyTorch uses the GPU."""
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(_library.path, "gpumem_torch_malloc", "gpumem_torch_free")
    allocator.allocator().set_record_stream_fn(raw.function_address("gpumem_torch_record_stream"))
    return allocator


def cupy_allocator(stream=0):
    """An allocator for cupy.cuda.set_allocator().

    stream=0 is safe in every program. With the number of a stream (1 is the default stream), frees do not wait, and the
    program may use the memory only on that stream.
    """
    import cupy

    addresses = [raw.function_address(name) for name in ("gpumem_cupy_malloc", "gpumem_cupy_free")]
    return cupy.cuda.memory.CFunctionAllocator(stream, *addresses, raw).malloc

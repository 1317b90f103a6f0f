"""gpumem: the memory side of a GPU, for arrays of NumPy, PyTorch, CuPy and other libraries.

    with gpumem.Context() as ctx:          # your current CUDA device, else the first one, else the host
        ctx.reduce(array, "sum")           # exact, or the same bits on every device

The location of the data decides where the work runs. `gpumem.raw` has each function of gpumem.h under its own name.
"""

from . import _library  # opens libgpumem.so
from . import _gpumem as raw
from . import errors
from .array import Array
from .context import Context, Event, Stream, device_count, device_query, last_problem, variants, version
from .dist import Dist, DistLayout, DistPlan
from .errors import *  # noqa: F403
from .errors import Error
from .names import (DEVICE_BEST, DEVICE_CUDA, DEVICE_HOST, DEVICE_NONE, Advice, Axis, Backend, CompareOp, Dtype, Family,
                    Filter, Format, Kind, LogLevel, MapOp, Op, Status)
from .plugins import GraphMemory, cupy_allocator, torch_allocator, torch_pool

library_path = _library.path
__version__ = "%d.%d.%d" % version()
__all__ = ["Advice", "Array", "Axis", "Backend", "CompareOp", "Context", "DEVICE_BEST", "DEVICE_CUDA", "DEVICE_HOST", "DEVICE_NONE",
           "Dist", "DistLayout", "DistPlan", "Dtype", "Error", "Event", "Family", "Filter", "Format", "GraphMemory", "Kind",
           "LogLevel", "MapOp",
           "Op", "Status", "Stream",
           "cupy_allocator", "device_count", "device_query", "last_problem", "library_path",
           "raw", "torch_allocator", "torch_pool", "variants", "version",
           *errors.__all__]  # noqa: F405

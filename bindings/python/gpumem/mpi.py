"""The processes of MPI as those of a gpumem_dist, by the adapter libgpumem_mpi_openmpi.so.0 or libgpumem_mpi_mpich.so.0."""

import ctypes
import os
import struct

from . import _gpumem as raw
from . import _library
from .errors import failure
from .names import STRUCTS, Dtype

KINDS = {"Open MPI": "openmpi", "MPICH": "mpich"}


def adapter_name():
    """Of the MPI that mpi4py has."""
    from mpi4py import MPI

    vendor = MPI.get_vendor()[0]
    if vendor not in KINDS:
        raise ValueError(f"mpi4py has {vendor}, and there are adapters for {' and '.join(KINDS)}; expected mpi_library with the path of one")
    return f"libgpumem_mpi_{KINDS[vendor]}.so.0"


def library_folder():
    """Where libgpumem.so was opened."""
    if os.path.dirname(_library.path):
        return os.path.dirname(_library.path)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = [line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/libgpumem.so" in line]
    return os.path.dirname(paths[0]) if paths else ""


def open_adapter():
    """Beside libgpumem.so, else where the loader looks."""
    name = adapter_name()
    beside = os.path.join(library_folder(), name)
    return ctypes.CDLL(beside if os.path.exists(beside) else name)


def mpi_transport(comm, library=None):
    """A gpumem_dist_transport of the processes of a communicator, for gpumem_dist_create() to take over."""
    adapter = open_adapter() if library is None else ctypes.CDLL(os.fspath(library))
    size = struct.calcsize(STRUCTS["gpumem_dist_transport"][0])
    table = raw.View((size,), int(Dtype.U8))
    raw.gpumem_dist_transport_init(table, size)
    status = adapter.gpumem_mpi_transport_f(ctypes.c_int(comm.py2f()), ctypes.c_void_p(table.address))
    if status != 0:
        raise failure(status, "MPI gives no transport: it is not running, or not to be called from this thread, or the communicator is none or an "
                              "intercommunicator")  # fmt: skip
    return table

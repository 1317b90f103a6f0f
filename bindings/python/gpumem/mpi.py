"""Transports over MPI, by the adapter libgpumem_mpi_openmpi.so.0 or libgpumem_mpi_mpich.so.0."""

import ctypes
import os
import struct

from . import _gpumem as raw
from . import _library
from .errors import failure
from .names import STRUCTS, Dtype

KINDS = {"Open MPI": "openmpi", "MPICH": "mpich"}


def adapter_name():
    """The file name of the adapter for the MPI of mpi4py."""
    from mpi4py import MPI

    vendor = MPI.get_vendor()[0]
    if vendor not in KINDS:
        raise ValueError(f"mpi4py uses {vendor}, but adapters exist for {' and '.join(KINDS)}; pass the path of another adapter as mpi_library")
    return f"libgpumem_mpi_{KINDS[vendor]}.so.0"


def library_folder():
    """The folder of the opened libgpumem.so."""
    if os.path.dirname(_library.path):
        return os.path.dirname(_library.path)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = [line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/libgpumem.so" in line]
    return os.path.dirname(paths[0]) if paths else ""


def open_adapter():
    """Opens the adapter from the folder of libgpumem.so, else by the loader."""
    name = adapter_name()
    beside = os.path.join(library_folder(), name)
    return ctypes.CDLL(beside if os.path.exists(beside) else name)


def mpi_transport(comm, library=None):
    """A gpumem_dist_transport for the processes of a communicator. gpumem_dist_create() takes it over."""
    adapter = open_adapter() if library is None else ctypes.CDLL(os.fspath(library))
    size = struct.calcsize(STRUCTS["gpumem_dist_transport"][0])
    table = raw.View((size,), int(Dtype.U8))
    raw.gpumem_dist_transport_init(table, size)
    status = adapter.gpumem_mpi_transport_f(ctypes.c_int(comm.py2f()), ctypes.c_void_p(table.address))
    if status != 0:
        raise failure(status, "MPI gives no transport: it is not running, this thread may not call it, or the communicator is MPI_COMM_NULL or an "
                              "intercommunicator")  # fmt: skip
    return table

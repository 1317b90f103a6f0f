#!/usr/bin/env python3
"""Tests a Dist over MPI processes, through its adapter. It does not need mpi4py, which few machines have.

usage: mpirun.KIND -n 3 over_mpi.py FOLDER_OF_THE_PACKAGE ADAPTER
"""

import ctypes
import random
import sys
import time
from array import array


class World:
    """MPI_COMM_WORLD with the only method of mpi4py's communicators that is needed: the Fortran integer of the communicator."""

    def __init__(self, adapter):
        self.mpi = ctypes.CDLL(adapter)  # with the MPI that it is linked to
        given = ctypes.c_int()
        self.mpi.MPI_Init_thread(None, None, 3, ctypes.byref(given))  # MPI_THREAD_MULTIPLE of Open MPI and MPICH
        assert given.value == 3, given.value

    def py2f(self):
        return 0 if hasattr(self.mpi, "ompi_mpi_comm_world") else 0x44000000  # of Open MPI, of MPICH

    def end(self):
        self.mpi.MPI_Finalize()


def tell_of_mistakes(gpumem, dist, stream, rank, mine, whole, part):
    """Process 1 makes mistakes that the package finds before it calls the library. The others learn of them at once, as of the library's
    refusals: they go on after plans and reductions that send no elements, and else the connection is lost."""
    sums, move = dist.plan_reduce(mine), dist.plan_redistribute(mine, whole)
    wrong = rank == 1
    some = part[:-1] if wrong else part
    everything = array("d", bytes(8 * 10_000))
    calls = [
        lambda: sums.reduce(some, "max"),
        lambda: sums.argreduce(some, "max"),
        lambda: dist.plan_reduce(None if wrong else mine),
        lambda: dist.plan_halo(mine, [0, 0] if wrong else [0], [0], [0]),
        lambda: dist.plan_redistribute(mine, whole, [0, 1] if wrong else [0]),
    ]
    start = time.monotonic()
    for number, call in enumerate(calls):
        try:
            call()
        except (ValueError, TypeError) as error:
            assert wrong or isinstance(error, gpumem.InvalidArgument), (number, error)
        else:
            raise AssertionError(f"call {number} of process {rank}")
    assert sums.reduce(part, "max") <= 1
    try:
        move.execute(some, everything, streams=[stream] if wrong else None)
    except ValueError as error:
        assert wrong or isinstance(error, gpumem.InvalidArgument), error
    except gpumem.PeerLost:
        assert not wrong
    else:
        raise AssertionError(f"process {rank} moved")
    assert time.monotonic() - start < 30


def main():
    sys.path.insert(0, sys.argv[1])
    import gpumem

    world = World(sys.argv[2])
    generator = random.Random(3)
    x = array("d", [generator.uniform(-1, 1) for _ in range(10_000)])
    with gpumem.Context("host", host_threads=1) as ctx, gpumem.Dist([ctx], world, mpi_library=sys.argv[2]) as dist:
        info = dist.query()
        first, end = (len(x) * part // info.size for part in (info.rank, info.rank + 1))
        mine, whole = gpumem.DistLayout([len(x)], [slice(first, end)]), gpumem.DistLayout([len(x)], [slice(None)])
        all_of_it = array("d", bytes(8 * len(x)))
        dist.plan_redistribute(mine, whole).execute(x[first:end], all_of_it)
        assert all_of_it == x
        stream = ctx.Stream()
        move, copies = dist.plan_redistribute(mine, whole), [array("d", bytes(8 * len(x))) for _ in range(5)]
        for copy in copies:
            move.execute(x[first:end], copy, streams=[stream])
        stream.synchronize()
        assert all(copy == x for copy in copies)
        plan = dist.plan_reduce(mine)
        assert plan.reduce(x[first:end]) == ctx.reduce(x)
        assert plan.argreduce(x[first:end], "max") == ctx.argreduce(x, "max")
        tell_of_mistakes(gpumem, dist, stream, info.rank, mine, whole, x[first:end])
        if info.rank == 0:
            print(f"{info.size} processes")
            assert info.size > 1
        del plan, move
    world.end()
    try:
        gpumem.Dist([gpumem.Context("host")], world, mpi_library=sys.argv[2])
    except gpumem.Unsupported as error:
        assert "MPI" in str(error)
    else:
        raise AssertionError("MPI is over")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()

/* SPDX-License-Identifier: Apache-2.0
 *
 * gpumem over MPI: the transport for the processes of a gpumem_dist. libgpumem.so does not link MPI. Each MPI has its
 * own binary interface, so the program's own mpicc compiles gpumem_mpi.c:
 *
 *   mpicc program.c PREFIX/share/gpumem/mpi/gpumem_mpi.c $(pkg-config --cflags --libs gpumem)
 *
 * Alternatively link gpumem::mpi of find_package(gpumem COMPONENTS MPI). MPI never receives a pointer to device
 * memory. */
#ifndef GPUMEM_MPI_H
#define GPUMEM_MPI_H

#include <gpumem.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills a transport for the processes of comm, in their order. Call gpumem_dist_transport_init() on it first. The
 * call is collective over comm. It keeps a duplicate of comm, so the program's messages and the library's never mix.
 * gpumem_dist_create() takes the transport over. If you do not call that, release the transport once with
 * transport->release(transport->user). The call does not change gpumem_last_error(). After a failure the transport is
 * unchanged. The form for Fortran takes a communicator's integer handle: comm%MPI_VAL in the module mpi_f08.
 *
 * Failures    MPI returns errors on the duplicate (MPI_ERRORS_RETURN), and they become GPUMEM_PEER_LOST. MPI or its
 *             launcher may end the program first, as they do if a process dies. If a running transfer fails, MPICH
 *             calls the error handler of MPI_COMM_WORLD. It ends the program unless it is MPI_ERRORS_RETURN too.
 * Threads     MPI_Init_thread() sets the level. It restricts the calls that use the gpumem_dist. SINGLE, FUNNELED:
 *             only the thread that called MPI_Init_thread(). Calls from another thread fail without a call of MPI.
 *             SERIALIZED: any thread. The adapter makes one call of MPI at a time, under a lock. The program must not
 *             call MPI while another thread is in such a call. MULTIPLE: any thread. gpumem_dist_execute_async()
 *             between processes calls MPI from a thread of the library until the exchange has ended.
 * Finalize    After MPI_Finalize() the calls fail in the same way, and gpumem_dist_destroy() works. Before
 *             MPI_Finalize() all transfers must have ended. After a failure of the gpumem_dist they may not have. End
 *             such a program with MPI_Abort(). If a thread that SINGLE or FUNNELED does not allow destroys the
 *             gpumem_dist, the duplicate remains until MPI_Finalize().
 *
 * Errors: OUT_OF_MEMORY; PEER_LOST (MPI cannot duplicate the communicator).
 *   INVALID_ARGUMENT: NULL, a transport that is not initialised, MPI_COMM_NULL, or an intercommunicator.
 *   UNSUPPORTED: before MPI_Init(), after MPI_Finalize(), or in a thread that may not call MPI. */
gpumem_status gpumem_mpi_transport(MPI_Comm comm, gpumem_dist_transport* transport);
gpumem_status gpumem_mpi_transport_f(MPI_Fint comm, gpumem_dist_transport* transport);

#ifdef __cplusplus
}
#endif

#endif /* GPUMEM_MPI_H */

/* SPDX-License-Identifier: Apache-2.0
 *
 * gpumem over MPI: fills the table by which the processes of a gpumem_dist reach each other. libgpumem.so links no MPI.
 * gpumem_mpi.c is compiled by the program's own mpicc, since each MPI has its own binary interface:
 *
 *   mpicc program.c PREFIX/share/gpumem/mpi/gpumem_mpi.c $(pkg-config --cflags --libs gpumem)
 *
 * or linked as gpumem::mpi of find_package(gpumem COMPONENTS MPI). MPI never sees a pointer to device memory.
 */
#ifndef GPUMEM_MPI_H
#define GPUMEM_MPI_H

#include <gpumem.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills a transport, which gpumem_dist_transport_init() has initialised, for the processes of comm, in their order.
 * Collective over comm, of which it keeps a duplicate: the program's messages and those of the library do not meet.
 * gpumem_dist_create() takes the transport over; one that does not come to that is released by
 * transport->release(transport->user), once. The sentence of gpumem_last_error() stays as it was.
 *
 * Errors      What MPI reports on the duplicate is returned (MPI_ERRORS_RETURN) and becomes GPUMEM_PEER_LOST, unless MPI
 *             or its launcher ends the program first, as they do where a process dies. MPICH asks MPI_COMM_WORLD's error
 *             handler about a transfer that fails on its way: it ends the program unless it is MPI_ERRORS_RETURN too.
 * Threads     Of the library's calls on the gpumem_dist, with the level that MPI_Init_thread() gave:
 *             SINGLE, FUNNELED: from the thread that called it. From another thread they fail, and MPI is not called.
 *             SERIALIZED: from any thread. The adapter makes one call of MPI at a time, under a lock; the program makes
 *             none of its own while another thread is in such a call.
 *             MULTIPLE: from any thread.
 * Finalize    After MPI_Finalize() they fail in the same way, and gpumem_dist_destroy() works. Before it, all transfers
 *             have ended, which after a gpumem_dist has failed may not be so: MPI_Abort() is what ends such a program.
 *             Destroying in another thread than SINGLE and FUNNELED allow leaves the duplicate until then.
 *
 * The form for Fortran takes a communicator's handle: an integer, which is comm%MPI_VAL in the module mpi_f08.
 * On failure the transport is as it was. Errors: INVALID_ARGUMENT (NULL, a transport that is not initialised,
 * MPI_COMM_NULL, an intercommunicator), UNSUPPORTED (before MPI_Init(), after MPI_Finalize(), or in a thread that may not
 * call MPI), PEER_LOST (MPI can't duplicate the communicator). */
gpumem_status gpumem_mpi_transport(MPI_Comm comm, gpumem_dist_transport* transport);
gpumem_status gpumem_mpi_transport_f(MPI_Fint comm, gpumem_dist_transport* transport);

#ifdef __cplusplus
}
#endif

#endif /* GPUMEM_MPI_H */

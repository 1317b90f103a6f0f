/* SPDX-License-Identifier: Apache-2.0
 *
 * C99, any MPI from 3.0. See gpumem_mpi.h.
 */
#include "gpumem_mpi.h"

#include <pthread.h>
#include <string.h>

/* MPI handles are integers or pointers. They are stored in the table's void *, so no memory is allocated for them. */
typedef char handles_fit[sizeof(MPI_Comm) <= sizeof(void*) && sizeof(MPI_Request) <= sizeof(void*) ? 1 : -1];

static MPI_Comm comm_of(void* user) {
  MPI_Comm comm;
  memcpy(&comm, &user, sizeof comm);
  return comm;
}

static void* pointer_of(const void* handle, size_t size) {
  void* p = NULL;
  memcpy(&p, handle, size);
  return p;
}

/* For MPI_THREAD_SERIALIZED, shared by all transports of the process. */
static pthread_mutex_t serialized = PTHREAD_MUTEX_INITIALIZER;

/* True if this thread may call MPI now. Then call leave() with the same `locked`. MPI allows the calls in here at any
 * time and from any thread. MPI_Query_thread() and MPI_Is_thread_main() need MPI_Init() first. */
static int enter(int* locked) {
  int initialized = 0, finalized = 1, level = MPI_THREAD_SINGLE, main_thread = 0;
  if (MPI_Initialized(&initialized) != MPI_SUCCESS || !initialized) return 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return 0;
  if (MPI_Query_thread(&level) != MPI_SUCCESS) return 0;
  if (level < MPI_THREAD_SERIALIZED && (MPI_Is_thread_main(&main_thread) != MPI_SUCCESS || !main_thread)) return 0;
  *locked = level == MPI_THREAD_SERIALIZED;
  if (*locked) pthread_mutex_lock(&serialized);
  return 1;
}

static void leave(int locked) {
  if (locked) pthread_mutex_unlock(&serialized);
}

/* One tag, because messages of one communicator and tag arrive in order. */
enum { TAG = 0 };

static int32_t begin_send(void* user, const void* p, int64_t bytes, int32_t to, void** request) {
  MPI_Request sending;
  int locked;
  if (!enter(&locked)) return 1;
  const int outcome = MPI_Isend(p, (int)bytes, MPI_BYTE, to, TAG, comm_of(user), &sending);
  leave(locked);
  if (outcome != MPI_SUCCESS) return 1;
  *request = pointer_of(&sending, sizeof sending);
  return 0;
}

static int32_t begin_receive(void* user, void* p, int64_t bytes, int32_t from, void** request) {
  MPI_Request receiving;
  int locked;
  if (!enter(&locked)) return 1;
  const int outcome = MPI_Irecv(p, (int)bytes, MPI_BYTE, from, TAG, comm_of(user), &receiving);
  leave(locked);
  if (outcome != MPI_SUCCESS) return 1;
  *request = pointer_of(&receiving, sizeof receiving);
  return 0;
}

static int32_t test(void* user, void* request, int32_t* done) {
  MPI_Request transfer;
  int locked, ended = 0;
  (void)user;
  if (!enter(&locked)) return 1;
  memcpy(&transfer, &request, sizeof transfer);
  const int outcome =
      MPI_Test(&transfer, &ended, MPI_STATUS_IGNORE); /* frees a finished request, keeps the handle of others */
  leave(locked);
  if (outcome != MPI_SUCCESS) return 1;
  *done = ended != 0;
  return 0;
}

static void release(void* user) {
  MPI_Comm comm = comm_of(user);
  int locked;
  if (!enter(&locked)) return;
  MPI_Comm_free(&comm); /* pending transfers keep the parts of it that they need */
  leave(locked);
}

/* Call between enter() and leave(). */
static gpumem_status connect(MPI_Comm comm, gpumem_dist_transport* transport) {
  MPI_Comm own;
  int inter = 0, rank = 0, size = 0;
  if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return GPUMEM_INVALID_ARGUMENT;
  if (MPI_Comm_dup(comm, &own) != MPI_SUCCESS) return GPUMEM_PEER_LOST;
  if (MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN) != MPI_SUCCESS || MPI_Comm_rank(own, &rank) != MPI_SUCCESS ||
      MPI_Comm_size(own, &size) != MPI_SUCCESS) {
    MPI_Comm_free(&own);
    return GPUMEM_PEER_LOST;
  }
  transport->user = pointer_of(&own, sizeof own);
  transport->rank = rank;
  transport->size = size;
  transport->isend = begin_send;
  transport->irecv = begin_receive;
  transport->test = test;
  transport->release = release;
  return GPUMEM_OK;
}

/* Converts the integer of Fortran inside, because this needs MPI_Init(). */
static gpumem_status transport_of(MPI_Comm comm, const MPI_Fint* fortran, gpumem_dist_transport* transport) {
  int locked;
  if (transport == NULL || transport->struct_size < (int64_t)sizeof *transport) return GPUMEM_INVALID_ARGUMENT;
  if (fortran == NULL && comm == MPI_COMM_NULL) return GPUMEM_INVALID_ARGUMENT;
  if (!enter(&locked)) return GPUMEM_UNSUPPORTED;
  if (fortran != NULL) comm = MPI_Comm_f2c(*fortran);
  const gpumem_status status = comm == MPI_COMM_NULL ? GPUMEM_INVALID_ARGUMENT : connect(comm, transport);
  leave(locked);
  return status;
}

gpumem_status gpumem_mpi_transport(MPI_Comm comm, gpumem_dist_transport* transport) {
  return transport_of(comm, NULL, transport);
}

gpumem_status gpumem_mpi_transport_f(MPI_Fint comm, gpumem_dist_transport* transport) {
  return transport_of(MPI_COMM_NULL, &comm, transport);
}

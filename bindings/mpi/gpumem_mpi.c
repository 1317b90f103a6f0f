/* SPDX-License-Identifier: Apache-2.0
 *
 * C99, any MPI from 3.0. See gpumem_mpi.h.
 */
#include "gpumem_mpi.h"

#include <pthread.h>
#include <stdlib.h>

/* A send, or a receive. A receive waits in the list of its sender until a message has come. */
typedef struct transfer {
  MPI_Request request; /* MPI_REQUEST_NULL while a receive waits */
  struct transfer* next;
  void* p;
  int bytes, from;
} transfer;

typedef struct {
  MPI_Comm comm;
  int size;
  struct {
    transfer *first, *last;
  } waiting[]; /* for each sender */
} connection;

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

static transfer* new_transfer(void* p, int64_t bytes, int32_t from) {
  transfer* const t = malloc(sizeof *t);
  if (t != NULL) *t = (transfer){MPI_REQUEST_NULL, NULL, p, (int)bytes, from};
  return t;
}

static int32_t begin_send(void* user, const void* p, int64_t bytes, int32_t to, void** request) {
  transfer* const t = new_transfer(NULL, bytes, -1);
  int locked;
  if (t == NULL) return 1;
  int sent = enter(&locked);
  if (sent) {
    sent = MPI_Isend(p, t->bytes, MPI_BYTE, to, TAG, ((connection*)user)->comm, &t->request) == MPI_SUCCESS;
    leave(locked);
  }
  if (sent)
    *request = t;
  else
    free(t);
  return !sent;
}

static int32_t begin_receive(void* user, void* p, int64_t bytes, int32_t from, void** request) {
  connection* const c = user;
  int locked;
  if (from < 0 || from >= c->size || !enter(&locked)) return 1;
  transfer* const t = new_transfer(p, bytes, from);
  if (t != NULL) {
    if (c->waiting[from].last != NULL)
      c->waiting[from].last->next = t;
    else
      c->waiting[from].first = t;
    c->waiting[from].last = t;
    *request = t;
  }
  leave(locked);
  return t == NULL;
}

/* Begins to receive a message that has come. It looks at the length before: if a message is longer than the memory, some
 * versions of Open MPI fail and write past the end all the same (4.1.4, between processes of one host). */
static int match(connection* c, transfer* t) {
  MPI_Message message;
  MPI_Status status;
  int came = 0, bytes = 0;
  if (c->waiting[t->from].first != t) return MPI_SUCCESS; /* messages come in order */
  int outcome = MPI_Improbe(t->from, TAG, c->comm, &came, &message, &status);
  if (outcome != MPI_SUCCESS || !came) return outcome;
  outcome = MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (outcome != MPI_SUCCESS) return outcome;
  if (bytes == MPI_UNDEFINED || bytes > t->bytes) return MPI_ERR_TRUNCATE;
  c->waiting[t->from].first = t->next;
  if (t->next == NULL) c->waiting[t->from].last = NULL;
  return MPI_Imrecv(t->p, bytes, MPI_BYTE, &message, &t->request);
}

static int32_t test(void* user, void* request, int32_t* done) {
  transfer* const t = request;
  int locked, ended = 0, outcome = MPI_SUCCESS;
  if (!enter(&locked)) return 1;
  if (t->request == MPI_REQUEST_NULL) outcome = match(user, t);
  if (outcome == MPI_SUCCESS && t->request != MPI_REQUEST_NULL) {
    outcome = MPI_Test(&t->request, &ended, MPI_STATUS_IGNORE);
  }
  leave(locked);
  if (outcome != MPI_SUCCESS) return 1;
  if (ended) free(t);
  *done = ended != 0;
  return 0;
}

/* Transfers that never ended stay, because MPI may still use their memory. */
static void release(void* user) {
  connection* const c = user;
  int locked;
  if (!enter(&locked)) return;
  MPI_Comm_free(&c->comm); /* pending transfers keep the parts of it that they need */
  leave(locked);
  free(c);
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
  connection* const c = calloc(1, sizeof *c + (size_t)size * sizeof *c->waiting);
  if (c == NULL) {
    MPI_Comm_free(&own);
    return GPUMEM_OUT_OF_MEMORY;
  }
  c->comm = own;
  c->size = size;
  transport->user = c;
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

/* The table that bindings/mpi fills, by itself: messages through it, what is refused, and in which threads.
 * usage: mpirun -n RANKS adapter_test funneled|serialized|multiple    by 2 ranks or more */
#include <gpumem_mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { LONGEST = 1 << 20, ROUNDS = 20 };

static gpumem_dist_transport initialized(void) {
  gpumem_dist_transport transport;
  EXPECT(gpumem_dist_transport_init(&transport, sizeof transport) == GPUMEM_OK);
  return transport;
}

static gpumem_dist_transport connected(void) {
  gpumem_dist_transport transport = initialized();
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, &transport) == GPUMEM_OK);
  return transport;
}

/* 0, or what test() failed with. */
static int32_t finish(const gpumem_dist_transport* t, void* request) {
  int32_t done = 0, failed = 0;
  while (!failed && !done) failed = t->test(t->user, request, &done);
  return failed;
}

static unsigned char byte_of(int rank, int message, size_t i) {
  return (unsigned char)(17 * rank + 5 * message + (int)(i % 251));
}

/* Each rank sends messages of several sizes to the next one, which receives them in order, with room for more. */
static int pass_round(const gpumem_dist_transport* t) {
  static const size_t sizes[] = {1, 8, 4097, 100, 65536, LONGEST};
  enum { MESSAGES = sizeof sizes / sizeof *sizes };
  const int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
  unsigned char *out[MESSAGES], *in[MESSAGES];
  void *sends[MESSAGES], *receives[MESSAGES];
  int wrong = 0;
  for (int m = 0; m < MESSAGES; ++m) {
    out[m] = malloc(sizes[m]);
    in[m] = malloc(sizes[m] + 64);
    for (size_t i = 0; i < sizes[m]; ++i) out[m][i] = byte_of(t->rank, m, i);
    memset(in[m], 0xEE, sizes[m] + 64);
    wrong += t->irecv(t->user, in[m], (int64_t)sizes[m] + (m % 2) * 64, before, &receives[m]) != 0;
    wrong += t->isend(t->user, out[m], (int64_t)sizes[m], next, &sends[m]) != 0;
  }
  for (int m = 0; m < MESSAGES; ++m) wrong += finish(t, receives[m]) != 0;
  for (int m = 0; m < MESSAGES; ++m) wrong += finish(t, sends[m]) != 0;
  for (int m = 0; m < MESSAGES; ++m) {
    for (size_t i = 0; i < sizes[m] + 64; ++i) wrong += in[m][i] != (i < sizes[m] ? byte_of(before, m, i) : 0xEE);
    free(in[m]);
    free(out[m]);
  }
  return wrong;
}

/* What is no argument, whatever the state of MPI is. */
static void refuse_arguments(void) {
  gpumem_dist_transport transport = initialized();
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, NULL) == GPUMEM_INVALID_ARGUMENT);
  EXPECT(gpumem_mpi_transport(MPI_COMM_NULL, &transport) == GPUMEM_INVALID_ARGUMENT);
  EXPECT(gpumem_mpi_transport_f(0, NULL) == GPUMEM_INVALID_ARGUMENT);
  transport.struct_size = 0;
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, &transport) == GPUMEM_INVALID_ARGUMENT);
  EXPECT(transport.isend == NULL && transport.user == NULL);
}

/* Before MPI_Init() and after MPI_Finalize(). */
static void refuse_without_mpi(void) {
  gpumem_dist_transport transport = initialized();
  refuse_arguments();
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, &transport) == GPUMEM_UNSUPPORTED);
  EXPECT(gpumem_mpi_transport_f(0, &transport) == GPUMEM_UNSUPPORTED);
  EXPECT(transport.isend == NULL && transport.user == NULL);
}

static void refuse_intercommunicator(void) {
  MPI_Comm half, both;
  gpumem_dist_transport transport = initialized();
  MPI_Comm_split(MPI_COMM_WORLD, this_rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - this_rank % 2, 0, &both);
  EXPECT(gpumem_mpi_transport(both, &transport) == GPUMEM_INVALID_ARGUMENT);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* A message that is longer than the room for it, and one to nobody: the call fails, writes nothing past the room, and does not end the
 * program. Open MPI copies long messages in another way than short ones. */
static void return_errors(const gpumem_dist_transport* t) {
  enum { SHORT = 200, LONG = 12000 };
  static char room[LONG];
  void* request;
  EXPECT(t->isend(t->user, room, sizeof room, t->size, &request) != 0);
  EXPECT(t->irecv(t->user, room, sizeof room, -77, &request) != 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH asks it about a transfer */
  if (t->rank == 0) {
    EXPECT(t->isend(t->user, room, sizeof room, 1, &request) == 0);
  } else if (t->rank == 1) {
    memset(room, 0x55, sizeof room);
    EXPECT(t->irecv(t->user, room, SHORT, 0, &request) == 0 && finish(t, request) != 0);
    for (int i = SHORT; i < LONG; ++i) EXPECT(room[i] == 0x55);
  }
}

/* In a thread that may not call MPI. */
static void* refused(void* table) {
  const gpumem_dist_transport* t = table;
  gpumem_dist_transport another = initialized();
  char room = 0;
  void* request;
  int32_t done = 0;
  EXPECT(t->isend(t->user, &room, 1, t->rank, &request) != 0);
  EXPECT(t->irecv(t->user, &room, 1, t->rank, &request) != 0);
  EXPECT(t->test(t->user, NULL, &done) != 0 && !done);
  EXPECT(gpumem_mpi_transport(MPI_COMM_WORLD, &another) == GPUMEM_UNSUPPORTED);
  t->release(t->user); /* does nothing */
  return NULL;
}

static void* many_rounds(void* table) {
  int wrong = 0;
  for (int i = 0; i < ROUNDS; ++i) wrong += pass_round(table);
  EXPECT(wrong == 0);
  return NULL;
}

/* Two threads, each with a table of its own, at the same time. */
static void in_two_threads(gpumem_dist_transport tables[2], void* (*work)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, &tables[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  static const char* const names[] = {"funneled", "serialized", "multiple"};
  const int levels[] = {MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int asked = 0, given;
  while (argc > 1 && asked < 2 && strcmp(argv[1], names[asked]) != 0) ++asked;
  refuse_without_mpi();
  MPI_Init_thread(&argc, &argv, levels[asked], &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &this_rank);
  refuse_arguments();
  refuse_intercommunicator();

  gpumem_dist_transport tables[2] = {connected(), initialized()};
  EXPECT(gpumem_mpi_transport_f(MPI_Comm_c2f(MPI_COMM_WORLD), &tables[1]) == GPUMEM_OK);
  for (int i = 0; i < 2; ++i) EXPECT(tables[i].rank == this_rank && pass_round(&tables[i]) == 0);
  in_two_threads(tables, given < MPI_THREAD_SERIALIZED ? refused : many_rounds);
  EXPECT(pass_round(&tables[0]) == 0);
  return_errors(&tables[0]);

  /* One that is released early waits for no other; one that is released late, after MPI has ended, does nothing. */
  if (this_rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  tables[0].release(tables[0].user);
  if (this_rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  refuse_without_mpi();
  refused(&tables[1]);
  if (this_rank == 0 && failures == 0) printf("MPI's threads: %s\n", names[asked]);
  return failures != 0;
}

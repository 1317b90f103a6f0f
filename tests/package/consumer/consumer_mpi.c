/* A process by itself is an MPI of one. */
#include <gpumem_mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  gpumem_ctx *ctx;
  gpumem_dist *dist;
  gpumem_dist_transport transport;
  gpumem_dist_options options;
  gpumem_dist_info info;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS || gpumem_ctx_create(NULL, &ctx) != GPUMEM_OK) return 1;
  gpumem_dist_transport_init(&transport, sizeof transport);
  gpumem_dist_options_init(&options, sizeof options);
  gpumem_dist_info_init(&info, sizeof info);
  options.contexts = &ctx;
  options.members = 1;
  options.transport = &transport;
  if (gpumem_mpi_transport(MPI_COMM_WORLD, &transport) != GPUMEM_OK) return 1;
  if (gpumem_dist_create(&options, &dist) != GPUMEM_OK || gpumem_dist_query(dist, &info) != GPUMEM_OK) return 1;
  printf("MPI: process %d of %d\n", (int)info.rank, (int)info.size);
  if (gpumem_dist_destroy(dist) != GPUMEM_OK || gpumem_ctx_destroy(ctx) != GPUMEM_OK) return 1;
  return MPI_Finalize() != MPI_SUCCESS;
}

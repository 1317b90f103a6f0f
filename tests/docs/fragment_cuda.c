/* What a program with CUDA of its own has. */
#include <cuda_runtime_api.h>
#include <gpumem.h>

void iterate(gpumem_stream* stream);
void enqueue_solution(gpumem_stream* stream);
void enqueue_residual(gpumem_stream* stream);
void enqueue_direction(gpumem_stream* stream);
extern double* rr;

void fragment(gpumem_ctx* ctx, gpumem_stream* stream, cudaStream_t native, void* residual, int64_t n, double* norm,
              double tolerance, gpumem_stream* beside, cudaStream_t second, cudaEvent_t product, cudaEvent_t updated) {
  cudaGraph_t graph;
  cudaGraphExec_t step;
  cudaEvent_t done[2];
  /* FRAGMENT */
}

/* What a program with CUDA of its own has. */
#include <cuda_runtime_api.h>
#include <gpumem.h>

void iterate(gpumem_stream* stream);
extern double* rr;

void fragment(gpumem_ctx* ctx, gpumem_stream* stream, cudaStream_t native, void* residual, int64_t n, double* norm,
              double tolerance) {
  cudaGraph_t graph;
  cudaGraphExec_t step;
  cudaEvent_t done[2];
  /* FRAGMENT */
}

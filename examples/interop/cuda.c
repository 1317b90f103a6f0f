/* A program with CUDA of its own: gpumem works on its device memory, in the order of its stream. */
#include <cuda_runtime_api.h>
#include <gpumem.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000, NO_GPU = 77 };

static void check(gpumem_status status) {
  char sentence[512];
  if (status == GPUMEM_OK) return;
  gpumem_last_error(sentence, sizeof sentence, NULL);
  fprintf(stderr, "%s: %s\n", gpumem_status_name(status), sentence);
  exit(1);
}

static void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(error));
  exit(1);
}

int main(void) {
  static float x[N];
  float *d;
  double here;
  void *there;
  cudaStream_t native;
  gpumem_ctx *ctx;
  gpumem_stream *stream;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    puts("there is no GPU");
    return NO_GPU;
  }
  for (int i = 0; i < N; ++i) x[i] = 1.0f / (float)(i + 1);
  check_cuda(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking));
  check_cuda(cudaMalloc((void **)&d, sizeof x));
  check(gpumem_ctx_create(NULL, &ctx)); /* on the device that is current */
  check(gpumem_alloc_pinned(ctx, sizeof(double), &there));
  check(gpumem_stream_wrap(ctx, native, &stream));

  check_cuda(cudaMemcpyAsync(d, x, sizeof x, cudaMemcpyHostToDevice, native));
  check(gpumem_reduce_f32_async(ctx, GPUMEM_SUM, d, N, 1, there, NULL, stream)); /* behind the copy */
  check_cuda(cudaStreamSynchronize(native));

  check(gpumem_reduce_f32(ctx, GPUMEM_SUM, x, N, 1, &here));
  printf("%.17g\n%.17g\n", *(double *)there, here);
  const int differ = *(double *)there != here;
  check(gpumem_free(ctx, there));
  check(gpumem_stream_destroy(stream)); /* the program's stream stays */
  check(gpumem_ctx_destroy(ctx));
  check_cuda(cudaFree(d));
  check_cuda(cudaStreamDestroy(native));
  return differ;
}

/* Loaded before the library: what the first context transposes is right, as the command's reference is, and of every
 * other one a byte is wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gpumem.h>

typedef gpumem_status (*transpose_fn)(gpumem_ctx*, int64_t, int64_t, int64_t, const void*, int64_t, int64_t, void*,
                                      int64_t, int64_t, int64_t);

gpumem_status gpumem_transpose_batched(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                       const void* src, int64_t src_ld, int64_t src_batch_stride, void* dst,
                                       int64_t dst_ld, int64_t dst_batch_stride, int64_t batches) {
  static gpumem_ctx* first;
  gpumem_status status;
  transpose_fn real;
  *(void**)&real = dlsym(RTLD_NEXT, "gpumem_transpose_batched"); /* as POSIX has it */
  status = real(ctx, element_bytes, rows, cols, src, src_ld, src_batch_stride, dst, dst_ld, dst_batch_stride, batches);
  if (!first) first = ctx;
  if (ctx != first) ((char*)dst)[rows * cols * element_bytes - 1] ^= 1;
  return status;
}

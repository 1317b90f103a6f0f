// The benchmark's own kernels: inputs, comparisons, ceilings, the gate. Simple on purpose.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace bench {

// Input: random_element<T>(i) of 1, 2, 4, 8 or 16 bytes.
void generate_elements(void* x, int64_t n, int element_bytes);

// How many elements are wrong. Block.
int64_t count_wrong_transposed(const void* dst, int64_t rows, int64_t cols, int element_bytes);
int64_t count_wrong_copied(const void* dst, int64_t n, int element_bytes);
int64_t count_wrong_filled(const void* dst, std::size_t bytes, const unsigned char* pattern, int pattern_bytes);

// Occupies the stream until *release becomes non-zero; after two seconds it gives up and sets *timed_out.
void launch_gate(const int* release, int* timed_out, cudaStream_t stream);

// The cheapest launch with the arguments of a fill: the peer of a dispatch.
void launch_small_fill(void* dst, uint64_t low, uint64_t high, int64_t count, cudaStream_t stream);

}  // namespace bench

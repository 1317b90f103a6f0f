// Any pointer: memory of every kind, ours and another library's, is told apart and worked on where it lies.
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

gpumem_pointer_info query(gpumem_ctx* ctx, const void* p) {
  gpumem_pointer_info info;
  gpumem_pointer_info_init(&info, sizeof info);
  EXPECT_EQ(gpumem_pointer_query(ctx, p, &info), GPUMEM_OK) << last_error();
  return info;
}

// Of this thread's last operation.
std::string runs_on(gpumem_ctx* ctx) {
  char line[256] = "";
  EXPECT_EQ(gpumem_last_problem(line, sizeof line, nullptr), GPUMEM_OK);
  char text[4096] = "";
  EXPECT_EQ(gpumem_explain(ctx, line, GPUMEM_FORMAT_JSON, text, sizeof text, nullptr), GPUMEM_OK) << last_error();
  const std::string json = text;
  return json.find("\"runs_on\": \"cuda\"") != std::string::npos ? "cuda" : "host";
}

constexpr int64_t kN = 100003;

// The same numbers in x, whatever its kind; the sum must come out and run where it lies.
void expect_reduced(gpumem_ctx* ctx, const int32_t* x, gpumem_memory_kind kind, const char* where) {
  std::vector<int32_t> numbers(kN);
  std::iota(numbers.begin(), numbers.end(), -7);
  ASSERT_EQ(cudaMemcpy(const_cast<int32_t*>(x), numbers.data(), kN * sizeof(int32_t), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(query(ctx, x).kind, kind);
  EXPECT_EQ(query(ctx, x + 5).kind, kind) << "an interior pointer";
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, kN, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(runs_on(ctx), where);
  EXPECT_EQ(sum, (kN - 1) * kN / 2 - 7 * kN);
}

// As PyTorch's tensors are. Each operand is checked, whether an earlier one is in the same allocation or not.
TEST_F(Gpu, SeveralOperandsMayBeInOneForeignAllocation) {
  constexpr int64_t kBytes = int64_t{8} << 20;  // above 2 MiB, the driver describes exactly what was asked for
  void* p = nullptr;
  void* own = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, 64, &own), GPUMEM_OK) << last_error();
  ASSERT_EQ(cudaMalloc(&p, kBytes), cudaSuccess);
  auto* const x = static_cast<float*>(p);
  constexpr int64_t kEnd = kBytes / 4;
  const float one = 1;
  ASSERT_EQ(gpumem_fill(ctx, x, &one, 4, kEnd), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_axpby_f32(ctx, 2, x, 3, x + 1000, x + kEnd - 10, 10), GPUMEM_OK) << last_error();
  float last = 0;
  ASSERT_EQ(gpumem_copy(ctx, &last, x + kEnd - 1, 4), GPUMEM_OK) << last_error();
  EXPECT_EQ(last, 5);
  EXPECT_EQ(gpumem_axpby_f32(ctx, 2, x, 3, x + 1000, x + kEnd - 9, 10), GPUMEM_OUT_OF_RANGE);
  EXPECT_NE(last_error().find("z: 40 bytes are needed and 36 are left"), std::string::npos) << last_error();
  EXPECT_EQ(gpumem_axpby_f32(ctx, 2, x, 3, x + kEnd - 9, x + 1000, 10), GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(gpumem_axpby_f32(ctx, 2, x, 3, static_cast<float*>(own), x + 1000, 10), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_axpby_f32(ctx, 2, x, 3, static_cast<float*>(own) + 10, x + 1000, 10), GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(gpumem_free(ctx, own), GPUMEM_OK);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST_F(Gpu, ForeignMemoryOfEveryKindIsTakenAndToldApart) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, kN * 4), cudaSuccess);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_DEVICE, "cuda");
  const gpumem_pointer_info info = query(ctx, static_cast<char*>(p) + 100);
  EXPECT_EQ(info.ours, 0);
  EXPECT_EQ(info.base, p);
  EXPECT_EQ(info.offset_bytes, 100);
  EXPECT_GE(info.size_bytes, kN * 4);
  cudaFree(p);

  ASSERT_EQ(cudaMallocManaged(&p, kN * 4), cudaSuccess);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_MANAGED, "cuda");
  cudaFree(p);

  ASSERT_EQ(cudaMallocHost(&p, kN * 4), cudaSuccess);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_PINNED, "host");
  cudaFreeHost(p);

  ASSERT_EQ(cudaMallocAsync(&p, kN * 4, nullptr), cudaSuccess);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_DEVICE, "cuda");
  cudaFreeAsync(p, nullptr);

  p = std::malloc(kN * 4);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_PAGEABLE, "host");
  ASSERT_EQ(cudaHostRegister(p, kN * 4, cudaHostRegisterDefault), cudaSuccess);
  expect_reduced(ctx, static_cast<int32_t*>(p), GPUMEM_MEMORY_PINNED, "host");
  cudaHostUnregister(p);
  std::free(p);
}

TEST_F(Gpu, FreedAndOverrunDevicePointersAreRefused) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 1 << 20), cudaSuccess);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), int64_t{1} << 30, 1, &sum),
            GPUMEM_OUT_OF_RANGE);
  cudaFree(p);
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 4, 1, &sum), GPUMEM_INVALID_POINTER)
      << last_error();

  ASSERT_EQ(gpumem_alloc_device(ctx, 1000, &p), GPUMEM_OK);
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 251, 1, &sum), GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_INVALID_POINTER);
  EXPECT_NE(last_error().find("freed before"), std::string::npos);
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 4, 1, &sum), GPUMEM_INVALID_POINTER)
      << last_error();
  EXPECT_EQ(sum, 17);
}

TEST_F(Gpu, ForeignPinnedMemoryEndsWhereItEnds) {
  void* p = nullptr;
  ASSERT_EQ(cudaMallocHost(&p, 1 << 20), cudaSuccess);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), int64_t{1} << 36, 1, &sum),
            GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(sum, 17);
  cudaFreeHost(p);
}

// Only the middle of a heap block is registered: the block is still one range to the program.
TEST_F(Gpu, PartlyRegisteredMemoryIsCopied) {
  constexpr size_t kPart = 1 << 20;
  auto* block = static_cast<char*>(std::aligned_alloc(4096, 3 * kPart));
  ASSERT_NE(block, nullptr);
  for (size_t i = 0; i < 3 * kPart; ++i) block[i] = static_cast<char>(hash_of(i));
  ASSERT_EQ(cudaHostRegister(block + kPart, kPart, cudaHostRegisterDefault), cudaSuccess);
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, 3 * kPart, &p), GPUMEM_OK);
  std::vector<char> back(3 * kPart);
  for (const auto& [first, bytes] : {std::pair<size_t, int64_t>{0, 3 * kPart}, {0, 2 * kPart}, {kPart, 2 * kPart}}) {
    ASSERT_EQ(gpumem_fill(ctx, p, "-", 1, 3 * kPart), GPUMEM_OK);
    EXPECT_EQ(gpumem_copy(ctx, p, block + first, bytes), GPUMEM_OK) << last_error();
    EXPECT_EQ(gpumem_copy(ctx, back.data(), p, bytes), GPUMEM_OK) << last_error();
    EXPECT_EQ(std::memcmp(back.data(), block + first, static_cast<size_t>(bytes)), 0) << first << ' ' << bytes;
    std::memset(back.data(), 0, back.size());
    EXPECT_EQ(gpumem_copy_async(ctx, p, block + first, bytes, nullptr), GPUMEM_OK) << last_error();
    EXPECT_EQ(gpumem_copy(ctx, back.data(), p, bytes), GPUMEM_OK) << last_error();
    EXPECT_EQ(std::memcmp(back.data(), block + first, static_cast<size_t>(bytes)), 0) << first << ' ' << bytes;
  }
  EXPECT_EQ(gpumem_transpose(ctx, 1, 1536, 2048, block, 2048, p, 1536), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy(ctx, back.data(), p, 3 * kPart), GPUMEM_OK);
  EXPECT_EQ(back[1536 * 5 + 7], block[2048 * 7 + 5]);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  cudaHostUnregister(block + kPart);
  std::free(block);
}

TEST_F(Gpu, HostContextRefusesADevicePointer) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 4096), cudaSuccess);
  gpumem_ctx* host = make_context(GPUMEM_DEVICE_HOST);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(host, GPUMEM_SUM, static_cast<int32_t*>(p), 8, 1, &sum), GPUMEM_UNSUPPORTED)
      << last_error();
  char byte = 0;
  EXPECT_EQ(gpumem_copy(host, &byte, p, 1), GPUMEM_UNSUPPORTED) << last_error();
  void* ours = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, 4096, &ours), GPUMEM_OK);
  EXPECT_EQ(gpumem_copy(host, &byte, ours, 1), GPUMEM_UNSUPPORTED) << last_error();
  EXPECT_EQ(sum, 17);
  EXPECT_EQ(gpumem_free(ctx, ours), GPUMEM_OK);
  EXPECT_EQ(gpumem_ctx_destroy(host), GPUMEM_OK);
  cudaFree(p);
}

TEST_F(Gpu, ResultMayLieAnywhere) {
  std::vector<int32_t> x(1000, 3);
  for (const auto allocate : {gpumem_alloc_device, gpumem_alloc_pinned, gpumem_alloc_managed}) {
    void* p = nullptr;
    ASSERT_EQ(allocate(ctx, 8, &p), GPUMEM_OK) << last_error();
    EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 1000, 1, static_cast<int64_t*>(p)), GPUMEM_OK)
        << last_error();
    int64_t sum = 0;
    EXPECT_EQ(gpumem_copy(ctx, &sum, p, 8), GPUMEM_OK);
    EXPECT_EQ(sum, 3000);
    EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  }
}

TEST_F(Gpu, AnotherDevicesMemoryCanBeCopiedAndNothingElse) {
  int32_t count = 0;
  gpumem_device_count(&count);
  if (count < 2) GTEST_SKIP() << "needs two CUDA devices";
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 4096), cudaSuccess);
  ASSERT_EQ(cudaMemset(p, 1, 4096), cudaSuccess);
  cudaSetDevice(0);
  gpumem_ctx* first = make_context(0);
  void* own = nullptr;
  ASSERT_EQ(gpumem_alloc_device(first, 4096, &own), GPUMEM_OK);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(first, GPUMEM_SUM, static_cast<int32_t*>(p), 8, 1, &sum), GPUMEM_UNSUPPORTED);
  EXPECT_EQ(gpumem_copy(first, own, p, 4096), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_reduce_i32(first, GPUMEM_SUM, static_cast<int32_t*>(own), 8, 1, &sum), GPUMEM_OK);
  EXPECT_EQ(sum, 8 * 0x01010101);
  EXPECT_EQ(gpumem_free(first, own), GPUMEM_OK);
  EXPECT_EQ(gpumem_ctx_destroy(first), GPUMEM_OK);
  cudaFree(p);
}

TEST_F(Gpu, TheCallersDeviceStaysWhatItWas) {
  int32_t count = 0;
  gpumem_device_count(&count);
  for (int device = 0; device < count; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    void* p = nullptr;
    EXPECT_EQ(gpumem_alloc_device(ctx, 4096, &p), GPUMEM_OK);
    EXPECT_EQ(gpumem_fill(ctx, p, "a", 1, 4096), GPUMEM_OK);
    EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
    int now = -1;
    EXPECT_EQ(cudaGetDevice(&now), cudaSuccess);
    EXPECT_EQ(now, device);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  cudaSetDevice(0);
}

}  // namespace
}  // namespace gpumem::gpu_tests

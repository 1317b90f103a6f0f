// Device memory in the order of real streams: reuse waits, captures refuse, and the memory is CUDA's like any other.
#include <vector>

#include "support/contexts.hpp"
#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr int64_t kCount = 4 << 20;
constexpr int64_t kBytes = kCount * 4;

// A stream of the program without any implicit order, wrapped.
struct Wrapped {
  explicit Wrapped(gpumem_ctx* ctx) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK) << last_error();
  }
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;
  ~Wrapped() {
    unwrap();
    cudaStreamDestroy(native);
  }
  void unwrap() {
    EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
    stream = nullptr;
  }

  cudaStream_t native = nullptr;
  gpumem_stream* stream = nullptr;
};

class GpuPool : public Gpu {
 protected:
  int32_t* alloc(const Wrapped& on) {
    void* p = nullptr;
    EXPECT_EQ(gpumem_alloc_async(ctx, kBytes, 256, on.stream, &p), GPUMEM_OK) << last_error();
    return static_cast<int32_t*>(p);
  }
  void fill(int32_t* p, int32_t value, const Wrapped& on) {
    EXPECT_EQ(gpumem_fill_async(ctx, p, &value, 4, kCount, on.stream), GPUMEM_OK) << last_error();
  }
  // What a late reader found: its stream spins, then copies.
  static void read_late(int32_t* dst, const int32_t* src, const Wrapped& on) {
    spin(on.native, 50);
    ASSERT_EQ(cudaMemcpyAsync(dst, src, kBytes, cudaMemcpyDeviceToHost, on.native), cudaSuccess);
  }
};

TEST_F(GpuPool, ADeclaredStreamIsWaitedForByTheNextUser) {
  const Wrapped owner(ctx);
  const Wrapped reader(ctx);
  void* pinned = nullptr;
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &pinned), GPUMEM_OK);
  auto* seen = static_cast<int32_t*>(pinned);
  for (const bool declare : {true, false}) {  // or freed on the reader's stream
    int32_t* p = alloc(owner);
    fill(p, 11, owner);
    ASSERT_EQ(gpumem_stream_synchronize(ctx, owner.stream), GPUMEM_OK);
    read_late(seen, p, reader);
    if (declare) {
      ASSERT_EQ(gpumem_memory_used_on(ctx, p, reader.stream), GPUMEM_OK) << last_error();
    }
    ASSERT_EQ(gpumem_free_async(ctx, p, declare ? owner.stream : reader.stream), GPUMEM_OK) << last_error();
    int32_t* q = alloc(owner);
    EXPECT_EQ(q, p) << "the test wants the same memory again";
    fill(q, 22, owner);
    ASSERT_EQ(cudaStreamSynchronize(reader.native), cudaSuccess);
    EXPECT_EQ(seen[0], 11);
    EXPECT_EQ(seen[kCount - 1], 11);
    ASSERT_EQ(gpumem_free_async(ctx, q, owner.stream), GPUMEM_OK);
  }
  EXPECT_EQ(gpumem_free(ctx, pinned), GPUMEM_OK);
}

TEST_F(GpuPool, AWrappersEndIsWaitedForToo) {
  void* pinned = nullptr;
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &pinned), GPUMEM_OK);
  auto* seen = static_cast<int32_t*>(pinned);
  const Wrapped next(ctx);
  Wrapped owner(ctx);
  int32_t* p = alloc(owner);
  fill(p, 33, owner);
  read_late(seen, p, owner);
  ASSERT_EQ(gpumem_free_async(ctx, p, owner.stream), GPUMEM_OK);
  owner.unwrap();
  for (int i = 0; i < 4; ++i) {
    int32_t* q = alloc(next);
    fill(q, 44, next);
    ASSERT_EQ(gpumem_free_async(ctx, q, next.stream), GPUMEM_OK);
  }
  ASSERT_EQ(cudaStreamSynchronize(owner.native), cudaSuccess);
  EXPECT_EQ(seen[0], 33);
  EXPECT_EQ(seen[kCount - 1], 33);
  EXPECT_EQ(gpumem_free(ctx, pinned), GPUMEM_OK);
}

TEST_F(GpuPool, OnAnotherStreamThanItsOwnTheOrderIsTheDevices) {
  const Wrapped busy(ctx);
  void* pinned = nullptr;
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &pinned), GPUMEM_OK);
  auto* seen = static_cast<int32_t*>(pinned);
  int32_t* p = alloc(busy);
  fill(p, 55, busy);
  read_late(seen, p, busy);
  ASSERT_EQ(gpumem_free_async(ctx, p, busy.stream), GPUMEM_OK);
  void* q = nullptr;  // for every stream, at once: not memory that `busy` still reads
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &q), GPUMEM_OK);
  const int32_t value = 66;
  ASSERT_EQ(gpumem_fill(ctx, q, &value, 4, kCount), GPUMEM_OK);
  ASSERT_EQ(cudaStreamSynchronize(busy.native), cudaSuccess);
  EXPECT_EQ(seen[0], 55);
  EXPECT_EQ(seen[kCount - 1], 55);
  EXPECT_EQ(gpumem_free(ctx, q), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, pinned), GPUMEM_OK);
}

TEST_F(GpuPool, CaptureRefusesAndStaysValid) {
  const Wrapped captured(ctx);
  const Wrapped other(ctx);
  int32_t* p = alloc(captured);
  int32_t* declared = alloc(other);
  ASSERT_EQ(gpumem_memory_used_on(ctx, declared, captured.stream), GPUMEM_OK);
  ASSERT_EQ(cudaStreamBeginCapture(captured.native, cudaStreamCaptureModeGlobal), cudaSuccess);
  void* none = ctx;
  EXPECT_EQ(gpumem_alloc_async(ctx, 4096, 256, captured.stream, &none), GPUMEM_CAPTURING);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(gpumem_free_async(ctx, p, captured.stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_free_async(ctx, declared, other.stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_memory_used_on(ctx, declared, captured.stream), GPUMEM_CAPTURING);
  fill(p, 77, captured);
  int32_t* beside = alloc(other);  // a stream beside the capture is free to go on
  EXPECT_EQ(gpumem_free_async(ctx, beside, other.stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK) << last_error();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured.native, &graph), cudaSuccess) << "the capture must still be valid";
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, captured.native), cudaSuccess);
  int32_t first = 0;
  ASSERT_EQ(cudaMemcpyAsync(&first, p, 4, cudaMemcpyDeviceToHost, captured.native), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(captured.native), cudaSuccess);
  EXPECT_EQ(first, 77);
  EXPECT_EQ(gpumem_free_async(ctx, p, captured.stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_free_async(ctx, declared, other.stream), GPUMEM_OK) << last_error();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(GpuPool, AThreadWithoutACurrentDeviceMayUseIt) {
  const Wrapped stream(ctx);
  int device = -1;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    int32_t* p = alloc(stream);
    fill(p, i, stream);
    ASSERT_EQ(gpumem_free_async(ctx, p, stream.stream), GPUMEM_OK);
  }
  int now = -1;
  ASSERT_EQ(cudaGetDevice(&now), cudaSuccess);
  EXPECT_EQ(now, device);
}

TEST_F(GpuPool, GivesItsMemoryBackWhenTrimmed) {
  constexpr int64_t kLarge = int64_t{1} << 30;
  const Wrapped stream(ctx);
  EXPECT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK);
  size_t free_before = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  if (free_before < 2 * static_cast<size_t>(kLarge)) GTEST_SKIP() << "less than 2 GiB of device memory are free";
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_async(ctx, kLarge, 256, stream.stream, &p), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_free_async(ctx, p, stream.stream), GPUMEM_OK);
  ASSERT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK) << last_error();
  size_t free_after = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_GE(free_after + (size_t{64} << 20), free_before);
}

// Blocks of many sizes, the first half of them freed, then all. Memory goes back in chunks that hold several blocks.
TEST_F(GpuPool, ReservedBytesAreWhatTheDriverCounts) {
  const Wrapped stream(ctx);
  const auto taken = [&] {  // as the driver counts it
    size_t free = 0;
    size_t total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return static_cast<double>(total - free);
  };
  ASSERT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK);
  const double before = taken();
  std::vector<void*> blocks;
  for (int64_t i = 0; i < 200; ++i) {
    void* p = nullptr;
    ASSERT_EQ(gpumem_alloc_async(ctx, 1000 + i * 123457, 256, stream.stream, &p), GPUMEM_OK) << last_error();
    blocks.push_back(p);
  }
  const size_t half = blocks.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    ASSERT_EQ(gpumem_free_async(ctx, blocks[i], stream.stream), GPUMEM_OK);
  }
  for (const int64_t kept : {INT64_MAX, int64_t{500} << 20, int64_t{0}}) {
    ASSERT_EQ(gpumem_memory_trim(ctx, kept), GPUMEM_OK);
    const auto reserved = static_cast<double>(gpumem_test::stats_of(ctx).device_reserved_bytes);
    EXPECT_NEAR(taken() - before, reserved, 0.02 * reserved) << kept;
  }
  const auto live = static_cast<double>(gpumem_test::stats_of(ctx).device_bytes);
  EXPECT_LE(taken() - before, 1.25 * live);
  for (size_t i = half; i < blocks.size(); ++i) {
    ASSERT_EQ(gpumem_free_async(ctx, blocks[i], stream.stream), GPUMEM_OK);
  }
  ASSERT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK);
  EXPECT_NEAR(taken(), before, 0.02 * live);
}

cudaMemoryType type_of(const void* p) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, p), cudaSuccess);
  return attributes.type;
}

TEST_F(GpuPool, RegisteredMemoryIsPinnedForCudaToo) {
  std::vector<char> own(kBytes);
  std::vector<char> theirs(kBytes);
  ASSERT_EQ(gpumem_host_register(ctx, own.data(), kBytes), GPUMEM_OK) << last_error();
  EXPECT_EQ(type_of(own.data() + 100), cudaMemoryTypeHost);
  ASSERT_EQ(cudaHostRegister(theirs.data(), kBytes, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(gpumem_host_register(ctx, theirs.data(), kBytes), GPUMEM_INVALID_ARGUMENT);
  EXPECT_EQ(gpumem_host_unregister(ctx, theirs.data()), GPUMEM_INVALID_POINTER);
  EXPECT_EQ(type_of(theirs.data()), cudaMemoryTypeHost) << "what others registered stays so";
  ASSERT_EQ(cudaHostUnregister(theirs.data()), cudaSuccess);
  EXPECT_EQ(gpumem_host_register(ctx, theirs.data(), kBytes), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_host_unregister(ctx, theirs.data()), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_host_unregister(ctx, own.data()), GPUMEM_OK) << last_error();
  EXPECT_EQ(type_of(own.data()), cudaMemoryTypeUnregistered);
}

TEST_F(GpuPool, KeptPinnedMemoryStaysPinned) {
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &p), GPUMEM_OK) << last_error();
  EXPECT_EQ(type_of(p), cudaMemoryTypeHost);
  ASSERT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  void* q = nullptr;
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &q), GPUMEM_OK);
  EXPECT_EQ(q, p);
  EXPECT_EQ(type_of(q), cudaMemoryTypeHost);
  ASSERT_EQ(gpumem_free(ctx, q), GPUMEM_OK);
  ASSERT_EQ(gpumem_memory_trim(ctx, 0), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests

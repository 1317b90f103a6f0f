// While a stream is captured into a graph, each function does its work or is refused with a status. Either way the capture stays valid, in
// every mode and whichever thread calls, and the graph runs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "api/each_call.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr cudaStreamCaptureMode kModes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                            cudaStreamCaptureModeRelaxed};
constexpr const char* kModeNames[] = {"global", "thread-local", "relaxed"};
constexpr size_t kHalf = 32;  // bytes

// Work of the program's own on a stream: half of it captured before the call, half after it.
class Captured {
 public:
  explicit Captured(cudaStream_t stream) : stream_(stream) {
    EXPECT_EQ(cudaMalloc(&memory_, 2 * kHalf), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&launcher_, cudaStreamNonBlocking), cudaSuccess);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    EXPECT_EQ(cudaStreamDestroy(launcher_), cudaSuccess);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
  }

  void begin(cudaStreamCaptureMode mode) {
    ASSERT_EQ(cudaMemsetAsync(memory_, 0, 2 * kHalf, launcher_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(launcher_), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(memory_, 1, kHalf, stream_), cudaSuccess);
  }
  // False: no graph came of it, or one that does something else.
  bool end() {
    cudaMemsetAsync(static_cast<char*>(memory_) + kHalf, 2, kHalf, stream_);
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    static_cast<void>(cudaGetLastError());
    if (ended != cudaSuccess) return false;
    cudaGraphExec_t executable = nullptr;
    char bytes[2 * kHalf] = {};
    const bool ran = cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess &&
                     cudaGraphLaunch(executable, launcher_) == cudaSuccess &&
                     cudaMemcpyAsync(bytes, memory_, sizeof bytes, cudaMemcpyDefault, launcher_) == cudaSuccess &&
                     cudaStreamSynchronize(launcher_) == cudaSuccess;
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return ran && std::count(bytes, bytes + kHalf, 1) == kHalf &&
           std::count(bytes + kHalf, bytes + 2 * kHalf, 2) == kHalf;
  }

 private:
  cudaStream_t stream_;
  cudaStream_t launcher_ = nullptr;
  void* memory_ = nullptr;
};

// Whose stream is captured.
enum class Whose { the_programs, of_another_context, of_the_context, own_of_the_context };
constexpr Whose kAll[] = {Whose::the_programs, Whose::of_another_context, Whose::of_the_context,
                          Whose::own_of_the_context};
std::string name_of(const testing::TestParamInfo<Whose>& whose) {
  constexpr const char* kNames[] = {"the_programs", "of_another_context", "of_the_context", "own_of_the_context"};
  return kNames[static_cast<int>(whose.param)];
}

// A stream to capture.
class Chosen {
 public:
  Chosen(Whose whose, gpumem_ctx* ctx) : whose_(whose) {
    if (whose == Whose::the_programs) {  // which the library has never seen
      EXPECT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
      return;
    }
    if (whose == Whose::of_another_context) {
      const gpumem_ctx_options options = options_for(On::cuda, 2);
      EXPECT_TRUE(ok(gpumem_ctx_create(&options, &other_)));
    }
    gpumem_ctx* const owner = other_ != nullptr ? other_ : ctx;
    if (whose != Whose::own_of_the_context) {
      EXPECT_TRUE(ok(gpumem_stream_create(owner, &stream)));
    }
    void* handle = nullptr;
    EXPECT_TRUE(ok(gpumem_stream_native(owner, stream, &handle)));
    native = static_cast<cudaStream_t>(handle);
  }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;
  ~Chosen() {
    if (whose_ == Whose::the_programs) {
      EXPECT_EQ(cudaStreamDestroy(native), cudaSuccess);
    }
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
    EXPECT_TRUE(ok(gpumem_ctx_destroy(other_)));
  }

  cudaStream_t native = nullptr;
  gpumem_stream* stream = nullptr;

 private:
  const Whose whose_;
  gpumem_ctx* other_ = nullptr;
};

struct Way {
  cudaStreamCaptureMode mode;
  bool by_another_thread;
};

std::string words_for(Way way, const std::string& name) {
  return name + ", capture " + kModeNames[way.mode] + (way.by_another_thread ? ", by another thread" : "");
}

// A refusal is the library's own: what CUDA refuses is an error that may have ended a capture.
void call_during(Captured& captured, Way way, const std::string& name, const CallOnce& call) {
  captured.begin(way.mode);
  gpumem_status status = GPUMEM_OK;
  std::string sentence;
  const auto run = [&] {
    status = call();
    if (status != GPUMEM_OK) sentence = last_error();
  };
  if (way.by_another_thread) {
    std::thread(run).join();
  } else {
    run();
  }
  EXPECT_TRUE(captured.end()) << words_for(way, name) << ": status " << status << " " << sentence;
  EXPECT_TRUE(status != GPUMEM_DRIVER_ERROR && status != GPUMEM_DEVICE_FAULT && status != GPUMEM_INTERNAL)
      << words_for(way, name) << ": " << sentence;
}

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const cudaStreamCaptureMode mode : kModes) {
    for (const bool by_another_thread : {false, true}) all.push_back({mode, by_another_thread});
  }
  return all;
}

// What calls read lies on the device, in memory of the program's, for all tests of the process: the lists of calls keep its address.
void put_operands_on_device() {
  static const bool once = [] {
    static const Operands here;
    void* p = nullptr;
    EXPECT_EQ(cudaMalloc(&p, sizeof here), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(p, &here, sizeof here, cudaMemcpyDefault, nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    operands() = static_cast<const Operands*>(p);
    return true;
  }();
  static_cast<void>(once);
}

// And so does what they write.
void put_outputs_on_device(Objects& objects) {
  void* p = nullptr;
  EXPECT_TRUE(ok(gpumem_alloc_device(objects.ctx, 2048, &p)));
  objects.out.bytes = static_cast<unsigned char*>(p);
  objects.out.results = reinterpret_cast<int64_t*>(objects.out.bytes + 1024);
}

// What the call has made is destroyed, so that it may be made again.
void tidy(Outputs& out) {
  const auto destroy = [&](auto*& handle, auto destroyer) {
    if (reinterpret_cast<const void*>(handle) != &out) destroyer(handle);
    handle = reinterpret_cast<std::remove_reference_t<decltype(handle)>>(&out);
  };
  destroy(out.stream, gpumem_stream_destroy);
  destroy(out.event, gpumem_event_destroy);
}

class DuringCapture : public testing::TestWithParam<Whose> {
 protected:
  void SetUp() override {
    if (cuda_devices() == 0) GTEST_SKIP() << no_cuda_reason();
    put_operands_on_device();
  }

  // Each call that `calls_of` lists, with the handle that `handle_of` names; what destroys something has objects of its own each time.
  template <class CallsOf, class HandleOf>
  int64_t each(const CallsOf& calls_of, const HandleOf& handle_of) {
    size_t count = 0;
    {
      Objects objects(On::cuda);
      count = calls_of(objects).size();
    }
    const size_t step = quick_run() ? 7 : 1;
    for (size_t i = 0; i < count; i += step) {
      std::vector<Way> left = ways();
      while (!left.empty()) {
        Objects objects(On::cuda);
        put_outputs_on_device(objects);
        const Chosen chosen(GetParam(), objects.ctx);
        Captured captured(chosen.native);
        const auto call = calls_of(objects)[i];
        const bool destroys = std::string(call.name).find("destroy") != std::string::npos;
        do {
          const Way way = left.back();
          left.pop_back();
          call_during(captured, way, call.name, [&] { return call.run(handle_of(objects, chosen)); });
          tidy(objects.out);
        } while (!left.empty() && !destroys);
      }
    }
    return static_cast<int64_t>(count);
  }
};

TEST_P(DuringCapture, EachCallLeavesItValid) {
  int64_t calls =
      each([](Objects& o) { return calls_with_context(o.out); }, [](Objects& o, const Chosen&) { return o.ctx; });
  calls += each([](Objects& o) { return calls_with_stream(o.ctx, o.event, o.out); },
                [](Objects& o, const Chosen&) { return o.stream; });
  calls += each([](Objects& o) { return calls_with_event(o.ctx, o.event, o.out); },
                [](Objects& o, const Chosen&) { return o.later_event; });
  EXPECT_GT(calls, 150);
}

// Given the captured stream itself: what can is captured.
TEST_P(DuringCapture, EachCallOnTheCapturedStreamLeavesItValid) {
  if (GetParam() != Whose::of_the_context) GTEST_SKIP() << "no other stream is one of the context's";
  each([](Objects& o) { return calls_with_stream(o.ctx, o.event, o.out); },
       [](Objects&, const Chosen& chosen) { return chosen.stream; });
}

// A context with all kinds of things, all of them used.
class Used {
 public:
  Used() {
    const gpumem_ctx_options options = options_for(On::cuda, 2);
    EXPECT_TRUE(ok(gpumem_ctx_create(&options, &ctx)));
    EXPECT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    EXPECT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_TRUE(ok(gpumem_stream_wrap(ctx, native, &borrowed)));
    const auto bytes = static_cast<int64_t>(heap.size());
    int64_t sum = 0;
    EXPECT_TRUE(ok(gpumem_alloc_device(ctx, bytes, &device)));
    EXPECT_TRUE(ok(gpumem_alloc_async(ctx, 4096, 256, borrowed, &of_stream)));
    EXPECT_TRUE(ok(gpumem_alloc_pinned(ctx, 4096, &pinned)));
    EXPECT_TRUE(ok(gpumem_alloc_managed(ctx, 4096, &managed)));
    EXPECT_TRUE(ok(gpumem_host_register(ctx, registered.data(), static_cast<int64_t>(registered.size()))));
    EXPECT_TRUE(ok(gpumem_copy(ctx, device, heap.data(), bytes)));
    EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(device), bytes / 4, 1, &sum)));
    EXPECT_TRUE(ok(gpumem_reduce_i32_async(ctx, GPUMEM_SUM, static_cast<int32_t*>(device), bytes / 4, 1,
                                           static_cast<int64_t*>(pinned), nullptr, borrowed)));
    EXPECT_TRUE(ok(gpumem_fill_async(ctx, of_stream, "x", 1, 4096, borrowed)));
  }
  Used(const Used&) = delete;
  Used& operator=(const Used&) = delete;
  ~Used() { EXPECT_EQ(cudaStreamDestroy(native), cudaSuccess); }

  // The memory goes with the context.
  gpumem_status destroy() {
    gpumem_status status = gpumem_stream_destroy(stream);
    if (status == GPUMEM_OK) status = gpumem_stream_destroy(borrowed);
    return status == GPUMEM_OK ? gpumem_ctx_destroy(ctx) : status;
  }

  gpumem_ctx* ctx = nullptr;
  gpumem_stream* stream = nullptr;
  gpumem_stream* borrowed = nullptr;
  cudaStream_t native = nullptr;
  void* device = nullptr;
  void* of_stream = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  std::vector<char> heap = std::vector<char>(1 << 20);
  std::vector<char> registered = std::vector<char>(1 << 16);
};

gpumem_status make_and_destroy_context() {
  const gpumem_ctx_options options = options_for(On::cuda, 2);
  gpumem_ctx* ctx = nullptr;
  const gpumem_status status = gpumem_ctx_create(&options, &ctx);
  return status == GPUMEM_OK ? gpumem_ctx_destroy(ctx) : status;
}

void expect_ok(gpumem_status status, const std::string& what) {
  EXPECT_EQ(status, GPUMEM_OK) << what << ": " << last_error();
}

// Each works, on a context none of whose streams is captured.
TEST_P(DuringCapture, WhatAnotherContextDoesWorks) {
  for (const Way way : ways()) {
    Used used;
    Used ended;
    Objects objects(On::cuda);
    const Chosen chosen(GetParam(), objects.ctx);
    Captured captured(chosen.native);
    const auto works = [&](const char* name, const std::function<gpumem_status()>& call) {
      call_during(captured, way, name, [&] {
        const gpumem_status status = call();
        expect_ok(status, words_for(way, name));
        return status;
      });
    };
    works("making and destroying a context", make_and_destroy_context);
    works("destroying a context that was used", [&] { return ended.destroy(); });
    works("a copy of heap memory", [&] { return gpumem_copy(used.ctx, used.device, used.heap.data(), 1 << 20); });
    works("freeing pinned memory", [&] { return gpumem_free(used.ctx, used.pinned); });
    works("freeing managed memory", [&] { return gpumem_free(used.ctx, used.managed); });
    works("freeing device memory", [&] { return gpumem_free(used.ctx, used.device); });
    works("freeing memory of a stream", [&] { return gpumem_free_async(used.ctx, used.of_stream, used.borrowed); });
    works("trimming", [&] { return gpumem_memory_trim(used.ctx, 0); });
    works("unregistering", [&] { return gpumem_host_unregister(used.ctx, used.registered.data()); });
    works("registering", [&] { return gpumem_host_register(used.ctx, used.registered.data(), 1 << 16); });
    works("memory for every stream", [&] {
      void* const p = gpumem_cupy_malloc(nullptr, 1 << 20, 0);
      gpumem_cupy_free(nullptr, p, 0);
      return p != nullptr ? GPUMEM_OK : GPUMEM_INTERNAL;
    });
    expect_ok(used.destroy(), "afterwards");
  }
}

// What waits for all work on the device waits while a capture goes on too.
TEST_P(DuringCapture, TheContextOfAnotherIsDestroyedBehindItsWork) {
  Used used;
  Objects objects(On::cuda);
  const Chosen chosen(GetParam(), objects.ctx);
  Captured captured(chosen.native);
  bool done = false;
  call_during(captured, ways()[0], "destroying a context whose borrowed stream works", [&] {
    const auto late = [](void* flag) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      *static_cast<bool*>(flag) = true;
    };
    EXPECT_EQ(cudaLaunchHostFunc(used.native, late, &done), cudaSuccess);
    const gpumem_status status = used.destroy();
    EXPECT_TRUE(done);
    return status;
  });
}

// The capture is ended, since the caller looks at no status: it would capture work on memory that is not there.
TEST_P(DuringCapture, AnAllocatorWithoutStatusEndsIt) {
  if (GetParam() != Whose::the_programs) GTEST_SKIP() << "one stream shows it";
  Objects objects(On::cuda);
  for (const bool torch : {true, false}) {
    const Chosen chosen(GetParam(), objects.ctx);
    const auto allocate = [&] {
      return torch ? gpumem_torch_malloc(4096, 0, chosen.native) : gpumem_cupy_malloc(chosen.native, 4096, 0);
    };
    const auto free = [&](void* p) {
      torch ? gpumem_torch_free(p, 4096, 0, chosen.native) : gpumem_cupy_free(chosen.native, p, 0);
    };
    void* const p = allocate();
    ASSERT_NE(p, nullptr) << last_error();
    Captured captured(chosen.native);
    for (const cudaStreamCaptureMode mode : kModes) {
      captured.begin(mode);
      free(nullptr);
      EXPECT_EQ(allocate(), nullptr);
      EXPECT_NE(last_error().find("invalidated"), std::string::npos) << last_error();
      EXPECT_FALSE(captured.end()) << "a graph came of it";
    }
    captured.begin(cudaStreamCaptureModeGlobal);
    free(p);  // put off
    EXPECT_TRUE(captured.end());
    free(allocate());
    EXPECT_EQ(cudaStreamSynchronize(chosen.native), cudaSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DuringCapture, testing::ValuesIn(kAll), name_of);

// A copy between devices is captured where this device can access the other's memory, and refused where it can't.
TEST(DuringCaptureOfTwoDevices, ACopyIsCapturedOrRefused) {
  if (cuda_devices() < 2) GTEST_SKIP() << "there are fewer than 2 devices: set GPUMEM_EMULATION_DEVICES=2";
  constexpr int64_t kRow = 1000, kPitch = 1024, kRows = 300, kBytes = kPitch * kRows;
  std::vector<char> only_rows(kBytes, 0);
  for (int64_t row = 0; row < kRows; ++row) std::fill_n(&only_rows[row * kPitch], kRow, 'b');
  for (const cudaStreamCaptureMode mode : kModes) {
    const Context here(options_for_device(On::cuda, 0)), there(options_for_device(On::cuda, 1));
    const Memory src(here, GPUMEM_MEMORY_DEVICE, kBytes), dst(there, GPUMEM_MEMORY_DEVICE, kBytes);
    EXPECT_TRUE(ok(gpumem_fill(here, src.get(), "a", 1, kBytes)));
    EXPECT_TRUE(ok(gpumem_fill(there, dst.get(), "", 1, kBytes)));
    cudaStream_t native = nullptr;
    gpumem_stream* stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_TRUE(ok(gpumem_stream_wrap(here, native, &stream)));
    Captured captured(native);
    captured.begin(mode);
    const gpumem_status status = gpumem_copy_2d_async(here, dst.get(), kPitch, src.get(), kPitch, kRow, kRows, stream);
    const std::string why = last_error();
    EXPECT_TRUE(ok(gpumem_fill(here, src.get(), "b", 1, kBytes)));  // a copy that did not wait for the graph has 'a'
    EXPECT_TRUE(captured.end()) << kModeNames[mode];
    std::vector<char> found(kBytes);
    EXPECT_TRUE(ok(gpumem_copy(there, found.data(), dst.get(), kBytes)));
    if (status == GPUMEM_OK) {
      EXPECT_EQ(found, only_rows) << kModeNames[mode];
    } else {
      EXPECT_EQ(status, GPUMEM_CAPTURING) << kModeNames[mode] << ": " << why;
      EXPECT_NE(why.find("a copy of memory that this device can't access"), std::string::npos) << why;
      EXPECT_EQ(found, std::vector<char>(kBytes, 0));
    }
    int can_access = 0;
    EXPECT_EQ(cudaDeviceCanAccessPeer(&can_access, 0, 1), cudaSuccess);
    EXPECT_EQ(status == GPUMEM_OK, can_access != 0) << why;
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
    EXPECT_EQ(cudaStreamDestroy(native), cudaSuccess);
  }
}

}  // namespace
}  // namespace gpumem_test

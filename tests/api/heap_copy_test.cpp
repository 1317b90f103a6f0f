// Copies between heap memory and the device, round every size at which they take another way: whole, in pieces, by one thread or
// several, with and without gaps. What the device holds is put there and looked at through pinned memory, which goes another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "api/gate.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

Bytes random_bytes(Random& random, size_t bytes) {
  Bytes image(bytes);
  for (size_t at = 0; at < bytes; at += 8) {
    const uint64_t word = random.bits();
    std::memcpy(&image[at], &word, std::min<size_t>(8, bytes - at));
  }
  return image;
}

// Device memory that is filled and read by way of pinned memory.
class DeviceBytes {
 public:
  DeviceBytes(gpumem_ctx* ctx, size_t bytes)
      : ctx_(ctx),
        bytes_(bytes),
        pinned_(ctx, GPUMEM_MEMORY_PINNED, static_cast<int64_t>(bytes)),
        device_(ctx, GPUMEM_MEMORY_DEVICE, static_cast<int64_t>(bytes)) {}

  char* get() const { return device_.bytes(); }

  void set(const Bytes& image) {
    std::memcpy(pinned_.get(), image.data(), bytes_);
    ASSERT_TRUE(ok(gpumem_copy(ctx_, device_.get(), pinned_.get(), static_cast<int64_t>(bytes_))));
  }

  testing::AssertionResult holds(const Bytes& image) {
    std::memset(pinned_.get(), 0x5A, bytes_);
    const testing::AssertionResult copied =
        ok(gpumem_copy(ctx_, pinned_.get(), device_.get(), static_cast<int64_t>(bytes_)));
    if (!copied) return copied;
    const auto* now = static_cast<const unsigned char*>(pinned_.get());
    const auto differs = std::mismatch(image.begin(), image.end(), now);
    if (differs.first == image.end()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << differs.first - image.begin() << " of " << bytes_ << " differs";
  }

 private:
  gpumem_ctx* ctx_;
  size_t bytes_;
  Memory pinned_;
  Memory device_;
};

// A block in memory of its own: rows, and slices of them, with gaps.
struct Block {
  int64_t pitch, slice, row_bytes, rows, slices;

  size_t bytes() const { return static_cast<size_t>((slices - 1) * slice + (rows - 1) * pitch + row_bytes); }
  template <class F>
  void for_each_row(const F& f) const {
    for (int64_t s = 0; s < slices; ++s) {
      for (int64_t r = 0; r < rows; ++r) f(static_cast<size_t>(s * slice + r * pitch));
    }
  }
};

gpumem_status copy(gpumem_ctx* ctx, bool enqueued, void* dst, const Block& to, const void* src, const Block& from) {
  if (!enqueued) {
    return gpumem_copy_3d(ctx, dst, to.pitch, to.slice, src, from.pitch, from.slice, from.row_bytes, from.rows,
                          from.slices);
  }
  const gpumem_status status = gpumem_copy_3d_async(ctx, dst, to.pitch, to.slice, src, from.pitch, from.slice,
                                                    from.row_bytes, from.rows, from.slices, nullptr);
  return status == GPUMEM_OK ? gpumem_stream_synchronize(ctx, nullptr) : status;
}

// What `to` holds when the rows of `from` have been copied into `image`.
Bytes copied_into(Bytes image, const Block& to, const Bytes& src, const Block& from) {
  std::vector<size_t> starts;
  from.for_each_row([&](size_t at) { starts.push_back(at); });
  size_t i = 0;
  to.for_each_row([&](size_t at) { std::memcpy(&image[at], &src[starts[i++]], static_cast<size_t>(from.row_bytes)); });
  return image;
}

class HeapCopies : public testing::TestWithParam<On> {
 protected:
  static void both_ways(gpumem_ctx* ctx, const Block& on_heap, const Block& on_device, size_t offset, Random& random) {
    for (const bool enqueued : {false, true}) {
      const std::string what = std::to_string(on_heap.row_bytes) + " x " + std::to_string(on_heap.rows) + " x " +
                               std::to_string(on_heap.slices) + (enqueued ? " enqueued" : "");
      const Bytes heap_before = random_bytes(random, on_heap.bytes());
      const Bytes device_before = random_bytes(random, on_device.bytes());
      DeviceBytes device(ctx, on_device.bytes());
      GuardedBuffer heap(ctx, GPUMEM_MEMORY_PAGEABLE, on_heap.bytes(), offset);
      heap.set(heap_before.data());
      device.set(device_before);
      ASSERT_TRUE(ok(copy(ctx, enqueued, device.get(), on_device, heap.data(), on_heap))) << what;
      EXPECT_TRUE(device.holds(copied_into(device_before, on_device, heap_before, on_heap)))
          << what << " to the device";
      EXPECT_TRUE(heap.intact()) << what << " to the device";
      device.set(device_before);
      ASSERT_TRUE(ok(copy(ctx, enqueued, heap.data(), on_heap, device.get(), on_device))) << what;
      const Bytes want = copied_into(heap_before, on_heap, device_before, on_device);
      std::memcpy(heap.image(), want.data(), want.size());
      EXPECT_TRUE(heap.intact()) << what << " from the device";
    }
  }
  static void range_both_ways(gpumem_ctx* ctx, size_t bytes, size_t offset, Random& random) {
    const auto size = static_cast<int64_t>(bytes);
    const Block block{size, size, size, 1, 1};
    both_ways(ctx, block, block, offset, random);
  }
};

TEST_P(HeapCopies, OfEverySizeArriveWhole) {
  Random random(1);
  for (const int threads : {1, 2, 5}) {
    const Context ctx(GetParam(), threads);
    for (const size_t about : {size_t{1}, 16 * kKiB, 64 * kKiB, 256 * kKiB, kMiB, 2 * kMiB, 4 * kMiB}) {
      for (const size_t bytes : {about - 1, about, about + 1}) {
        if (bytes > 0) range_both_ways(ctx, bytes, random.below(64), random);
      }
    }
    range_both_ways(ctx, 9 * kMiB + 123, 1, random);
  }
}

TEST_P(HeapCopies, OfRowsLeaveTheGapsAlone) {
  Random random(2);
  for (const int threads : {1, 4}) {
    const Context ctx(GetParam(), threads);
    // Short rows, rows as long as a piece and longer, whole slices and parts of them.
    both_ways(ctx, {1037, 0, 1000, 3001, 1}, {1024, 0, 1000, 3001, 1}, 5, random);
    both_ways(ctx, {300011, 0, 300007, 7, 1}, {300032, 0, 300007, 7, 1}, 0, random);
    both_ways(ctx, {3000017, 0, 3000011, 3, 1}, {3000011, 0, 3000011, 3, 1}, 3, random);
    both_ways(ctx, {100, 1213, 90, 12, 700}, {96, int64_t{12} * 96, 90, 12, 700}, 1, random);
    both_ways(ctx, {9000, int64_t{400} * 9000, 8999, 301, 3}, {8999, int64_t{301} * 8999 + 5, 8999, 301, 3}, 7, random);
  }
}

TEST_P(HeapCopies, EnqueuedOnesComeInTheOrderOfTheirStream) {
  Random random(3);
  const Context ctx(GetParam(), 3);
  constexpr int kSteps = 12;
  std::vector<Bytes> sent;
  std::vector<Bytes> back;
  for (int i = 0; i < kSteps; ++i) {
    sent.push_back(random_bytes(random, 1 + random.below(5 * kMiB)));
    back.emplace_back(sent.back().size());
  }
  // All through the same memory of the device: each comes back before the next one is sent.
  const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 5 * kMiB);
  for (size_t i = 0; i < kSteps; ++i) {
    const auto bytes = static_cast<int64_t>(sent[i].size());
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, device.get(), sent[i].data(), bytes, nullptr)));
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, back[i].data(), device.get(), bytes, nullptr)));
  }
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  for (size_t i = 0; i < kSteps; ++i) EXPECT_TRUE(sent[i] == back[i]) << i;
}

TEST_P(HeapCopies, OfSeveralThreadsDoNotMeet) {
  const Context ctx(GetParam(), 4);
  std::vector<std::thread> threads;
  std::vector<int> wrong(6, -1);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      Random random(100 + t);
      gpumem_stream* stream = nullptr;
      if (gpumem_stream_create(ctx, &stream) != GPUMEM_OK) return;
      {
        const Memory device(ctx, GPUMEM_MEMORY_DEVICE, 3 * kMiB);
        int bad = 0;
        for (int i = 0; i < 12; ++i) {
          const Bytes sent = random_bytes(random, 1 + random.below(3 * kMiB));
          Bytes back(sent.size());
          const auto bytes = static_cast<int64_t>(sent.size());
          const bool enqueued = i % 2 == 1;
          gpumem_stream* const on = enqueued ? stream : nullptr;
          bool fine = enqueued ? gpumem_copy_async(ctx, device.get(), sent.data(), bytes, on) == GPUMEM_OK &&
                                     gpumem_copy_async(ctx, back.data(), device.get(), bytes, on) == GPUMEM_OK
                               : gpumem_copy(ctx, device.get(), sent.data(), bytes) == GPUMEM_OK &&
                                     gpumem_copy(ctx, back.data(), device.get(), bytes) == GPUMEM_OK;
          fine = gpumem_stream_synchronize(ctx, on) == GPUMEM_OK && fine && sent == back;
          if (!fine) ++bad;
          if (t == 0 && i % 4 == 0) static_cast<void>(gpumem_memory_trim(ctx, 0));
        }
        wrong[t] = bad;
      }
      static_cast<void>(gpumem_stream_destroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(wrong.size(), 0));
}

// The host is to write the heap, as soon as the gate opens, and the copy has begun by then.
TEST_P(HeapCopies, BlockingOnesReadWhatWasEnqueuedBefore) {
  Gate gate;
  const Context ctx(gate.options(GetParam()));
  Bytes heap(64 * kMiB);  // enough for the host to share out
  for (const size_t bytes : {size_t{8}, size_t{1000}, 64 * kKiB, 300 * kKiB, 3 * kMiB}) {
    const auto size = static_cast<int64_t>(bytes);
    const Memory device(ctx, GPUMEM_MEMORY_DEVICE, size);
    const Memory pinned(ctx, GPUMEM_MEMORY_PINNED, size);
    std::fill(heap.begin(), heap.end(), 1);
    ASSERT_TRUE(ok(gpumem_copy(ctx, device.get(), heap.data(), size)));  // so that what it needs is there
    gate.close();
    gpumem_status copied = GPUMEM_INTERNAL;
    std::thread copying;
    {
      const OpenAtEnd open(gate);
      const char two = 2;
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, heap.data(), &two, 1, static_cast<int64_t>(heap.size()), nullptr)));
      ASSERT_TRUE(gate.reached());
      copying = std::thread([&] { copied = gpumem_copy(ctx, device.get(), heap.data(), size); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    copying.join();
    EXPECT_EQ(copied, GPUMEM_OK);
    ASSERT_TRUE(ok(gpumem_copy(ctx, pinned.get(), device.get(), size)));
    EXPECT_EQ(std::count(pinned.bytes(), pinned.bytes() + bytes, 2), size);
  }
}

INSTANTIATE_TEST_SUITE_P(On, HeapCopies, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test

// Copies of a context's memory on another device: by the driver, whether it can open that memory to the context's device or not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kRow = 1000;
constexpr int64_t kPitch = 1024;
constexpr int64_t kRows = 300;
constexpr int64_t kBytes = kRows * kPitch;

// Whether emulated devices with mapped memory can access each other's; nothing on other devices.
std::optional<bool> emulates_peers() {
  if (std::getenv("GPUMEM_EMULATION_POOLS") == nullptr) return std::nullopt;
  const char* const peers = std::getenv("GPUMEM_EMULATION_PEERS");
  return peers == nullptr || std::string(peers) != "0";
}

class BetweenDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices() < 2) GTEST_SKIP() << "there are fewer than 2 devices: set GPUMEM_EMULATION_DEVICES=2";
    std::iota(bytes_.begin(), bytes_.end(), static_cast<unsigned char>(1));
  }

  // Memory of a context with known bytes, or with zeros.
  Memory known(const Context& ctx) const {
    Memory memory(ctx, GPUMEM_MEMORY_DEVICE, kBytes);
    EXPECT_TRUE(ok(gpumem_copy(ctx, memory.get(), bytes_.data(), kBytes)));
    return memory;
  }
  static Memory zeros(const Context& ctx) {
    Memory memory(ctx, GPUMEM_MEMORY_DEVICE, kBytes);
    const char zero = 0;
    EXPECT_TRUE(ok(gpumem_fill(ctx, memory.get(), &zero, 1, kBytes)));
    return memory;
  }
  static std::vector<unsigned char> read(const Context& ctx, const void* p) {
    std::vector<unsigned char> found(kBytes);
    EXPECT_TRUE(ok(gpumem_copy(ctx, found.data(), p, kBytes)));
    return found;
  }
  // What rows of kRow bytes leave in an array of zeros.
  std::vector<unsigned char> only_rows() const {
    std::vector<unsigned char> found(kBytes, 0);
    for (int64_t row = 0; row < kRows; ++row) std::memcpy(&found[row * kPitch], &bytes_[row * kPitch], kRow);
    return found;
  }

  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(kBytes);
};

TEST_F(BetweenDevices, EitherSideMayBeOnTheOther) {
  const Context here(options_for_device(On::cuda, 0)), there(options_for_device(On::cuda, 1));
  const Context* const contexts[] = {&here, &there};
  for (const Context* by : contexts) {
    for (const Context* from : contexts) {
      for (const Context* to : contexts) {
        const Memory src = known(*from), dst = zeros(*to), rows = zeros(*to), enqueued = zeros(*to);
        EXPECT_TRUE(ok(gpumem_copy(*by, dst.get(), src.get(), kBytes)));
        EXPECT_EQ(read(*to, dst.get()), bytes_);
        EXPECT_TRUE(ok(gpumem_copy_2d(*by, rows.get(), kPitch, src.get(), kPitch, kRow, kRows)));
        EXPECT_EQ(read(*to, rows.get()), only_rows());
        EXPECT_TRUE(ok(gpumem_copy_3d_async(*by, enqueued.get(), kPitch, 3 * kPitch, src.get(), kPitch, 3 * kPitch,
                                            kRow, 3, kRows / 3, nullptr)));
        EXPECT_TRUE(ok(gpumem_ctx_synchronize(*by)));
        EXPECT_EQ(read(*to, enqueued.get()), only_rows());
      }
    }
  }
}

// Where devices have no access to each other, the driver copies mapped memory only between devices.
TEST_F(BetweenDevices, TheHostIsReachedOrRefused) {
  const Context here(options_for_device(On::cuda, 0)), there(options_for_device(On::cuda, 1));
  const Memory far = known(there), pinned(here, GPUMEM_MEMORY_PINNED, kBytes);
  std::vector<unsigned char> heap(kBytes, 0);
  for (void* host : {static_cast<void*>(heap.data()), pinned.get()}) {
    const gpumem_status to_host = gpumem_copy(here, host, far.get(), kBytes);
    const std::string why = last_error();
    const gpumem_status from_host = gpumem_copy(here, far.get(), host, kBytes);
    EXPECT_EQ(from_host, to_host);
    EXPECT_EQ(emulates_peers().value_or(to_host == GPUMEM_OK), to_host == GPUMEM_OK);
    if (to_host != GPUMEM_OK) {
      EXPECT_EQ(to_host, GPUMEM_DRIVER_ERROR);
      EXPECT_NE(why.find("cudaErrorPeerAccessUnsupported"), std::string::npos) << why;
      continue;
    }
    EXPECT_EQ(std::memcmp(host, bytes_.data(), kBytes), 0);
    EXPECT_EQ(read(there, far.get()), bytes_);
  }
}

}  // namespace
}  // namespace gpumem_test

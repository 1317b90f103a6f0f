// Implementations of copy. For 1 GiB, the driver's copy is as fast as the best kernel (H200: 504 and 500 us). A kernel
// can start before the previous one ends: copies of up to 16 MiB in a row take 0.55 to 0.85 of the driver's time.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "base/ring_sizes.hpp"
#include "kernels/alignment.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/copy/limits.hpp"
#include "kernels/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
// Less is not worth waking a thread.
constexpr int64_t kLeastForAThread = 512 * kKiB;

const char* accepts_within(const DeviceProps&, const CopyParams& p) noexcept {
  return p.across == Across::nothing ? nullptr : "it copies within one device's memory, or within the host's";
}

const char* accepts_range(const CopyParams& p) noexcept {
  if (const char* reason = accepts_within({}, p)) return reason;
  return p.rows == 1 && p.slices == 1 ? nullptr : "it copies one range, and this copy has rows with gaps between them";
}

const char* accepts_vec16(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  return p.managed ? "it would fault pages of managed memory in one by one" : nullptr;
}
template <int64_t kBytes>
const char* accepts_words(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  if (p.access() >= kBytes) return nullptr;
  return kBytes == 16  ? "it needs src and dst at multiples of 16 bytes"
         : kBytes == 8 ? "it needs src and dst at multiples of 8 bytes"
                       : "it needs src and dst at multiples of 4 bytes";
}

// For memory that is not locked, the driver does not say whether it touches row padding. Pages may be missing there.
const char* accepts_driver(const DeviceProps&, const CopyParams& p) noexcept {
  if (p.host_side == HostSide::mixed) return "it takes no host memory that is pinned in part";
  if (p.host_side == HostSide::locked) return nullptr;
  if (p.enqueued) return "it would read or write pageable memory before the stream has come there";
  if (p.rows > 1 || p.slices > 1) return "it copies one range of pageable memory, and this copy has rows with gaps";
  return nullptr;
}

// The driver copies pageable memory with one thread, and staging buffers can be faster. Measured on an H200 with 1, 2,
// 4 and 16 threads (bench/experiments.csv).
const char* deprioritized_for_others(const DeviceProps& d, const CopyParams& p) noexcept {
  if (p.across == Across::nothing) {
    return p.managed && p.one_range() ? nullptr : "kernels are faster within a device's memory";
  }
  if (p.host_side == HostSide::locked || d.pageable_access)
    return nullptr;  // such a device reads pageable memory by itself
  const bool threads = p.host_threads > 1;
  const int64_t bytes = p.elements();
  const bool slower = threads || bytes <= (p.to_device ? kMostReadEarly : kMiB) || (p.to_device && bytes >= 32 * kMiB);
  return slower ? "rings are faster for so much pageable memory" : nullptr;
}

const char* accepts_rings(const DeviceProps&, const CopyParams& p) noexcept {
  if (p.across != Across::link) return "it copies between host memory and the device";
  return p.host_side == HostSide::locked ? "it is for pageable memory, and the device reaches this by itself" : nullptr;
}

// per_thread: chunks of a ring. tile: pieces that keep all threads busy to the end, but are large enough for PCIe. The
// copy engine reads chunks fastest from the caches, which favours few. Many keep it busy. The host empties chunks
// slower than they fill, so copies to the host use all. An enqueued copy has one ring, which the stream uses.
Config rings_config(const DeviceProps&, const CopyParams& p) noexcept {
  constexpr auto kAll = static_cast<int32_t>(kRingSlots);
  if (p.enqueued) return {1, 1, kAll, kRingChunkBytes};
  const int64_t bytes = p.elements();
  if (!p.to_device && bytes <= kMostFetchedWhole) return {1, 1, 1, kMostFetchedWhole};
  const bool many = !p.to_device && p.host_threads >= 4;
  const int64_t pieces = many ? 32 : p.host_threads > 1 ? 8 : 4;
  const int64_t least = many ? 128 * kKiB : 256 * kKiB;
  static_assert(kMostReadEarly <= 128 * kKiB, "the bytes that are read ahead are one piece");
  const int64_t most = p.to_device && bytes < 64 * kMiB ? kMiB : kRingChunkBytes;
  const int64_t threads =
      std::min({kMostRings, int64_t{p.host_threads}, std::max<int64_t>(bytes / kLeastForAThread, 1)});
  return {threads, 1, p.to_device && bytes < 512 * kMiB ? 2 : kAll,
          std::clamp(bytes / pieces / 4096 * 4096, least, most)};
}

Config blocks_of(int64_t pieces, int64_t tile) noexcept {
  return {std::clamp<int64_t>(ceil_div(pieces, tile), 1, kMaxGrid), kCopyThreads, 1, tile};
}

// One word per thread was fastest. H200: 2 to 8 words 4120-4190 GB/s, persistent blocks 3890-3960.
Config vec16_config(const DeviceProps&, const CopyParams& p) noexcept {
  return blocks_of(p.elements(), int64_t{kCopyThreads} * 16);
}

// A grid-stride loop: as many blocks as the multiprocessors hold at once.
template <int64_t kBytes>
Config words_config(const DeviceProps& d, const CopyParams& p) noexcept {
  Config shape = blocks_of(p.elements(), kCopyThreads * kBytes);
  const int64_t resident = int64_t{d.multiprocessors} * d.threads_per_multiprocessor / kCopyThreads;
  shape.grid = std::clamp<int64_t>(shape.grid, 1, std::max<int64_t>(resident, 1));
  return shape;
}

Config realigned_config(const DeviceProps&, const CopyParams& p) noexcept {
  return blocks_of(p.words_of_row() * p.rows * p.slices, kCopyThreads);
}

// At most one piece per thread: the C library bypasses the caches for long pieces only. A piece may begin within a row.
Config host_config(const DeviceProps& d, const CopyParams& p) noexcept {
  const int64_t tasks = std::clamp<int64_t>(p.elements() / kHostTaskBytes, 1, std::max(d.multiprocessors, 1));
  return {tasks, 1, 1, ceil_div(ceil_div(p.elements(), tasks), 4096) * 4096};
}

// The driver is slower than realigned for rows and different alignments. H200, src + 1 and dst + 3: 831 GB/s of 4240.
constexpr Implementation<CopyParams> kTable[] = {
    {"vec16", ExecutionSpace::cuda, 2, plan<accepts_vec16, vec16_config>, gpu<kernels::copy_vec16>},
    {"driver", ExecutionSpace::cuda, 1, plan<accepts_driver, whole<CopyParams>>, gpu<kernels::copy_by_driver>,
     deprioritized_for_others},
    {"rings", ExecutionSpace::cuda, 1, plan<accepts_rings, rings_config>, {}},
    {"vec4", ExecutionSpace::cuda, 1, plan<accepts_words<16>, words_config<16>>, gpu<kernels::copy_vec4>, by_name},
    {"vec2", ExecutionSpace::cuda, 1, plan<accepts_words<8>, words_config<8>>, gpu<kernels::copy_vec2>, by_name},
    {"scalar", ExecutionSpace::cuda, 1, plan<accepts_words<4>, words_config<4>>, gpu<kernels::copy_scalar>, by_name},
    {"realigned", ExecutionSpace::cuda, 1, plan<accepts_within, realigned_config>, gpu<kernels::copy_realigned>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts_within, host_config>, host::copy_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts_within, whole<CopyParams>>, host::copy_serial},
};

}  // namespace

std::span<const Implementation<CopyParams>> CopyFamily::table() noexcept { return kTable; }

}  // namespace gpumem

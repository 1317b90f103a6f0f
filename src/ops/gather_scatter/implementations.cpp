// Implementations of gather and scatter. A kernel's sides differ only in the one that the index names.
#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/gather_scatter/gather_scatter.hpp"
#include "kernels/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

// Rows are scattered, so each costs at least one cache line.
constexpr int64_t kLine = 64;
constexpr int64_t kTasksAThread = 8;  // tasks differ in length: rows may be cached, or on a distant page

int64_t step(int64_t rows, int64_t pitch) noexcept { return rows > 1 ? pitch : 0; }

const char* accepts_words(const GatherScatterParams& p, int64_t bytes,
                          const std::array<const char*, 4>& reasons) noexcept {
  if (misalignment(p.src) % bytes != 0) return reasons[0];
  if (misalignment(p.dst) % bytes != 0) return reasons[1];
  if (step(p.src_rows, p.src_pitch) % bytes != 0) return reasons[2];
  return step(p.dst_rows, p.dst_pitch) % bytes != 0 ? reasons[3] : nullptr;
}

const char* accepts_vec16(const DeviceProps&, const GatherScatterParams& p) noexcept {
  return accepts_words(p, 16,
                       {"it needs src aligned to 16 bytes", "it needs dst aligned to 16 bytes",
                        "it needs rows of src that start at multiples of 16 bytes",
                        "it needs rows of dst that start at multiples of 16 bytes"});
}

const char* accepts_vec8(const DeviceProps&, const GatherScatterParams& p) noexcept {
  return accepts_words(p, 8,
                       {"it needs src aligned to 8 bytes", "it needs dst aligned to 8 bytes",
                        "it needs rows of src that start at multiples of 8 bytes",
                        "it needs rows of dst that start at multiples of 8 bytes"});
}

const char* accepts_vec4(const DeviceProps&, const GatherScatterParams& p) noexcept {
  return accepts_words(p, 4,
                       {"it needs src aligned to 4 bytes", "it needs dst aligned to 4 bytes",
                        "it needs rows of src that start at multiples of 4 bytes",
                        "it needs rows of dst that start at multiples of 4 bytes"});
}

// The most words per thread that leave no multiprocessor without a block.
template <int64_t kWordBytes>
Config words_config(const DeviceProps& d, const GatherScatterParams& p) noexcept {
  const int64_t words = p.n * ceil_div(p.row_bytes, kWordBytes);
  int32_t per_thread = kGatherScatterWords;
  while (per_thread > 1 && words < int64_t{d.multiprocessors} * kGatherScatterThreads * per_thread) per_thread /= 2;
  Config shape = grid_of(words, int64_t{kGatherScatterThreads} * per_thread, kGatherScatterThreads, per_thread);
  shape.tile *= kWordBytes;
  return shape;
}

// tile: rows per task. Few long rows are cut, and the number of tasks is then a multiple of n.
Config host_config(const DeviceProps& d, const GatherScatterParams& p) noexcept {
  const int64_t limit = kTasksAThread * d.multiprocessors;
  if (p.n < limit && p.row_bytes > kHostTaskBytes) {
    const int64_t pieces = std::clamp<int64_t>(limit / std::max<int64_t>(p.n, 1), 1, p.row_bytes / kHostTaskBytes);
    return {std::max<int64_t>(p.n, 1) * pieces, 1, 1, 1};
  }
  const int64_t rows_of_task = std::max<int64_t>(kHostTaskBytes / std::max(p.row_bytes, kLine), 1);
  const int64_t tasks = std::clamp<int64_t>(ceil_div(p.n, rows_of_task), 1, limit);
  return {tasks, 1, 1, std::max<int64_t>(ceil_div(p.n, tasks), 1)};
}
Config serial_config(const DeviceProps&, const GatherScatterParams& p) noexcept { return {1, 1, 1, p.n}; }

using Execution = Executes<GatherScatterParams>::Gpu;
constexpr std::array<Implementation<GatherScatterParams>, 6> table_of(Execution vec16, Execution vec8, Execution words,
                                                                      Execution bytes) noexcept {
  return {{{"vec16", ExecutionSpace::cuda, 1, plan<accepts_vec16, words_config<16>>, vec16},
           {"vec8", ExecutionSpace::cuda, 1, plan<accepts_vec8, words_config<8>>, vec8},
           {"words", ExecutionSpace::cuda, 2, plan<accepts_vec4, words_config<4>>, words},
           {"bytes", ExecutionSpace::cuda, 1, plan<accepts<GatherScatterParams>, words_config<1>>, bytes},
           {"host_parallel", ExecutionSpace::host, 1, plan<accepts<GatherScatterParams>, host_config>, HostWay{}},
           {"host_serial", ExecutionSpace::host, 1, plan<accepts<GatherScatterParams>, serial_config>,
            HostWay{.serial = true}}}};
}

constexpr auto kGather = table_of(gpu<kernels::gather_vec16>, gpu<kernels::gather_vec8>, gpu<kernels::gather_words>,
                                  gpu<kernels::gather_bytes>);
constexpr auto kScatter = table_of(gpu<kernels::scatter_vec16>, gpu<kernels::scatter_vec8>, gpu<kernels::scatter_words>,
                                   gpu<kernels::scatter_bytes>);

}  // namespace

std::span<const Implementation<GatherScatterParams>> GatherFamily::table() noexcept { return kGather; }
std::span<const Implementation<GatherScatterParams>> ScatterFamily::table() noexcept { return kScatter; }

}  // namespace gpumem

// Implementations of fill. Pattern lengths divide 16, so fills are runs of equal 16-byte words with partial ends.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_one_row(const DeviceProps&, const FillParams& p) noexcept {
  return p.rows == 1 ? nullptr : "it fills one row, and this fill has more";
}

const char* accepts_uniform(const DeviceProps& d, const FillParams& p) noexcept {
  if (const char* reason = accepts_one_row(d, p)) return reason;
  return p.uniform() ? nullptr : "it needs a pattern whose bytes are all the same";
}

// H200, an enqueued call: 4 KiB 2.6 us (vec16: 5.4), 16 KiB 5.6 (5.2), 64 MiB 17.8 (15.5). In CUDA graphs: 1.6 (0.9),
// 1.3 (0.9) and 16.5 (15.5).
const char* deprioritized_for_a_kernel(const DeviceProps&, const FillParams& p) noexcept {
  constexpr int64_t kMostBytes = 4096;
  return p.row_bytes() <= kMostBytes ? nullptr : "it is for few bytes, which the driver writes without a kernel";
}

Config row_config(const DeviceProps&, const FillParams& p) noexcept { return {1, 1, 1, p.row_bytes()}; }

Config vec16_config(const DeviceProps&, const FillParams& p) noexcept {
  return grid_of(p.row_bytes(), int64_t{kFillThreads} * 16, kFillThreads);
}

// Uses the widest access that is aligned at every row. The words of all rows are numbered consecutively.
Config rows_config(const DeviceProps&, const FillParams& p) noexcept {
  Config shape = grid_of(p.rows * ceil_div(p.row_bytes(), p.access()), kFillThreads, kFillThreads);
  shape.tile *= p.access();
  return shape;
}

// A task takes several rows if there are many, or a part of a row if there are few and they are long.
Config host_config(const DeviceProps& d, const FillParams& p) noexcept {
  if (p.rows > 1) {
    const int64_t wanted = std::clamp<int64_t>(p.elements() / kHostTaskBytes, 1, int64_t{4} * d.multiprocessors);
    const int64_t parts = ceil_div(wanted, p.rows);  // per row
    const int64_t tile = ceil_div(ceil_div(p.row_bytes(), parts), 64) * 64;
    return {parts == 1 ? std::min(wanted, p.rows) : p.rows * ceil_div(p.row_bytes(), tile), 1, 1, tile};
  }
  return host_elements_config(d, p.row_bytes(), 1);
}

constexpr Implementation<FillParams> kTable[] = {
    {"memset", ExecutionSpace::cuda, 2, plan<accepts_uniform, row_config>, gpu<kernels::fill_by_memset>,
     deprioritized_for_a_kernel},
    {"vec16", ExecutionSpace::cuda, 2, plan<accepts_one_row, vec16_config>, gpu<kernels::fill_vec16>},
    {"rows", ExecutionSpace::cuda, 2, plan<accepts<FillParams>, rows_config>, gpu<kernels::fill_rows>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<FillParams>, host_config>, host::fill_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<FillParams>, row_config>, host::fill_parallel},
};

}  // namespace

std::span<const Implementation<FillParams>> FillFamily::table() noexcept { return kTable; }

}  // namespace gpumem

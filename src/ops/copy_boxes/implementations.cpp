// Implementations of copies of many boxes.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "kernels/copy_boxes/copy_boxes.hpp"
#include "kernels/limits.hpp"
#include "kernels/permute/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_pieces(const DeviceProps&, const CopyBoxesParams& p) noexcept {
  return p.are_pieces ? nullptr : "it needs boxes of up to 4 axes without gaps between them, and sizes of 32 bits";
}

Config pieces_config(const DeviceProps&, const CopyBoxesParams& p) noexcept {
  const int64_t blocks = std::max(ceil_div(p.elements(), kPieceWords), p.count);
  Config config{std::min(blocks, kMaxGrid), kPieceThreads, kPieceAtOnce, kPieceWords};
  config.fixed_grid = true;
  return config;
}

Config one_by_one_config(const DeviceProps&, const CopyBoxesParams& p) noexcept {
  Config config{std::min(ceil_div(p.elements(), kPermuteThreads), kMaxGrid), kPermuteThreads, 1, kPermuteThreads};
  config.fixed_grid = true;
  return config;
}

// tile: a larger box is shared by all threads, in bytes. Tasks have several boxes, and differ in their bytes.
Config host_config(const DeviceProps& d, const CopyBoxesParams& p) noexcept {
  const int64_t tasks = std::clamp<int64_t>(p.bytes() / kHostTaskBytes, 1, int64_t{8} * d.multiprocessors);
  const int64_t tile = std::max(p.bytes() / std::max(2 * d.multiprocessors, 1), 2 * kHostTaskBytes);
  return {std::min(tasks, p.count), 1, 1, d.multiprocessors > 1 ? tile : INT64_MAX};
}

constexpr Implementation<CopyBoxesParams> kTable[] = {
    {"pieces", ExecutionSpace::cuda, 1, plan<accepts_pieces, pieces_config>, gpu<kernels::copy_boxes_pieces>},
    {"one_by_one", ExecutionSpace::cuda, 1, plan<accepts<CopyBoxesParams>, one_by_one_config>,
     gpu<kernels::copy_boxes_one_by_one>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<CopyBoxesParams>, host_config>, host::copy_boxes_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<CopyBoxesParams>, whole<CopyBoxesParams>>,
     host::copy_boxes_serial},
};

}  // namespace

std::span<const Implementation<CopyBoxesParams>> CopyBoxesFamily::table() noexcept { return kTable; }

}  // namespace gpumem

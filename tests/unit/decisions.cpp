#include "tests/unit/decisions.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

#include "ops/permute/permute_fuse.hpp"
#include "select/select.hpp"
#include "tests/fixtures/devices.hpp"

namespace gpumem::fixtures {
namespace {

using Keys = std::map<std::string, int64_t>;

int64_t value(const Keys& keys, const char* key, int64_t otherwise) {
  const auto found = keys.find(key);
  return found == keys.end() ? otherwise : found->second;
}

// e0, e1, ...: extents of src; order: its digits; both sides row-major without gaps.
PermuteAxes row_major_axes(const Keys& keys) {
  PermuteAxes of_src;
  while (of_src.rank < kMaxPermuteRank) {
    const auto extent = keys.find(std::string(1, 'e').append(std::to_string(of_src.rank)));
    if (extent == keys.end()) break;
    of_src.add(extent->second, 1, 1);
  }
  for (int32_t d = of_src.rank - 1; d > 0; --d) of_src.src_stride[d - 1] = of_src.src_stride[d] * of_src.extent[d];
  PermuteAxes axes;  // the last axis of dst first
  axes.element_bytes = value(keys, "bytes", 4);
  int64_t digits = value(keys, "order", 0);
  int64_t dst_stride = 1;
  for (int32_t d = 0; d < of_src.rank; ++d, digits /= 10) {
    const int64_t axis = digits % 10;
    axes.add(of_src.extent[axis], of_src.src_stride[axis], dst_stride);
    dst_stride *= of_src.extent[axis];
  }
  return axes;
}

template <class Family>
std::string print(const DeviceProps& props, const typename Family::Problem& problem) {
  const Decision d = select<Family>(props, problem, {}, {});
  std::ostringstream out;
  out << Family::table()[d.row].name << ' ' << d.shape.grid << " x " << d.shape.block << ", " << d.shape.per_thread
      << ", " << d.shape.tile;
  return out.str();
}

std::string ask(const DeviceProps& props, const std::string& family, const Keys& k) {
  const Runs runs = props.backend;
  const auto dtype = static_cast<gpumem_dtype>(value(k, "dtype", GPUMEM_I32));
  const auto op = static_cast<gpumem_reduce_op>(value(k, "op", GPUMEM_SUM));
  const auto misaligned = static_cast<int32_t>(value(k, "misaligned", 0));
  if (family == "reduce") {
    return print<ReduceFamily>(props, {runs, dtype, op, value(k, "n", 0), value(k, "stride", 1), misaligned});
  }
  if (family == "reduce_axis") {
    const auto axis = static_cast<gpumem_axis>(value(k, "axis", GPUMEM_AXIS_ROWS));
    const int64_t cols = value(k, "cols", 0);
    return print<ReduceAxisFamily>(props, {runs, dtype, op, axis, value(k, "rows", 0), cols, value(k, "ld", cols),
                                           value(k, "batches", 1), 0, misaligned});
  }
  if (family == "reduce_segments") {
    return print<ReduceSegmentsFamily>(props, {runs, dtype, op, value(k, "n", 0), value(k, "segments", 0), misaligned});
  }
  if (family == "transpose") {
    TransposeProblem p{runs, value(k, "bytes", 4), value(k, "rows", 0), value(k, "cols", 0), 0, 0, 0, 0};
    p.src_ld = value(k, "src_ld", p.cols);
    p.dst_ld = value(k, "dst_ld", p.rows);
    p.src_misalignment = static_cast<int32_t>(value(k, "src_misaligned", 0));
    p.dst_misalignment = static_cast<int32_t>(value(k, "dst_misaligned", 0));
    p.batches = value(k, "batches", 1);
    p.src_batch_stride = value(k, "src_batch_stride", 0);
    p.dst_batch_stride = value(k, "dst_batch_stride", 0);
    p.in_place = value(k, "in_place", 0) != 0;
    return print<TransposeFamily>(props, p);
  }
  if (family == "fill") {
    return print<FillFamily>(props, {runs, value(k, "pattern", 1), value(k, "bytes", 0), value(k, "uniform", 0) != 0,
                                     value(k, "rows", 1), value(k, "access", 16)});
  }
  if (family == "copy") {
    return print<CopyFamily>(props, {runs, value(k, "bytes", 0), value(k, "rows", 1), value(k, "slices", 1),
                                     static_cast<int32_t>(value(k, "src_misaligned", 0)),
                                     static_cast<int32_t>(value(k, "dst_misaligned", 0)), value(k, "access", 16)});
  }
  if (family == "axpby") {
    AxpbyProblem p{runs, static_cast<gpumem_dtype>(value(k, "dtype", GPUMEM_F32)), value(k, "n", 0)};
    p.reads_x = value(k, "reads_x", 1) != 0;
    p.reads_y = value(k, "reads_y", 1) != 0;
    p.x_misalignment = static_cast<int32_t>(value(k, "x_misaligned", 0));
    p.y_misalignment = static_cast<int32_t>(value(k, "y_misaligned", 0));
    p.z_misalignment = static_cast<int32_t>(value(k, "z_misaligned", 0));
    return print<AxpbyFamily>(props, p);
  }
  if (family == "gather" || family == "scatter") {
    GatherScatterProblem p{runs, value(k, "row", 1), value(k, "n", 0), 0, 0, 0, 0};
    p.src_pitch = value(k, "src_pitch", p.row_bytes);
    p.dst_pitch = value(k, "dst_pitch", p.row_bytes);
    p.src_misalignment = static_cast<int32_t>(value(k, "src_misaligned", 0));
    p.dst_misalignment = static_cast<int32_t>(value(k, "dst_misaligned", 0));
    return family == "gather" ? print<GatherFamily>(props, p) : print<ScatterFamily>(props, p);
  }
  if (family == "permute") {
    const auto src_misaligned = static_cast<int32_t>(value(k, "src_misaligned", 0));
    const auto dst_misaligned = static_cast<int32_t>(value(k, "dst_misaligned", 0));
    return print<PermuteFamily>(
        props, {runs, fuse(row_major_axes(k), src_misaligned, dst_misaligned), src_misaligned, dst_misaligned});
  }
  if (family == "resize") {
    ResizeProblem p{};
    p.runs = runs;
    p.filter = static_cast<gpumem_filter>(value(k, "filter", GPUMEM_FILTER_BILINEAR));
    p.dtype = static_cast<gpumem_dtype>(value(k, "dtype", GPUMEM_U8));
    p.channels = static_cast<int32_t>(value(k, "channels", 1));
    p.src_rows = value(k, "src_rows", 0);
    p.src_cols = value(k, "src_cols", 0);
    p.dst_rows = value(k, "dst_rows", 0);
    p.dst_cols = value(k, "dst_cols", 0);
    p.src_pitch = value(k, "src_pitch", p.src_cols * p.pixel_bytes());
    p.dst_pitch = value(k, "dst_pitch", p.dst_cols * p.pixel_bytes());
    p.src_misalignment = static_cast<int32_t>(value(k, "src_misaligned", 0));
    p.dst_misalignment = static_cast<int32_t>(value(k, "dst_misaligned", 0));
    return print<ResizeFamily>(props, p);
  }
  throw std::runtime_error("no such family: " + family);
}

}  // namespace

DecisionLine split(const std::string& line) {
  const size_t arrow = line.find(" -> ");
  if (arrow == std::string::npos) throw std::runtime_error("no arrow in: " + line);
  return {line.substr(0, arrow), line.substr(arrow + 4)};
}

std::string answer(const std::string& question) {
  std::istringstream words(question);
  std::string device;
  std::string family;
  words >> device >> family;
  const NamedDevice* found = find_device(device.c_str());
  if (found == nullptr) throw std::runtime_error("no such device: " + device);
  Keys keys;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error("no key=value: " + word);
    keys[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  return ask(found->props, family, keys);
}

}  // namespace gpumem::fixtures

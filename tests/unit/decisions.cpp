#include "tests/unit/decisions.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

#include "kernels/alignment.hpp"
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
std::string print(const DeviceProps& props, const typename Family::Params& params) {
  const Decision d = select<Family>(props, params, {}, {});
  std::ostringstream out;
  out << Family::table()[d.row].name << ' ' << d.shape.grid << " x " << d.shape.block << ", " << d.shape.per_thread
      << ", " << d.shape.tile;
  return out.str();
}

template <class T>
T as(const Keys& keys, const char* key, T otherwise) {
  return static_cast<T>(value(keys, key, otherwise));
}

char* address(const Keys& keys, const char* key, int number) { return made_up_address(value(keys, key, 0), number); }

// Rows that begin at multiples of `access`, and of nothing wider.
int64_t pitch_of(int64_t row_bytes, int64_t access) {
  const int64_t tight = (row_bytes / 16 + 1) * 16;
  return access < 16 ? tight + access : tight;
}

std::string ask_reductions(const DeviceProps& props, const std::string& family, const Keys& k) {
  const auto dtype = as(k, "dtype", GPUMEM_I32);
  const auto op = as(k, "op", GPUMEM_SUM);
  const char* x = address(k, "misaligned", 0);
  if (family == "reduce") {
    return print<ReduceFamily>(
        props, {.dtype = dtype, .op = op, .x = x, .n = value(k, "n", 0), .stride = value(k, "stride", 1)});
  }
  if (family == "reduce_axis") {
    const int64_t cols = value(k, "cols", 0);
    return print<ReduceAxisFamily>(props, {.dtype = dtype,
                                           .op = op,
                                           .axis = as(k, "axis", GPUMEM_AXIS_ROWS),
                                           .x = x,
                                           .rows = value(k, "rows", 0),
                                           .cols = cols,
                                           .ld = value(k, "ld", cols),
                                           .batches = value(k, "batches", 1)});
  }
  return print<ReduceSegmentsFamily>(
      props, {.dtype = dtype, .op = op, .x = x, .n = value(k, "n", 0), .segments = value(k, "segments", 0)});
}

std::string ask_copies(const DeviceProps& props, const std::string& family, const Keys& k) {
  const int64_t rows = value(k, "rows", 1);
  const int64_t access = value(k, "access", 16);
  const int64_t bytes = value(k, family == "gather" || family == "scatter" ? "row" : "bytes", 1);
  if (family == "fill") {
    FillParams p{.dst = made_up_address(0), .pattern_bytes = value(k, "pattern", 1), .rows = rows};
    p.count = bytes / p.pattern_bytes;
    p.pitch = pitch_of(bytes, access);
    if (value(k, "uniform", 0) == 0) p.word[0] = 1;
    return print<FillFamily>(props, p);
  }
  char* dst = address(k, "dst_misaligned", 0);
  const char* src = address(k, "src_misaligned", 1);
  if (family == "copy") {
    const int64_t slices = value(k, "slices", 1);
    const int64_t pitch = pitch_of(bytes, access);
    return print<CopyFamily>(props, {.dst = dst,
                                     .dst_pitch = pitch,
                                     .dst_slice = pitch * rows,
                                     .src = src,
                                     .src_pitch = pitch,
                                     .src_slice = pitch * rows,
                                     .row_bytes = bytes,
                                     .rows = rows,
                                     .slices = slices});
  }
  const GatherScatterParams p{.row_bytes = bytes,
                              .src = src,
                              .src_rows = 2,
                              .src_pitch = value(k, "src_pitch", bytes),
                              .n = value(k, "n", 0),
                              .dst = dst,
                              .dst_rows = 2,
                              .dst_pitch = value(k, "dst_pitch", bytes)};
  return family == "gather" ? print<GatherFamily>(props, p) : print<ScatterFamily>(props, p);
}

std::string ask(const DeviceProps& props, const std::string& family, const Keys& k) {
  char* dst = address(k, "dst_misaligned", 0);
  const char* src = address(k, "src_misaligned", 1);
  if (family.starts_with("reduce")) return ask_reductions(props, family, k);
  if (family == "fill" || family == "copy" || family == "gather" || family == "scatter") {
    return ask_copies(props, family, k);
  }
  if (family == "transpose") {
    TransposeParams p{.element_bytes = value(k, "bytes", 4), .rows = value(k, "rows", 0), .cols = value(k, "cols", 0)};
    p.src_ld = value(k, "src_ld", p.cols);
    p.dst_ld = value(k, "dst_ld", p.rows);
    p.batches = value(k, "batches", 1);
    p.src_batch_stride = value(k, "src_batch_stride", 0);
    p.dst_batch_stride = value(k, "dst_batch_stride", 0);
    p.dst = dst;
    p.src = value(k, "in_place", 0) != 0 ? dst : src;
    return print<TransposeFamily>(props, p);
  }
  if (family == "axpby") {
    return print<AxpbyFamily>(props, {.dtype = as(k, "dtype", GPUMEM_F32),
                                      .x = value(k, "reads_x", 1) != 0 ? address(k, "x_misaligned", 1) : nullptr,
                                      .y = value(k, "reads_y", 1) != 0 ? address(k, "y_misaligned", 2) : nullptr,
                                      .z = address(k, "z_misaligned", 0),
                                      .n = value(k, "n", 0)});
  }
  if (family == "permute") {
    return print<PermuteFamily>(
        props, {.src = src, .dst = dst, .axes = fuse(row_major_axes(k), misalignment(src), misalignment(dst))});
  }
  if (family == "resize") {
    ResizeParams p{.filter = as(k, "filter", GPUMEM_FILTER_BILINEAR),
                   .dtype = as(k, "dtype", GPUMEM_U8),
                   .channels = as(k, "channels", int32_t{1}),
                   .src = src,
                   .src_rows = value(k, "src_rows", 0),
                   .src_cols = value(k, "src_cols", 0),
                   .dst = dst,
                   .dst_rows = value(k, "dst_rows", 0),
                   .dst_cols = value(k, "dst_cols", 0)};
    p.src_pitch = value(k, "src_pitch", p.src_cols * p.pixel_bytes());
    p.dst_pitch = value(k, "dst_pitch", p.dst_cols * p.pixel_bytes());
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

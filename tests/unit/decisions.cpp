#include "tests/unit/decisions.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

#include "engine/select.hpp"
#include "tests/fixtures/devices.hpp"

namespace gpumem::fixtures {
namespace {

using Keys = std::map<std::string, int64_t>;

int64_t value(const Keys& keys, const char* key, int64_t otherwise) {
  const auto found = keys.find(key);
  return found == keys.end() ? otherwise : found->second;
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
    return print<TransposeFamily>(props, p);
  }
  if (family == "fill") {
    return print<FillFamily>(props, {runs, value(k, "pattern", 1), value(k, "bytes", 0), value(k, "uniform", 0) != 0});
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

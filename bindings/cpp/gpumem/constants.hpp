// SPDX-License-Identifier: Apache-2.0
//
// The constants of gpumem.h as scoped enumerations, and versions.
#ifndef GPUMEM_CONSTANTS_HPP
#define GPUMEM_CONSTANTS_HPP

#include <gpumem.h>

#include <cstdint>

namespace gpumem {

enum class status : gpumem_status {
  ok = GPUMEM_OK,
  invalid_argument = GPUMEM_INVALID_ARGUMENT,
  invalid_handle = GPUMEM_INVALID_HANDLE,
  invalid_pointer = GPUMEM_INVALID_POINTER,
  out_of_range = GPUMEM_OUT_OF_RANGE,
  empty = GPUMEM_EMPTY,
  overflow = GPUMEM_OVERFLOW,
  unsupported = GPUMEM_UNSUPPORTED,
  busy = GPUMEM_BUSY,
  not_ready = GPUMEM_NOT_READY,
  not_found = GPUMEM_NOT_FOUND,
  capturing = GPUMEM_CAPTURING,
  forked = GPUMEM_FORKED,
  corrupted = GPUMEM_CORRUPTED,
  out_of_memory = GPUMEM_OUT_OF_MEMORY,
  out_of_resources = GPUMEM_OUT_OF_RESOURCES,
  file_error = GPUMEM_FILE_ERROR,
  no_device = GPUMEM_NO_DEVICE,
  no_driver = GPUMEM_NO_DRIVER,
  driver_too_old = GPUMEM_DRIVER_TOO_OLD,
  device_fault = GPUMEM_DEVICE_FAULT,
  driver_error = GPUMEM_DRIVER_ERROR,
  not_built = GPUMEM_NOT_BUILT,
  peer_lost = GPUMEM_PEER_LOST,
  timed_out = GPUMEM_TIMED_OUT,
  internal = GPUMEM_INTERNAL
};

enum class backend : gpumem_backend { host = GPUMEM_BACKEND_HOST, cuda = GPUMEM_BACKEND_CUDA };

inline constexpr std::int32_t device_host = GPUMEM_DEVICE_HOST;
inline constexpr std::int32_t device_best = GPUMEM_DEVICE_BEST;
inline constexpr std::int32_t device_cuda = GPUMEM_DEVICE_CUDA;
inline constexpr std::int32_t device_none = GPUMEM_DEVICE_NONE;

enum class dtype : gpumem_dtype {
  i8 = GPUMEM_I8,
  u8 = GPUMEM_U8,
  i16 = GPUMEM_I16,
  u16 = GPUMEM_U16,
  i32 = GPUMEM_I32,
  u32 = GPUMEM_U32,
  i64 = GPUMEM_I64,
  u64 = GPUMEM_U64,
  f16 = GPUMEM_F16,
  bf16 = GPUMEM_BF16,
  f32 = GPUMEM_F32,
  f64 = GPUMEM_F64
};

enum class reduce_op : gpumem_reduce_op {
  sum = GPUMEM_SUM,
  min = GPUMEM_MIN,
  max = GPUMEM_MAX,
  sum_abs = GPUMEM_SUM_ABS,
  sum_squares = GPUMEM_SUM_SQUARES,
  sum_cubes = GPUMEM_SUM_CUBES,
  max_abs = GPUMEM_MAX_ABS,
  min_max = GPUMEM_MIN_MAX,
  sum_compensated = GPUMEM_SUM_COMPENSATED,
  prod = GPUMEM_PROD,
  sum_valid = GPUMEM_SUM_VALID,
  count_valid = GPUMEM_COUNT_VALID,
  min_valid = GPUMEM_MIN_VALID,
  max_valid = GPUMEM_MAX_VALID,
  sum_order_free = GPUMEM_SUM_ORDER_FREE,
  nrm2_order_free = GPUMEM_NRM2_ORDER_FREE
};

enum class axis : gpumem_axis { rows = GPUMEM_AXIS_ROWS, cols = GPUMEM_AXIS_COLS };

enum class memory_kind : gpumem_memory_kind {
  pageable = GPUMEM_MEMORY_PAGEABLE,
  pinned = GPUMEM_MEMORY_PINNED,
  device = GPUMEM_MEMORY_DEVICE,
  managed = GPUMEM_MEMORY_MANAGED
};

enum class advice : gpumem_advice {
  read_mostly = GPUMEM_ADVISE_READ_MOSTLY,
  unset_read_mostly = GPUMEM_ADVISE_UNSET_READ_MOSTLY,
  preferred_location = GPUMEM_ADVISE_PREFERRED_LOCATION,
  unset_preferred_location = GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION,
  accessed_by = GPUMEM_ADVISE_ACCESSED_BY,
  unset_accessed_by = GPUMEM_ADVISE_UNSET_ACCESSED_BY
};

enum class family : gpumem_family {
  reduce = GPUMEM_FAMILY_REDUCE,
  transpose = GPUMEM_FAMILY_TRANSPOSE,
  fill = GPUMEM_FAMILY_FILL,
  reduce_axis = GPUMEM_FAMILY_REDUCE_AXIS,
  reduce_segments = GPUMEM_FAMILY_REDUCE_SEGMENTS,
  copy = GPUMEM_FAMILY_COPY,
  axpby = GPUMEM_FAMILY_AXPBY,
  gather = GPUMEM_FAMILY_GATHER,
  scatter = GPUMEM_FAMILY_SCATTER,
  permute = GPUMEM_FAMILY_PERMUTE,
  resize = GPUMEM_FAMILY_RESIZE,
  convert = GPUMEM_FAMILY_CONVERT,
  arithmetic = GPUMEM_FAMILY_ARITHMETIC,
  map = GPUMEM_FAMILY_MAP,
  scan = GPUMEM_FAMILY_SCAN,
  sort = GPUMEM_FAMILY_SORT,
  select = GPUMEM_FAMILY_SELECT,
  reduce_by_index = GPUMEM_FAMILY_REDUCE_BY_INDEX,
  copy_boxes = GPUMEM_FAMILY_COPY_BOXES
};

// The names of the operations on bits begin with bit_, because not, and, or and xor are keywords.
enum class map_op : gpumem_map_op {
  negate = GPUMEM_MAP_NEGATE,
  absolute = GPUMEM_MAP_ABSOLUTE,
  reciprocal = GPUMEM_MAP_RECIPROCAL,
  square_root = GPUMEM_MAP_SQUARE_ROOT,
  floor = GPUMEM_MAP_FLOOR,
  ceil = GPUMEM_MAP_CEIL,
  truncate = GPUMEM_MAP_TRUNCATE,
  round = GPUMEM_MAP_ROUND,
  bit_not = GPUMEM_MAP_NOT,
  add = GPUMEM_MAP_ADD,
  subtract = GPUMEM_MAP_SUBTRACT,
  multiply = GPUMEM_MAP_MULTIPLY,
  divide = GPUMEM_MAP_DIVIDE,
  remainder = GPUMEM_MAP_REMAINDER,
  minimum = GPUMEM_MAP_MINIMUM,
  maximum = GPUMEM_MAP_MAXIMUM,
  copy_sign = GPUMEM_MAP_COPY_SIGN,
  bit_and = GPUMEM_MAP_AND,
  bit_or = GPUMEM_MAP_OR,
  bit_xor = GPUMEM_MAP_XOR,
  shift_left = GPUMEM_MAP_SHIFT_LEFT,
  shift_right = GPUMEM_MAP_SHIFT_RIGHT
};

enum class compare_op : gpumem_compare_op {
  less = GPUMEM_LESS,
  less_equal = GPUMEM_LESS_EQUAL,
  equal = GPUMEM_EQUAL,
  not_equal = GPUMEM_NOT_EQUAL,
  greater_equal = GPUMEM_GREATER_EQUAL,
  greater = GPUMEM_GREATER
};

enum class filter : gpumem_filter { nearest = GPUMEM_FILTER_NEAREST, bilinear = GPUMEM_FILTER_BILINEAR };
enum class format : gpumem_format {
  text = GPUMEM_FORMAT_TEXT,
  json = GPUMEM_FORMAT_JSON,
  csv = GPUMEM_FORMAT_CSV,
  trace = GPUMEM_FORMAT_TRACE
};
enum class log_level : gpumem_log_level {
  error = GPUMEM_LOG_ERROR,
  warning = GPUMEM_LOG_WARNING,
  info = GPUMEM_LOG_INFO
};

struct version {
  std::int32_t major, minor, patch;
};
inline constexpr version header_version{GPUMEM_VERSION_MAJOR, GPUMEM_VERSION_MINOR, GPUMEM_VERSION_PATCH};

inline version library_version() noexcept {
  version found{};
  gpumem_version(&found.major, &found.minor, &found.patch);
  return found;
}

// The status's name in C, such as "GPUMEM_OUT_OF_MEMORY".
inline const char* status_name(status code) noexcept { return gpumem_status_name(static_cast<gpumem_status>(code)); }

}  // namespace gpumem

#endif  // GPUMEM_CONSTANTS_HPP

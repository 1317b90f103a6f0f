// The library for the benchmarks: shared contexts, forced implementations, operation descriptors with their operands.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device.hpp"
#include "failure.hpp"
#include "problems/instance.hpp"
#include "support/case.hpp"

namespace bench {

using tool::check;
using tool::device_of;
using tool::elements;
using tool::kDtypeBytes;
using tool::kDtypes;
using tool::kSpoiled;
using tool::OperandPtr;
using tool::Problem;

using Context = std::shared_ptr<gpumem_ctx>;

// A warmed-up context of a device (GPUMEM_DEVICE_HOST, GPUMEM_DEVICE_CUDA or an ordinal). host_threads: for the host's
// part of the work; 0: all.
Context make_context(int32_t device, int32_t host_threads = 0);

inline std::size_t bytes_of(gpumem_dtype dtype, int64_t n) { return static_cast<std::size_t>(n * kDtypeBytes[dtype]); }

inline gpumem_dtype result_type(gpumem_dtype dtype) { return dtype >= GPUMEM_F16 ? GPUMEM_F64 : GPUMEM_I64; }

inline std::string wrong_count(int64_t wrong, const char* what = "elements") {
  return wrong == 0 ? "" : std::to_string(wrong) + " " + what + " are wrong";
}

std::string size_name(std::size_t bytes, int largest_unit = 20);  // "64KiB"; largest_unit 20: up to MiB, 30: up to GiB

// A side whose samples force one implementation; the context is free otherwise. Skips if the implementation does not
// fit the problem; `try_once` is one call.
Side with_variant(const Context& ctx, gpumem_family family, const std::string& name, Side side,
                  const std::function<gpumem_status()>& try_once);

// Adds a copy of the case for every implementation of the operation, named "<family>/<case>/<variant>".
void add_ladder(std::vector<Case>& cases, Case base, const std::string& family,
                const std::function<Pair(const std::string& variant)>& open);

// The expected value of a result. Integers are compared exactly, by their low half in a 32-bit result. Numbers may be
// off by `scale` times 1e-10, or 1e-5 in a 32-bit result. 1e-10 is well below the effect of one missing element.
struct Expected {
  int64_t integer = 0;
  double number = 0;
  double scale = 0;

  // "" if the value at `result`, of type I32, I64, F32 or F64, is the expected one.
  std::string compare(const void* result, gpumem_dtype type) const;
};

}  // namespace bench

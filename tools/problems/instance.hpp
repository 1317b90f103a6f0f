// A problem with its memory: an operation descriptor, ready to run.
#pragma once

#include <gpumem.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "problems/operand.hpp"
#include "problems/problem.hpp"

namespace tool {

enum class Limit { none, read, write, copy, to_device, from_device };

// Blocking, or asynchronous on a stream (by default the context's own).
struct On {
  On(bool is_async) : async(is_async) {}  // NOLINT(google-explicit-constructor): most calls need no more
  On(gpumem_stream* on, gpumem_status* outcome) : async(true), stream(on), status(outcome) {}
  bool async;
  gpumem_stream* stream = nullptr;
  gpumem_status* status = nullptr;
};

struct Instance {
  std::function<gpumem_status(On)> call;
  // Restores every operand and spoils the output. Inputs of equal problems are equal.
  std::function<void()> reset;
  OperandPtr output;
  std::map<std::string, OperandPtr> operands;  // by the keys of the line, and "result"
  int64_t bytes = 0;                           // per call: read and written, or sent over PCIe
  Limit limit = Limit::none;
  bool device_only = false;  // no operand is in host memory, so events can time the asynchronous call
};

// Kinds of memory that replace the line's kinds, by operand.
using Kinds = std::map<std::string, std::string>;

// The default is an Operand of the library's memory.
using Allocator =
    std::function<OperandPtr(const std::string& key, const std::string& kind, int64_t bytes, int64_t misaligned)>;

// host: all operands in pageable memory, a reference to compare with.
enum class Place { as_given, host };
Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds = {},
                       const Allocator& allocator = {});

}  // namespace tool

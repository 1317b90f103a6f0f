// A problem with memory: what a problem line says, ready to be run.
#pragma once

#include <gpumem.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "problems/operand.hpp"
#include "problems/problem.hpp"

namespace tool {

// What a rate is held against.
enum class Limit { none, read, write, copy, to_device, from_device };

// How an operation is called: its plain form, or its _async form on a stream (the context's own if there is none).
struct On {
  On(bool is_async) : async(is_async) {}  // NOLINT(google-explicit-constructor): most calls need no more
  On(gpumem_stream* on, gpumem_status* outcome) : async(true), stream(on), status(outcome) {}
  bool async;
  gpumem_stream* stream = nullptr;
  gpumem_status* status = nullptr;
};

struct Instance {
  std::function<gpumem_status(On)> call;
  // Makes every operand what it was at first, the output spoiled; the inputs of equal problems are equal.
  std::function<void()> reset;
  // Where the results are.
  OperandPtr output;
  std::map<std::string, OperandPtr> operands;  // by the keys of the line, and "result"
  int64_t bytes = 0;                           // counted for one call: read and written, or sent over a link
  Limit limit = Limit::none;
  bool device_only = false;  // no operand lies in memory of the host, so that the _async form can be timed by events
};

// Which kind of memory takes the place of the one that a line gives for an operand.
using Kinds = std::map<std::string, std::string>;

// Memory for an operand; the default is an Operand of the library's memory.
using Allocator =
    std::function<OperandPtr(const std::string& key, const std::string& kind, int64_t bytes, int64_t misaligned)>;

// `host` puts all operands into ordinary memory: a reference to compare with.
enum class Place { as_given, host };
Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds = {},
                       const Allocator& allocator = {});

}  // namespace tool

// A problem with memory: what a problem line says, ready to be run.
#pragma once

#include <gpumem.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bench/operand.hpp"
#include "bench/problem.hpp"

namespace tool {

// What a rate is held against.
enum class Limit { none, read, write, copy, to_device, from_device };

struct Instance {
  // The operation on the context's own stream: its _async form, or its plain one.
  std::function<gpumem_status(bool async)> call;
  // Makes every operand what it was at first, the output spoiled; the inputs of equal problems are equal.
  std::function<void()> reset;
  // Where the results are.
  std::shared_ptr<Operand> output;
  int64_t bytes = 0;  // counted for one call: read and written, or sent over a link
  Limit limit = Limit::none;
  bool device_only = false;  // no operand lies in memory of the host, so that the _async form can be timed by events
};

// Which kind of memory takes the place of the one that a line gives for an operand.
using Kinds = std::map<std::string, std::string>;

// `host` puts all operands into ordinary memory: a reference to compare with.
enum class Place { as_given, host };
Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds = {});

}  // namespace tool

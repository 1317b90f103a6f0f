// Random calls of every family, as data: the same call can be made on several contexts, whose memory then has to be the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "gpumem.h"
#include "support/forms.hpp"
#include "support/random.hpp"

namespace gpumem_test {

// Two areas of memory on each context; the second is of another kind, so that some calls have operands in both.
inline constexpr int64_t kAreaBytes = int64_t{1} << 20;

struct Place {
  int area = 0;
  int64_t offset = 0;
};

struct Side {
  gpumem_ctx* ctx = nullptr;
  gpumem_stream* stream = nullptr;  // NULL: calls are made in their plain form
  std::array<char*, 2> areas{};

  CallForm form() const { return {stream != nullptr, stream}; }
  char* at(Place place) const { return areas[static_cast<size_t>(place.area)] + place.offset; }
};

struct Operation {
  std::string what;
  std::function<gpumem_status(const Side&)> run;
};

// The next call. Most are sound; some overlap, misalign or name what is not there, which each context must refuse alike.
// `enqueued`: results lie where a stream's work can write them, and no call has operands in both areas.
Operation random_operation(Random& random, bool enqueued);

}  // namespace gpumem_test

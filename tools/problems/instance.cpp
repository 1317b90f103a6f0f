#include "problems/instance.hpp"

#include "failure.hpp"
#include "problems/builder.hpp"

namespace tool {

Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds,
                       const Allocator& allocator) {
  static const std::map<std::string, Instance (*)(Builder)> kMakers = {
      {"reduce", make_reduce},
      {"reduce_axis", make_reduce_axis},
      {"reduce_segments", make_reduce_segments},
      {"transpose", make_transpose},
      {"permute", make_permute},
      {"fill", make_fill},
      {"copy", make_copy},
      {"axpby", make_axpby},
      {"convert", make_convert},
      {"gather", make_gather},
      {"scatter", make_scatter},
      {"resize", make_resize},
      {"arithmetic", make_arithmetic},
  };
  const auto maker = kMakers.find(problem.family());
  if (maker == kMakers.end()) throw Failure("'" + problem.family() + "' can't be run by the command");
  return maker->second(Builder(ctx, problem, place, kinds, allocator));
}

}  // namespace tool

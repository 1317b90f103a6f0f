// Makes the operands of a problem, and records how to restore its output.
#pragma once

#include <gpumem.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "problems/instance.hpp"

namespace tool {

class Builder {
 public:
  Builder(gpumem_ctx* context, const Problem& problem, Place place, const Kinds& kinds, const Allocator& allocator);

  // Operands by the keys of their place; nullptr for `none`.
  OperandPtr input(const std::string& key, int64_t bytes, const Contents& contents);
  // An output that is also an input is written again before each check.
  OperandPtr output(const std::string& key, int64_t bytes);
  OperandPtr result(const std::string& kind, int64_t bytes);
  std::string kind_of(const std::string& key) const;

  Instance finish(Limit limit, std::function<gpumem_status(On)> call);

  gpumem_ctx* const ctx;
  const Problem& p;

 private:
  OperandPtr made(const std::string& key, const std::string& kind, int64_t bytes) const;
  OperandPtr spoiled(const std::string& key, const std::string& kind, int64_t bytes);
  void limit(Limit natural);

  Place place_;
  const Kinds& kinds_;
  const Allocator& allocator_;
  std::map<std::string, std::pair<OperandPtr, Contents>> operands_;
  Instance out_;
};

template <class Plain, class Enqueued, class... Args>
gpumem_status call(On on, Plain plain, Enqueued enqueued, Args... args) {
  if (!on.async) return plain(args...);
  if constexpr (std::is_invocable_v<Enqueued, Args..., gpumem_stream*>) {
    return enqueued(args..., on.stream);
  } else {
    return enqueued(args..., on.status, on.stream);
  }
}

template <class T = void>
T* at(const OperandPtr& operand) {
  return operand ? operand->as<T>() : nullptr;
}

using Extents = std::vector<int64_t>;

int64_t reach(const Extents& extents, const Extents& strides);  // elements from the first to the last one
Extents row_major(const Extents& extents);

Instance make_reduce(Builder b);
Instance make_reduce_axis(Builder b);
Instance make_reduce_segments(Builder b);
Instance make_reduce_by_index(Builder b);
Instance make_transpose(Builder b);
Instance make_permute(Builder b);
Instance make_fill(Builder b);
Instance make_copy(Builder b);
Instance make_copy_boxes(Builder b);
Instance make_gather(Builder b);
Instance make_scatter(Builder b);
Instance make_select(Builder b);
Instance make_axpby(Builder b);
Instance make_convert(Builder b);
Instance make_arithmetic(Builder b);
Instance make_map(Builder b);
Instance make_resize(Builder b);
Instance make_scan(Builder b);
Instance make_sort(Builder b);

}  // namespace tool

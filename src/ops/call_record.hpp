// Record of an operation as the caller described it, with its operands' locations.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "ops/operand.hpp"
#include "ops/operations.hpp"

namespace gpumem {

struct OperandInfo {
  const void* p;
  gpumem_memory_kind kind;
  int32_t device;  // of device memory; kOwnDevice: the context's
  bool mixed;
};
inline constexpr int32_t kOwnDevice = -1;

// Distinct types, because both operations share one struct but have a table each.
struct GatherParams : GatherScatterParams {};
struct ScatterParams : GatherScatterParams {};

template <class Family>
using CallOf = std::conditional_t<
    std::is_same_v<Family, GatherFamily>, GatherParams,
    std::conditional_t<std::is_same_v<Family, ScatterFamily>, ScatterParams, typename Family::Params>>;
template <class... Family>
std::variant<std::monostate, CallOf<Family>...> any_call(FamilyList<Family...>);

struct CallRecord {
  using Call = decltype(any_call(Families{}));  // indexed by gpumem_family; the first alternative: no call

  Call call;
  Completion completion = Completion::blocking;
  int32_t row = -1;  // in the operation's table; -1: none was chosen
  ExecutionSpace space = ExecutionSpace::host;
  int32_t seen_count = 0;
  std::array<OperandInfo, kMaxTerms + kMaxDots + 2> seen{};

  gpumem_family family() const noexcept { return static_cast<gpumem_family>(call.index()); }
  // Ignores the operands of a batch that are too many.
  void note(const OperandInfo& operand) noexcept {
    if (static_cast<size_t>(seen_count) < seen.size()) seen[static_cast<size_t>(seen_count++)] = operand;
  }
  // nullptr if p was not looked up.
  const OperandInfo* find(const void* p) const noexcept;
};

template <class Record, class F>
void with_call(Record& record, const F& f) {
  Families::for_each([&]<class Family>() {
    if (auto* call = std::get_if<static_cast<size_t>(Family::id)>(&record.call)) f.template operator()<Family>(*call);
  });
}

// The calling thread's last operation. Trivial thread-local storage: nothing to construct or destroy.
CallRecord& last_call() noexcept;

template <class Call>
CallRecord& note_call(const Call& call, Completion completion) {
  CallRecord& last = last_call();
  last.call.emplace<Call>(call);
  last.completion = completion;
  last.row = -1;
  last.seen_count = 0;
  return last;
}

}  // namespace gpumem

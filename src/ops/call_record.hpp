// An operation as its caller described it, and where its operands turned out to lie: what a problem line says. Each thread keeps
// the record of its last operation.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "ops/operand.hpp"
#include "ops/operations.hpp"

namespace gpumem {

// Where an operand lies, as a line tells it.
struct Seen {
  const void* p;
  gpumem_memory_kind kind;
  int32_t device;  // of device memory; kOwnDevice: the context's
  bool mixed;
};
inline constexpr int32_t kOwnDevice = -1;

// The two have one struct, and a table each.
struct GatherParams : GatherScatterParams {};
struct ScatterParams : GatherScatterParams {};

// What the record keeps of a family's call.
template <class Family>
using CallOf = std::conditional_t<
    std::is_same_v<Family, GatherFamily>, GatherParams,
    std::conditional_t<std::is_same_v<Family, ScatterFamily>, ScatterParams, typename Family::Params>>;
template <class... Family>
std::variant<std::monostate, CallOf<Family>...> any_call(FamilyList<Family...>);

struct CallRecord {
  using Call = decltype(any_call(Families{}));  // by gpumem_family; the first: none

  Call call;
  Completion completion = Completion::blocking;
  int32_t row = -1;  // of the family's table; -1: none was chosen
  ExecutionSpace space = ExecutionSpace::host;
  int32_t seen_count = 0;
  std::array<Seen, 9> seen{};

  gpumem_family family() const noexcept { return static_cast<gpumem_family>(call.index()); }
  void note(const Seen& operand) noexcept { seen[static_cast<size_t>(seen_count++)] = operand; }
  // nullptr: nobody has looked there.
  const Seen* find(const void* p) const noexcept;
};

// Calls f<Family>(call) with what the record holds; nothing where that is no call.
template <class Record, class F>
void with_call(Record& record, const F& f) {
  Families::for_each([&]<class Family>() {
    if (auto* call = std::get_if<static_cast<size_t>(Family::id)>(&record.call)) f.template operator()<Family>(*call);
  });
}

// The calling thread's last operation. Plain thread-local bytes: nothing to construct or destroy.
CallRecord& last_call() noexcept;

// Makes it this one, of whose operands nothing is known yet.
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

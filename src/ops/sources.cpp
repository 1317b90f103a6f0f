#include "ops/sources.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "ops/staging.hpp"

namespace gpumem {

Sources::Sources(Planner& planner, const ByteRange& z, int64_t element_bytes, Completion completion)
    : planner_(planner),
      z_(z),
      z_lies_(planner.look_up_here(z, Access::write)),
      element_bytes_(static_cast<uintptr_t>(element_bytes)),
      until_(completion) {}

const void* Sources::add(const ByteRange& range, bool is_z) {
  const Operand lies = planner_.look_up_here(range, Access::read);
  if (!is_z) require_disjoint(z_, range);
  read_z_ = read_z_ || is_z;
  const bool staged = planner_.on_cuda() && lies.on_host() != z_lies_.on_host();
  any_staged_ = any_staged_ || staged;
  if (staged && until_ == Completion::asynchronous) fail_on_two_sides(range.argument, lies, z_.argument, z_lies_);
  sources_[count_++] = {range.p, range.bytes, lies.kind, lies.host_side(), staged};
  return staged ? placeholder() : range.p;
}

const double* Sources::add_number(const char* argument, const double* p) {
  constexpr int64_t kBytes = sizeof *p;
  const ByteRange range{argument, p, kBytes};
  require_aligned(argument, p, kBytes);
  const Operand lies = planner_.look_up_index(range);
  require_disjoint(z_, range);
  const bool on_device = planner_.on_cuda() && !z_lies_.on_host();
  const bool staged =
      planner_.on_cuda() && read_elsewhere(on_device ? ExecutionSpace::cuda : ExecutionSpace::host, lies, until_);
  if (staged && until_ == Completion::asynchronous) fail_on_two_sides(argument, lies, z_.argument, z_lies_);
  any_staged_ = any_staged_ || staged;
  numbers_.push_back({p, staged, lies.host_side()});
  return staged ? static_cast<const double*>(placeholder()) : p;
}

Placement Sources::place() const noexcept {
  Placement placement = place_beside_output(planner_.on_cuda(), z_lies_, any_staged_);
  for (size_t k = 0; k < count_; ++k) {
    const Source& source = sources_[k];
    if (source.p != z_.p) placement.uses({.kind = source.kind, .first = source.p, .extent = source.bytes});
  }
  return placement;
}

const double* Sources::number(const Brought& brought, size_t i) const noexcept {
  return numbers_[i].staged ? static_cast<const double*>(brought.numbers->get()) + i : numbers_[i].p;
}

void Sources::bring_numbers(Context& context, ExecutionSpace space, Brought& brought) const {
  const auto staged = [](const Number& number) { return number.staged; };
  if (std::none_of(numbers_.begin(), numbers_.end(), staged)) return;
  const bool to_device = space == ExecutionSpace::cuda;
  if (to_device) context.device().await_order();  // as stage()
  brought.numbers.emplace(context, space, static_cast<int64_t>(sizeof(double) * numbers_.size()));
  for (size_t i = 0; i < numbers_.size(); ++i) {
    if (!numbers_[i].staged) continue;
    transfer(context, static_cast<double*>(brought.numbers->get()) + i, numbers_[i].p, sizeof(double),
             to_device ? numbers_[i].host_side : HostSide::pageable, space);
  }
  if (!to_device) context.device().synchronize(context.own_stream());
}

void Sources::bring(Context& context, ExecutionSpace space, Brought& brought) const {
  bring_numbers(context, space, brought);
  std::array<bool, kMaxTerms + kMaxDots> done{};
  for (size_t k = 0; k < count_; ++k) {
    if (done[k]) continue;
    if (!sources_[k].staged) {
      brought.at[k] = sources_[k].p;
      continue;
    }
    uintptr_t begin = sources_[k].begin();
    uintptr_t end = sources_[k].end();
    const auto of_its_elements = [&](const Source& other) {
      return other.staged && (other.begin() - sources_[k].begin()) % element_bytes_ == 0;
    };
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t j = k; j < count_; ++j) {
        const Source& other = sources_[j];
        if (done[j] || !of_its_elements(other) || other.begin() >= end || begin >= other.end()) continue;
        begin = std::min(begin, other.begin());
        end = std::max(end, other.end());
        done[j] = grown = true;
      }
    }
    std::optional<Workspace>& room = brought.rooms.emplace_front();
    stage(context, room, space, reinterpret_cast<const void*>(begin), static_cast<int64_t>(end - begin),
          sources_[k].host_side);
    for (size_t j = k; j < count_; ++j) {
      const bool inside = of_its_elements(sources_[j]) && sources_[j].begin() >= begin && sources_[j].begin() < end;
      if (inside) brought.at[j] = static_cast<char*>(room->get()) + (sources_[j].begin() - begin);
    }
  }
}

void require_dtype(const char* argument, gpumem_dtype dtype) {
  if (is_dtype(dtype)) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s is %d; expected a dtype, GPUMEM_I8 (%d) to GPUMEM_F64 (%d)", argument, dtype,
       GPUMEM_I8, GPUMEM_F64);
}

void require_f32_or_f64(gpumem_dtype dtype) {
  if (dtype == GPUMEM_F32 || dtype == GPUMEM_F64) return;
  if (!is_dtype(dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d)", dtype, GPUMEM_F32,
         GPUMEM_F64);
  }
  fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d)", dtype, dtype_name(dtype),
       GPUMEM_F32, GPUMEM_F64);
}

}  // namespace gpumem

#include "problems/builder.hpp"

#include "device.hpp"
#include "failure.hpp"

namespace tool {
namespace {

constexpr const char* kResult = "result";

}  // namespace

Builder::Builder(gpumem_ctx* context, const Problem& problem, Place place, const Kinds& kinds,
                 const Allocator& allocator)
    : ctx(context), p(problem), place_(place), kinds_(kinds), allocator_(allocator) {}

OperandPtr Builder::input(const std::string& key, int64_t bytes, const Contents& contents) {
  auto operand = made(key, kind_of(key), bytes);
  if (operand) operand->fill(contents);
  operands_[key] = {operand, contents};
  return operand;
}

OperandPtr Builder::output(const std::string& key, int64_t bytes) {
  const auto same = operands_.find(p.text(key));
  if (same != operands_.end()) {
    out_.output = same->second.first;
    out_.reset = [operand = out_.output, contents = same->second.second] { operand->fill(contents); };
    return out_.output;
  }
  return spoiled(key, kind_of(key), bytes);
}

OperandPtr Builder::result(const std::string& kind, int64_t bytes) {
  const auto replaced = kinds_.find(kResult);
  const std::string& given = replaced != kinds_.end() ? replaced->second : kind;
  return spoiled(kResult, place_ == Place::host ? "pageable" : given, bytes);
}

OperandPtr Builder::spoiled(const std::string& key, const std::string& kind, int64_t bytes) {
  out_.output = made(key, kind, bytes);
  out_.reset = [operand = out_.output] { operand->fill(kSpoiled); };
  operands_[key] = {out_.output, {}};
  return out_.output;
}

std::string Builder::kind_of(const std::string& key) const {
  if (place_ == Place::host && p.text(key) != "none") return "pageable";
  const auto replaced = kinds_.find(key);
  return replaced != kinds_.end() ? replaced->second : p.text(key);
}

Instance Builder::finish(Limit natural, std::function<gpumem_status(On)> call) {
  out_.bytes = counted_bytes(p);
  for (const auto& [key, operand] : operands_) out_.operands[key] = operand.first;
  limit(natural);
  out_.call = std::move(call);
  return std::move(out_);
}

OperandPtr Builder::made(const std::string& key, const std::string& kind, int64_t bytes) const {
  const auto same = operands_.find(p.text(key));
  if (same != operands_.end()) return same->second.first;
  if (kind == "none") return nullptr;
  const int64_t misaligned = p.number(key + "_misaligned");
  return allocator_ ? allocator_(key, kind, bytes, misaligned)
                    : std::make_shared<Operand>(ctx, kind, bytes, misaligned);
}

// Device memory limits no operation that has operands on the host, and PCIe limits only copies.
void Builder::limit(Limit natural) {
  out_.limit = natural;
  if (device_of(ctx).backend == GPUMEM_BACKEND_HOST) return;
  int on_host = 0;
  int on_device = 0;
  for (const auto& [key, operand] : operands_) {
    if (operand.first && key != kResult) ++(operand.first->on_host() ? on_host : on_device);
  }
  out_.device_only = on_host == 0;
  if (on_host == 0) return;
  if (on_device == 0 || p.family() != "copy") {
    out_.limit = Limit::none;
  } else {
    out_.limit = out_.output->on_host() ? Limit::from_device : Limit::to_device;
    out_.bytes /= 2;  // a transferred byte counts once
  }
}

int64_t reach(const Extents& extents, const Extents& strides) {
  int64_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) last += (extents[d] - 1) * strides[d];
  return last + 1;
}

Extents row_major(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

Instance make_instance(gpumem_ctx* ctx, const Problem& problem, Place place, const Kinds& kinds,
                       const Allocator& allocator) {
  static const std::map<std::string, Instance (*)(Builder)> kMakers = {
      {"reduce", make_reduce},
      {"reduce_axis", make_reduce_axis},
      {"reduce_segments", make_reduce_segments},
      {"reduce_by_index", make_reduce_by_index},
      {"transpose", make_transpose},
      {"permute", make_permute},
      {"fill", make_fill},
      {"copy", make_copy},
      {"copy_boxes", make_copy_boxes},
      {"axpby", make_axpby},
      {"convert", make_convert},
      {"gather", make_gather},
      {"scatter", make_scatter},
      {"select", make_select},
      {"resize", make_resize},
      {"arithmetic", make_arithmetic},
      {"scan", make_scan},
      {"map", make_map},
      {"sort", make_sort},
  };
  const auto maker = kMakers.find(problem.family());
  if (maker == kMakers.end()) throw Failure("'" + problem.family() + "' can't be run by the command");
  return maker->second(Builder(ctx, problem, place, kinds, allocator));
}

}  // namespace tool

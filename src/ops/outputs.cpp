#include "ops/outputs.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"

namespace gpumem {
namespace {

void check_output(Context& context, Output& output, Completion completion) {
  require_aligned(output.argument, output.p, output.alignment);
  output.where = look_up_range(context, output.p, output.bytes, Access::write, output.argument);
  require_same_device(context.device().props(), output.where, output.argument);
  const bool by_device = context.on_cuda() || context.strict_host();
  if (completion == Completion::asynchronous && by_device && output.where.kind == GPUMEM_MEMORY_PAGEABLE) {
    fail(GPUMEM_INVALID_POINTER, "%s (0x%llx) is pageable memory%s; expected device, pinned or managed memory",
         output.argument, number(output.p), output.where.mixed ? ", at least in part" : "");
  }
}

ByteRange range_of(const Output& output) noexcept { return {output.argument, output.p, output.bytes}; }

// Ignores overrides of fill. On a device a kernel fills, because it can write pinned memory too.
void write_empty_value_to(Context& context, const Output& output, NativeStream stream, Completion completion) {
  const bool beside = context.on_cuda() && completion == Completion::blocking && output.where.on_host();
  const ExecutionSpace space = context.on_cuda() && !beside ? ExecutionSpace::cuda : ExecutionSpace::host;
  Backend& backend = context.running(space);
  FillParams params{.dst = output.p, .count = output.bytes};
  for (size_t at = 0; at < sizeof params.word; at += sizeof output.empty_word) {
    std::memcpy(params.word + at, &output.empty_word, sizeof output.empty_word);
  }
  const Override kernel{space == ExecutionSpace::cuda ? find_variant(family_names(FillFamily::id), "vec16") : -1};
  if (beside) context.device().await_order();
  const auto selection = select<FillFamily>(backend.props(), params, kernel, {});
  backend.launch(beside ? nullptr : stream, Work<FillFamily>{params, selection}, completion);
}

}  // namespace

void check_outputs(Context& context, std::span<Output> outputs, std::span<const ByteRange> inputs,
                   Completion completion) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].wanted()) continue;
    check_output(context, outputs[i], completion);
    for (const ByteRange& input : inputs) require_disjoint(range_of(outputs[i]), input);
    for (size_t before = 0; before < i; ++before) {
      if (outputs[before].wanted()) require_disjoint(range_of(outputs[before]), range_of(outputs[i]));
    }
  }
}

void store(Context& context, const Output& output, const void* value) {
  const auto size = static_cast<size_t>(output.bytes);
  const bool by_host = !context.on_cuda() || output.where.on_host();
  if (by_host) return static_cast<void>(std::memcpy(output.p, value, size));  // any alignment
  context.device().copy(context.own_stream(), output.p, value, size, Completion::blocking);
}

void write_empty_values(Context& context, std::span<const Output> outputs, NativeStream stream, Completion completion) {
  for (const Output& output : outputs) {
    if (output.wanted()) write_empty_value_to(context, output, stream, completion);
  }
}

}  // namespace gpumem

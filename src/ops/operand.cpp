#include "ops/operand.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "context/process.hpp"

namespace gpumem {
namespace {

// Memory of another context of this process. A CUDA context sees a host context's allocations as ordinary memory.
Operand from_allocation(const Context& context, const Allocation& allocation) noexcept {
  Operand operand{.kind = allocation.kind,
                  .device = allocation.device,
                  .ours = !allocation.registered,
                  .base = allocation.base,
                  .bytes = static_cast<int64_t>(allocation.bytes)};
  if (context.on_cuda() && allocation.backend == ExecutionSpace::host) operand.kind = GPUMEM_MEMORY_PAGEABLE;
  return operand;
}

Operand from_location(const Location& location) noexcept {
  return {.kind = location.kind,
          .device = location.device,
          .base = location.base,
          .bytes = static_cast<int64_t>(location.bytes)};
}

[[noreturn]] void fail_unreadable(const void* p, const char* argument, const char* verb) {
  if (process().registry.find_freed(reinterpret_cast<uintptr_t>(p))) {
    fail(GPUMEM_INVALID_POINTER, "%s (0x%llx) was freed before; expected live memory", argument, number(p));
  }
  fail(GPUMEM_INVALID_POINTER,
       "%s (0x%llx) cannot be %s: it is not CUDA memory, and this process has not mapped it for that", argument,
       number(p), verb);
}

// Unknown to the library and the driver: only the operating system can say whether it is mapped.
bool unknown(const Operand& operand) noexcept { return operand.kind == GPUMEM_MEMORY_PAGEABLE && !operand.ours; }

Operand identify(Context& context, const void* p, const char* argument) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected the address of memory", argument);
  const RegistryEntry seen = process().registry.sight(reinterpret_cast<uintptr_t>(p));
  if (seen.live) return from_allocation(context, *seen.live);
  if (seen.freed) {
    fail(GPUMEM_INVALID_POINTER, "%s (0x%llx) was freed before; expected live memory", argument, number(p));
  }
  if (seen.ours) {
    fail(GPUMEM_INVALID_POINTER,
         "%s (0x%llx) is in gpumem's memory, but not in a live allocation; expected live memory", argument, number(p));
  }
  return from_location(context.device().classify(p));
}

// A host context may meet memory of a driver that was loaded after the context was made.
Operand identify_unreachable(Context& context, const void* p) {
  return context.on_cuda() ? Operand{} : from_location(context.host().classify_unreachable(p));
}

constexpr uintptr_t kLeastPage = 4096;  // of any system

bool reachable(const void* p, Access access) noexcept {
  return access == Access::read ? host_readable(p) : host_writable(const_cast<void*>(p));
}

// The range began in memory of the program, so memory of ours within it is an error.
void require_no_encounter(const void* p, int64_t bytes, int64_t gap, const char* argument) {
  const auto met = process().registry.encounter(reinterpret_cast<uintptr_t>(p), static_cast<size_t>(bytes),
                                                static_cast<size_t>(gap));
  if (!met) return;
  fail(
      GPUMEM_OUT_OF_RANGE,
      "%s (0x%llx) is memory of the program, and %lld bytes from it on run into memory of gpumem at 0x%llx%s; expected "
      "memory of one allocation",
      argument, number(p), ll(bytes), static_cast<unsigned long long>(met->base),
      met->live ? "" : ", which is not allocated");
}

void require_accessible(Context& context, const void* p, int64_t bytes, int64_t gap, Access access,
                        const char* argument) {
  const auto* last = static_cast<const char*>(p) + (bytes - 1);
  const char* verb = access == Access::read ? "read" : "written";
  if (!reachable(p, access)) {
    require_host_memory(context.device().props(), identify_unreachable(context, p), argument);
    fail_unreadable(p, argument, verb);
  }
  const bool same_page = reinterpret_cast<uintptr_t>(p) / kLeastPage == reinterpret_cast<uintptr_t>(last) / kLeastPage;
  if (!same_page && !reachable(last, access)) {
    fail(GPUMEM_OUT_OF_RANGE,
         "%s: the last of %lld bytes (at 0x%llx) cannot be %s: this process has not mapped it for that", argument,
         ll(bytes), number(last), verb);
  }
  if (same_page) return;
  const void* hole =
      context.host().hole(p, static_cast<size_t>(bytes), static_cast<size_t>(gap), access == Access::write);
  if (hole == nullptr) return;
  fail(GPUMEM_INVALID_POINTER,
       "%s (0x%llx): of the %lld bytes from there on, the byte at 0x%llx cannot be %s: this process has not mapped it "
       "for that",
       argument, number(p), ll(bytes), number(hole), verb);
}

bool covers(const Operand& operand, uintptr_t address, int64_t bytes) noexcept {
  return operand.bytes > 0 && bytes <= operand.bytes - static_cast<int64_t>(address - operand.base);
}

// An allocator may map several ranges next to each other (CUDA's virtual memory management), but the driver describes
// one. Foreign memory continues as long as the next address has the same kind and device.
void extend(Context& context, Operand& operand, uintptr_t address, int64_t bytes) {
  while (!covers(operand, address, bytes)) {
    const uintptr_t end = operand.base + static_cast<uintptr_t>(operand.bytes);
    const Location next = context.device().classify(reinterpret_cast<const void*>(end));
    if (!next.known || next.kind != operand.kind || next.device != operand.device || next.base != end ||
        next.bytes == 0 || process().registry.encounter(end, next.bytes, 0))
      return;  // the library's own memory is no part of another allocator's
    operand.bytes += static_cast<int64_t>(next.bytes);
  }
}

// An unknown extent can't be checked.
void require_covered(Context& context, Operand& operand, const void* p, int64_t bytes, const char* argument) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (operand.bytes == 0 || covers(operand, address, bytes)) return;
  if (!operand.ours) extend(context, operand, address, bytes);
  if (covers(operand, address, bytes)) return;
  fail(GPUMEM_OUT_OF_RANGE, "%s: %lld bytes are needed and %lld are left in its allocation of %lld", argument,
       ll(bytes), ll(operand.bytes - static_cast<int64_t>(address - operand.base)), ll(operand.bytes));
}

}  // namespace

bool covers(const Operand& operand, const ByteRange& range) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(range.p);
  return address >= operand.base && address - operand.base < static_cast<uint64_t>(operand.bytes) &&
         covers(operand, address, range.bytes);
}

Operand look_up(Context& context, const void* p, const char* argument) {
  Operand operand = identify(context, p, argument);
  if (!unknown(operand) || host_readable(p)) return operand;
  operand = identify_unreachable(context, p);
  if (unknown(operand)) fail_unreadable(p, argument, "read");
  return operand;
}

bool host_can_read(Context& context, const void* p, int64_t bytes) noexcept {
  if (context.device().props().pageable_access) return false;  // the host may reach the memory of such a device
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (address / kLeastPage != (address + static_cast<uintptr_t>(bytes) - 1) / kLeastPage) return false;
  const RegistryEntry seen = process().registry.sight(address);
  return !seen.ours && !seen.freed && host_readable(p);
}

Spacing spacing_of(int64_t run, std::span<const Repeat> repeats, int64_t element_bytes) noexcept {
  int64_t gap = 0;
  int64_t step = 0;
  int64_t extent = run;
  for (const Repeat& r : repeats) {
    if (r.count <= 1) continue;
    gap = std::max(gap, r.stride - extent);
    const int64_t end = extent + (r.count - 1) * r.stride;
    if (step == 0 && r.stride <= extent) {
      run = end;
    } else {
      step = std::gcd(step, r.stride);
    }
    extent = end;
  }
  return {gap * element_bytes, run * element_bytes, step * element_bytes};
}

Operand look_up_range(Context& context, const void* p, int64_t bytes, Access access, const char* argument,
                      int64_t gap) {
  Operand operand = identify(context, p, argument);
  operand.first = p;
  operand.extent = bytes;
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (static_cast<uint64_t>(bytes) > UINTPTR_MAX - address) {
    fail(GPUMEM_OUT_OF_RANGE, "%s (0x%llx) and the %lld bytes from it on leave the address space", argument, number(p),
         ll(bytes));
  }
  if (!operand.ours && operand.kind == GPUMEM_MEMORY_PINNED && !covers(operand, address, bytes)) {
    operand.kind = GPUMEM_MEMORY_PAGEABLE;  // registered in part, or to an unknown extent
    operand.mixed = true;
  }
  if (!unknown(operand)) require_covered(context, operand, p, bytes, argument);
  require_host_memory(context.device().props(), operand, argument);
  if (unknown(operand)) {
    require_no_encounter(p, bytes, gap, argument);
    require_accessible(context, p, bytes, gap, access, argument);
    const auto* last = static_cast<const char*>(p) + (bytes - 1);
    operand.mixed = operand.mixed || (context.on_cuda() && context.device().classify(last).known);
  }
  return operand;
}

void require_host_memory(const DeviceProps& own, const Operand& operand, const char* argument) {
  if (own.backend == ExecutionSpace::cuda || operand.kind != GPUMEM_MEMORY_DEVICE ||
      operand.device == GPUMEM_DEVICE_HOST)
    return;
  fail(GPUMEM_UNSUPPORTED, "%s is memory of CUDA device %d; expected host memory on a host context", argument,
       operand.device);
}

void require_same_device(const DeviceProps& own, const Operand& operand, const char* argument) {
  if (operand.kind != GPUMEM_MEMORY_DEVICE || own.backend != ExecutionSpace::cuda || operand.device == own.ordinal)
    return;
  fail(GPUMEM_UNSUPPORTED, "%s is memory of CUDA device %d; expected memory of the context's device %d or of the host",
       argument, operand.device, own.ordinal);
}

namespace {

// Whether each run of a and each run of b are at different places between two multiples of a common step.
bool interleaved(const ByteRange& a, const ByteRange& b) noexcept {
  const auto step = static_cast<uint64_t>(std::gcd(a.spacing.step, b.spacing.step));
  if (step == 0) return false;
  const auto run_of = [](const ByteRange& r) {
    return static_cast<uint64_t>(r.spacing.run != 0 ? r.spacing.run : r.bytes);
  };
  const auto first = reinterpret_cast<uintptr_t>(a.p) % step;
  const auto second = reinterpret_cast<uintptr_t>(b.p) % step;
  return (second + step - first) % step >= run_of(a) && (first + step - second) % step >= run_of(b);
}

}  // namespace

void require_disjoint(const ByteRange& a, const ByteRange& b) {
  if (a.p == b.p && a.bytes > 0 && b.bytes > 0) {  // descriptors have no addresses: equal pointers overlap
    fail(GPUMEM_INVALID_ARGUMENT, "%s is %s; expected disjoint ranges", a.argument, b.argument);
  }
  const auto first = reinterpret_cast<uintptr_t>(a.p);
  const auto second = reinterpret_cast<uintptr_t>(b.p);
  const bool meet = first < second + static_cast<uint64_t>(b.bytes) && second < first + static_cast<uint64_t>(a.bytes);
  if (meet && !interleaved(a, b)) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "%s (0x%llx, %lld bytes) and %s (0x%llx, %lld bytes) overlap; expected disjoint ranges", a.argument,
         number(a.p), ll(a.bytes), b.argument, number(b.p), ll(b.bytes));
  }
}

}  // namespace gpumem

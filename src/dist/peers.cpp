#include "dist/peers.hpp"

#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "dist/movement.hpp"
#include "memory/arena.hpp"
#include "ops/operand.hpp"

namespace gpumem {
namespace {

constexpr int64_t kProbeBytes = 1 << 20;

// Some drivers report access that loses data, so a test pattern takes the same path as pieces.
bool read_right(Context& reader, Context& owner) {
  std::vector<uint64_t> pattern(kProbeBytes / sizeof(uint64_t));
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = (i + 1) * 0x9e3779b97f4a7c15;
  std::vector<uint64_t> arrived(pattern.size());
  const Shape shape{.element_bytes = sizeof(uint64_t),
                    .extents = {static_cast<int64_t>(pattern.size()), 1, 1, 1, 1, 1, 1, 1}};
  const Index tight = shape.tight_strides();
  const TemporaryBlock there(owner, false, kProbeBytes);
  const TemporaryBlock here(reader, false, kProbeBytes);
  Operand src = look_up_range(owner, there.get(), kProbeBytes, Access::write, "src");
  unpack(owner, shape, pattern.data(), {there.get(), tight}, src, WorkStream::own(owner));
  if (!reader.device().reaches(there.get(), kProbeBytes)) return false;
  const Operand dst = look_up_range(reader, here.get(), kProbeBytes, Access::write, "dst");
  src.device = dst.device;
  move_part(reader, shape, {there.get(), tight}, src, {here.get(), tight}, dst, reader.own_stream(),
            Completion::blocking);
  pack(reader, shape, {here.get(), tight}, dst, arrived.data(), WorkStream::own(reader));
  return arrived == pattern;
}

// One failure can be another process's doing, for example the end of a process that used the same devices.
bool reads_from(Context& reader, Context& owner) {
  constexpr int kTries = 3;
  const int32_t device = owner.device().props().ordinal;
  std::string why;
  for (int i = 0; i < kTries; ++i) {
    try {
      if (!reader.device().reaches_device(device)) {
        why = "the driver refuses access";
      } else if (read_right(reader, owner)) {
        return true;
      } else {
        why = "a test pattern did not arrive";
      }
    } catch (const Error& error) {
      if (error.status() == GPUMEM_DEVICE_FAULT) throw;
      why = error.what();
    }
  }
  reader.log.write(GPUMEM_LOG_WARNING, "memory of device %d goes by way of the heap: %s", device, why.c_str());
  return false;
}

}  // namespace

bool OpenedMemory::is_reached(Context& reader, const void* p, int64_t bytes, bool ours) {
  const uint64_t times = times_unmapped();
  if (ours && p == p_ && bytes == bytes_ && times == times_unmapped_) return true;
  const bool reached = reader.device().reaches(p, static_cast<size_t>(bytes));
  p_ = reached ? p : nullptr;
  bytes_ = bytes;
  times_unmapped_ = times;
  return reached;
}

bool on_two_devices(Context& a, Context& b) noexcept {
  return a.on_cuda() && b.on_cuda() && a.device().props().ordinal != b.device().props().ordinal;
}

Peers::Peers(const std::vector<Context*>& contexts) : members_(contexts.size()), reads_(members_ * members_, true) {
  std::map<std::pair<int32_t, int32_t>, bool> of_devices;
  for (size_t a = 0; a < members_; ++a) {
    for (size_t b = 0; b < members_; ++b) {
      Context& reader = *contexts[a];
      Context& owner = *contexts[b];
      if (!on_two_devices(reader, owner)) continue;
      const std::pair devices(reader.device().props().ordinal, owner.device().props().ordinal);
      auto known = of_devices.find(devices);
      if (known == of_devices.end()) known = of_devices.emplace(devices, reads_from(reader, owner)).first;
      reads_[a * members_ + b] = known->second;
    }
  }
}

}  // namespace gpumem

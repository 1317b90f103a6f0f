// gpumem_copy_async and gpumem_fill_async on the device against cudaMemcpyAsync and cudaMemsetAsync, by device time.
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kFillBytes = 1024 * kMiB;
constexpr std::size_t kCacheableBytes = static_cast<std::size_t>(kCacheableElements) * 4;

constexpr std::size_t kSmallCopy = 4 * kMiB;

std::string size_name(std::size_t bytes) {
  return bytes < kMiB ? std::to_string(bytes / 1024) + "KiB" : std::to_string(bytes / kMiB) + "MiB";
}

gpumem_status copy(const Gpu& gpu, std::size_t bytes) {
  return gpumem_copy_async(gpu.ctx.get(), gpu.dst(bytes), gpu.src(bytes), static_cast<int64_t>(bytes),
                           gpu.shared_stream);
}

Pair open_copy(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  void *src = gpu->src(bytes), *dst = gpu->dst(bytes);
  generate_elements(src, static_cast<int64_t>(bytes / 8), 8);
  return {moved_side(
              gpu, [=] { check(copy(*gpu, bytes)); }, dst, bytes, src, cold),
          memcpy_side(gpu, bytes, cold)};
}

Case copy_case(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  const bool cacheable = bytes <= kCacheableBytes;
  Case c;
  c.family = "copy";
  c.device_timed = true;
  c.name = "device/" + size_name(bytes) + (cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = "cudaMemcpyAsync";
  c.bytes = 2.0 * static_cast<double>(bytes);
  if (!cacheable || (cold && bytes >= 16 * kMiB)) c.ceiling = Ceiling::copy;
  c.quick = bytes == 1024 * kMiB;
  c.bar = at_least(bytes <= kSmallCopy ? 1.1 : 0.99);
  c.open = [=] { return open_copy(gpu, bytes, cold); };
  return c;
}

gpumem_status fill(const Gpu& gpu, void* dst, int pattern_bytes) {
  return gpumem_fill_async(gpu.ctx.get(), dst, kPattern, pattern_bytes,
                           static_cast<int64_t>(kFillBytes) / pattern_bytes, nullptr);
}

// The peer can only set single bytes: it is the same number of bytes, whatever the pattern.
Pair open_fill(const GpuPtr& gpu, int pattern_bytes) {
  void* dst = gpu->dst(kFillBytes);
  const auto poison = [dst] { check_cuda(cudaMemset(dst, kPoison, kFillBytes)); };
  const auto verify = [dst](int length) {
    return [dst, length] { return wrong_count(count_wrong_filled(dst, kFillBytes, kPattern, length)); };
  };
  const auto ours = [=] { check(fill(*gpu, dst, pattern_bytes)); };
  const auto peer = [=] { check_cuda(cudaMemsetAsync(dst, kPattern[0], kFillBytes, gpu->peer_stream.get())); };
  return {{gpu->device_time(ours, {}), poison, verify(pattern_bytes)}, {gpu->device_time(peer, {}), poison, verify(1)}};
}

Case fill_case(const GpuPtr& gpu, int pattern_bytes) {
  Case c;
  c.family = "fill";
  c.device_timed = true;
  c.name = "device/" + size_name(kFillBytes) + "/pattern" + std::to_string(pattern_bytes);
  c.peer = "cudaMemsetAsync";
  c.bytes = static_cast<double>(kFillBytes);
  c.ceiling = Ceiling::write;
  c.bar = at_least(0.98);
  c.quick = pattern_bytes == 4;
  c.open = [=] { return open_fill(gpu, pattern_bytes); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, const std::string& variant) {
  constexpr int pattern_bytes = 16;
  Case c = fill_case(gpu, pattern_bytes);
  c.family = "ladder";
  c.name = "fill/" + c.name + "/" + variant;
  c.bar = {};
  c.quick = false;
  c.open = [=] {
    return with_variant(gpu->ctx, GPUMEM_FAMILY_FILL, variant, open_fill(gpu, pattern_bytes),
                        [=] { return fill(*gpu, gpu->dst(kFillBytes), pattern_bytes); });
  };
  return c;
}

Case copy_ladder_case(const GpuPtr& gpu, std::size_t bytes, const std::string& variant) {
  Case c = copy_case(gpu, bytes, true);
  c.family = "ladder";
  c.name = "copy/" + c.name + "/" + variant;
  c.bar = {};
  c.quick = false;
  c.open = [=] {
    return with_variant(gpu->ctx, GPUMEM_FAMILY_COPY, variant, open_copy(gpu, bytes, true),
                        [=] { return copy(*gpu, bytes); });
  };
  return c;
}

}  // namespace

void add_cuda_movement(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (std::size_t bytes = 1024; bytes <= 4096 * kMiB; bytes *= 2) {
    cases.push_back(copy_case(gpu, bytes, false));
    if (bytes <= kCacheableBytes) cases.push_back(copy_case(gpu, bytes, true));
  }
  for (const std::size_t bytes : {kMiB / 16, kMiB, 4 * kMiB, 1024 * kMiB}) {
    for (const std::string& variant : variant_names(GPUMEM_FAMILY_COPY)) {
      cases.push_back(copy_ladder_case(gpu, bytes, variant));
    }
  }
  for (const int pattern_bytes : {1, 2, 4, 8, 16}) cases.push_back(fill_case(gpu, pattern_bytes));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_FILL)) cases.push_back(ladder_case(gpu, variant));
}

}  // namespace bench

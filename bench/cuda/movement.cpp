// gpumem_copy_async and gpumem_fill_async on the device against cudaMemcpyAsync and cudaMemsetAsync, by device time.
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kFillBytes = 1024 * kMiB;
constexpr std::size_t kCacheableBytes = static_cast<std::size_t>(kCacheableElements) * 4;

std::string size_name(std::size_t bytes) { return std::to_string(bytes / kMiB) + "MiB"; }

Pair open_copy(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  void *src = gpu->src(bytes), *dst = gpu->dst(bytes);
  generate_elements(src, static_cast<int64_t>(bytes / 8), 8);
  Gated how;
  how.cold = cold;
  const auto poison = [dst, bytes] { check_cuda(cudaMemset(dst, kPoison, bytes)); };
  const auto verify = [dst, bytes] { return wrong_count(count_wrong_copied(dst, static_cast<int64_t>(bytes / 8), 8)); };
  const auto ours = [=] { check(gpumem_copy_async(gpu->ctx.get(), dst, src, static_cast<int64_t>(bytes), nullptr)); };
  const auto peer = [=] {
    check_cuda(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, gpu->peer_stream.get()));
  };
  return {{gpu->device_time(ours, how), poison, verify}, {gpu->device_time(peer, how), poison, verify}};
}

Case copy_case(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  const bool cacheable = bytes <= kCacheableBytes;
  Case c;
  c.family = "copy";
  c.device_timed = true;
  c.name = "device/" + size_name(bytes) + (cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = "cudaMemcpyAsync";
  c.bytes = 2.0 * static_cast<double>(bytes);
  if (!cacheable || cold) c.ceiling = Ceiling::copy;
  c.quick = bytes == 1024 * kMiB;
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
  c.quick = pattern_bytes == 4;
  c.open = [=] { return open_fill(gpu, pattern_bytes); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, const std::string& variant) {
  constexpr int pattern_bytes = 16;
  Case c = fill_case(gpu, pattern_bytes);
  c.family = "ladder";
  c.name = "fill/" + c.name + "/" + variant;
  c.quick = false;
  c.open = [=] {
    return with_variant(gpu->ctx, GPUMEM_FAMILY_FILL, variant, open_fill(gpu, pattern_bytes),
                        [=] { return fill(*gpu, gpu->dst(kFillBytes), pattern_bytes); });
  };
  return c;
}

}  // namespace

void add_cuda_movement(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (std::size_t bytes = 4 * kMiB; bytes <= 4096 * kMiB; bytes *= 4) {
    cases.push_back(copy_case(gpu, bytes, false));
    if (bytes <= kCacheableBytes) cases.push_back(copy_case(gpu, bytes, true));
  }
  for (const int pattern_bytes : {1, 2, 4, 8, 16}) cases.push_back(fill_case(gpu, pattern_bytes));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_FILL)) cases.push_back(ladder_case(gpu, variant));
}

}  // namespace bench

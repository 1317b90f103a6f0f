#include "cuda/moved.hpp"

#include <utility>

#include "support/random.hpp"

namespace bench {

std::shared_ptr<DeviceBytes> expected_bytes(std::size_t bytes, const std::function<void(void*)>& write) {
  auto expected = std::make_shared<DeviceBytes>(bytes);
  check_cuda(cudaMemset(expected->as(), kPoison, bytes));
  write(expected->as());
  check_cuda(cudaDeviceSynchronize());
  return expected;
}

Side moved_side(const GpuPtr& gpu, std::function<void()> enqueue, void* dst, std::size_t bytes, const void* expected,
                bool cold) {
  Gated how;
  how.cold = cold;
  how.stream = gpu->peer_stream.get();
  return {gpu->device_time(std::move(enqueue), how), [dst, bytes] { check_cuda(cudaMemset(dst, kPoison, bytes)); },
          [dst, bytes, expected] { return wrong_count(count_different(dst, expected, bytes)); }};
}

Side memcpy_side(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  void *src = gpu->src(bytes), *dst = gpu->dst(bytes);
  return moved_side(
      gpu, [=] { check_cuda(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, gpu->peer_stream.get())); }, dst,
      bytes, src, cold);
}

namespace {

bool cacheable(double bytes) { return bytes <= 8.0 * static_cast<double>(kCacheableElements); }

}  // namespace

Case moved_case(const std::string& family, const std::string& name, const std::string& peer, double bytes, bool cold) {
  Case c;
  c.family = family;
  c.device_timed = true;
  c.name = name + (cacheable(bytes) ? (cold ? "/cold" : "/warm") : "");
  c.peer = peer;
  c.bytes = bytes;
  if (cold) c.ceiling = Ceiling::copy;
  return c;
}

void add_moved(std::vector<Case>& cases, double bytes, const std::function<Case(bool cold)>& make) {
  if (cacheable(bytes)) cases.push_back(make(false));
  cases.push_back(make(true));
}

}  // namespace bench

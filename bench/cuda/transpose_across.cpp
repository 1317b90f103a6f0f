// gpumem_transpose between host and device memory against a copy of the same bytes over the link, by the host's clock: the whole
// blocking call, and cudaMemcpyAsync with a synchronisation.
#include <cstring>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "measure/host_clock.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr HostClock kClock{};

struct Shape {
  int64_t rows, cols;

  int64_t elements() const { return rows * cols; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * 4; }
};

constexpr Shape kShapes[] = {{512, 512}, {2048, 2048}, {8192, 8192}, {10007, 9973}, {22369621, 3}, {3, 22369621}};

struct Problem {
  GpuPtr gpu;
  Shape shape;
  bool to_device;
  void *src, *dst;  // of the device; dst also holds what came out, to be looked at
  std::unique_ptr<PinnedBytes> pinned;
  std::vector<char> pageable;
  void* host;

  Problem(const GpuPtr& g, Shape s, bool there, bool pin)
      : gpu(g), shape(s), to_device(there), src(g->src(s.bytes())), dst(g->dst(s.bytes())) {
    if (pin) {
      pinned = std::make_unique<PinnedBytes>(s.bytes());
    } else {
      pageable.resize(s.bytes());
    }
    host = pin ? pinned->as() : pageable.data();
    generate_elements(src, s.elements(), 4);
  }

  void poison() const {
    check_cuda(cudaMemset(dst, kPoison, shape.bytes()));
    if (to_device) {
      check_cuda(cudaMemcpy(host, src, shape.bytes(), cudaMemcpyDefault));
    } else {
      std::memset(host, kPoison, shape.bytes());
    }
    check_cuda(cudaDeviceSynchronize());
  }
  void transpose() const {
    const void* from = to_device ? host : src;
    void* to = to_device ? dst : host;
    check(gpumem_transpose(gpu->ctx.get(), 4, shape.rows, shape.cols, from, shape.cols, to, shape.rows));
  }
  void copy() const {
    const void* from = to_device ? host : src;
    void* to = to_device ? dst : host;
    check_cuda(cudaMemcpyAsync(to, from, shape.bytes(), cudaMemcpyDefault, gpu->peer_stream.get()));
    check_cuda(cudaStreamSynchronize(gpu->peer_stream.get()));
  }
  std::string verify(bool transposed) const {
    if (!to_device) check_cuda(cudaMemcpy(dst, host, shape.bytes(), cudaMemcpyDefault));
    return wrong_count(transposed ? count_wrong_transposed(dst, shape.rows, shape.cols, 4)
                                  : count_wrong_copied(dst, shape.elements(), 4));
  }
};

Case across_case(const GpuPtr& gpu, Shape shape, bool to_device, bool pin) {
  Case c;
  c.family = "transpose_across";
  c.name = "4B/" + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) +
           (to_device ? "/to_device" : "/from_device") + (pin ? "/pinned" : "/pageable");
  c.peer = "cudaMemcpyAsync";
  c.bytes = 2.0 * static_cast<double>(shape.bytes());
  c.quick = shape.rows == 8192 && pin;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, shape, to_device, pin);
    const auto poison = [p] { p->poison(); };
    return Pair{{host_sampler([p] { p->transpose(); }, kClock), poison, [p] { return p->verify(true); }},
                {host_sampler([p] { p->copy(); }, kClock), poison, [p] { return p->verify(false); }}};
  };
  return c;
}

}  // namespace

void add_cuda_transpose_across(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const Shape& shape : kShapes) {
    for (const bool pin : {true, false}) {
      for (const bool to_device : {true, false}) cases.push_back(across_case(gpu, shape, to_device, pin));
    }
  }
}

}  // namespace bench

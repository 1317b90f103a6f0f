// gpumem_transpose on the device against cuBLAS geam and against cudaMemcpyAsync of the same bytes, by device time.
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

struct Shape {
  int64_t rows, cols;
  int element_bytes;

  int64_t elements() const { return rows * cols; }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * static_cast<std::size_t>(element_bytes); }
  std::string name() const {
    return std::to_string(element_bytes) + "B/" + std::to_string(rows) + "x" + std::to_string(cols);
  }
};

constexpr int64_t kBarred = 16384;

constexpr Shape kShapes[] = {
    {1024, 1024, 4},  {4096, 4096, 4},   {16384, 16384, 4}, {32768, 32768, 4}, {10007, 9973, 4},   {1048576, 32, 4},
    {32, 1048576, 4}, {16384, 16384, 1}, {16384, 16384, 2}, {16384, 16384, 8}, {16384, 16384, 16},
};

enum class Against { geam, memcpy };

struct Problem {
  GpuPtr gpu;
  Shape shape;
  void *src, *dst;

  Problem(const GpuPtr& g, Shape s) : gpu(g), shape(s), src(g->src(s.bytes())), dst(g->dst(s.bytes())) {
    generate_elements(src, s.elements(), s.element_bytes);
  }

  gpumem_status ours() const {
    return gpumem_transpose(gpu->ctx.get(), shape.element_bytes, shape.rows, shape.cols, src, shape.cols, dst,
                            shape.rows);
  }
  void enqueue(Against peer) const {
    const cudaStream_t stream = gpu->peer_stream.get();
    if (peer == Against::geam) {
      gpu->geam->enqueue(src, dst, shape.rows, shape.cols, shape.element_bytes, stream);
    } else {
      check_cuda(cudaMemcpyAsync(dst, src, shape.bytes(), cudaMemcpyDeviceToDevice, stream));
    }
  }
  void poison() const { check_cuda(cudaMemset(dst, kPoison, shape.bytes())); }
  std::string verify_transposed() const {
    return wrong_count(count_wrong_transposed(dst, shape.rows, shape.cols, shape.element_bytes));
  }
  std::string verify_copied() const {
    return wrong_count(count_wrong_copied(dst, shape.elements(), shape.element_bytes));
  }
};

Pair open_transpose(const std::shared_ptr<Problem>& p, Against peer, bool cold) {
  Gated ours, theirs;
  ours.blocking = true;
  theirs.batch = false;
  ours.cold = theirs.cold = cold;
  const auto poison = [p] { p->poison(); };
  Pair pair;
  pair.ours = {p->gpu->device_time([p] { check(p->ours()); }, ours), poison, [p] { return p->verify_transposed(); }};
  pair.peer = {p->gpu->device_time([p, peer] { p->enqueue(peer); }, theirs), poison,
               [p, peer] { return peer == Against::geam ? p->verify_transposed() : p->verify_copied(); }};
  return pair;
}

const char* peer_name(Against peer, int element_bytes) {
  if (peer == Against::memcpy) return "cudaMemcpyAsync";
  return element_bytes == 4 ? "cuBLAS Sgeam" : "cuBLAS Dgeam";
}

Case transpose_case(const GpuPtr& gpu, Shape shape, Against peer, bool cold) {
  const bool cacheable = shape.elements() <= kCacheableElements;
  Case c;
  c.family = "transpose";
  c.device_timed = true;
  c.name = shape.name() + (cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = peer_name(peer, shape.element_bytes);
  c.bytes = 2.0 * static_cast<double>(shape.bytes());
  if (!cacheable || cold) c.ceiling = Ceiling::copy;
  c.quick = shape.rows == kBarred && shape.element_bytes == 4;
  if (peer == Against::geam && c.quick) c.bar = at_least(0.98);
  c.open = [=] { return open_transpose(std::make_shared<Problem>(gpu, shape), peer, cold); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, Shape shape, const std::string& variant) {
  const Against peer = gpu->geam ? Against::geam : Against::memcpy;
  Case c = transpose_case(gpu, shape, peer, false);
  c.family = "ladder";
  c.name = "transpose/" + c.name + "/" + variant;
  c.bar = {};
  c.quick = false;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, shape);
    return with_variant(gpu->ctx, GPUMEM_FAMILY_TRANSPOSE, variant, open_transpose(p, peer, false),
                        [p] { return p->ours(); });
  };
  return c;
}

}  // namespace

void add_cuda_transpose(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const Shape& shape : kShapes) {
    const bool by_geam = gpu->geam && (shape.element_bytes == 4 || shape.element_bytes == 8);
    for (const bool cold : {false, true}) {
      if (cold && shape.elements() > kCacheableElements) continue;
      if (by_geam) cases.push_back(transpose_case(gpu, shape, Against::geam, cold));
      cases.push_back(transpose_case(gpu, shape, Against::memcpy, cold));
    }
  }
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_TRANSPOSE)) {
    cases.push_back(ladder_case(gpu, {kBarred, kBarred, 4}, variant));
  }
}

}  // namespace bench

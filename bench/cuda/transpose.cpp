// gpumem_transpose on the device against cuBLAS geam and against cudaMemcpyAsync of the same bytes, by device time.
#include <algorithm>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"
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
constexpr int64_t kSmall = 1024;
constexpr int64_t kNarrow = 16;

constexpr Shape kShapes[] = {
    {256, 256, 4},     {512, 512, 4},     {1024, 1024, 4},   {4096, 4096, 4},   {8192, 8192, 4},    {16384, 16384, 4},
    {32768, 32768, 4}, {1024, 1024, 8},   {4096, 4096, 8},   {8192, 8192, 8},   {16384, 16384, 8},  {32768, 32768, 8},
    {10007, 9973, 4},  {10007, 9973, 8},  {10007, 9973, 1},  {10007, 9973, 2},  {1048576, 32, 4},   {32, 1048576, 4},
    {16384, 16384, 1}, {32768, 32768, 1}, {16384, 16384, 2}, {32768, 32768, 2}, {16384, 16384, 16}, {33554432, 2, 4},
    {2, 33554432, 4},  {16777216, 3, 4},  {3, 16777216, 4},  {22369621, 3, 4},  {3, 22369621, 4},   {16777216, 4, 4},
    {4, 16777216, 4},  {8388608, 8, 4},   {8, 8388608, 4},   {4194304, 16, 4},  {16, 4194304, 4},   {16777216, 4, 8},
    {16777216, 3, 1},  {3, 16777216, 1},  {268435456, 2, 4}, {1048576, 64, 4},  {100003, 200, 4},
};

// In place, beside the library's own transpose into another matrix.
constexpr Shape kInPlace[] = {{16384, 16384, 4}, {16384, 8192, 4}, {10007, 9973, 4}, {1048576, 32, 4}, {7000, 6000, 8}};

enum class Against { geam, memcpy };

// What a row is held to; none where no bar was set.
Bar bar_of(const Shape& s, Against peer) {
  const int64_t narrow = std::min(s.rows, s.cols);
  const int64_t wide = std::max(s.rows, s.cols);
  if (peer == Against::geam) return at_least(wide <= kSmall ? 1.05 : 1.0);
  if (wide <= kSmall || s.element_bytes == 16) return {};
  if (s.element_bytes == 1) return narrow == wide ? at_least(0.88) : Bar{};
  if (s.element_bytes == 2) return narrow == wide ? at_least(0.92) : Bar{};
  if (s.rows == 10007) return at_least(0.88);
  if (s.cols == 200) return {};
  return at_least(narrow <= kNarrow ? 0.90 : 0.92);
}

struct Problem {
  GpuPtr gpu;
  Shape shape;
  void *src, *dst;

  Problem(const GpuPtr& g, Shape s) : gpu(g), shape(s), src(g->src(s.bytes())), dst(g->dst(s.bytes())) {
    generate_elements(src, s.elements(), s.element_bytes);
  }

  gpumem_status ours() const {
    return gpumem_transpose_async(gpu->ctx.get(), shape.element_bytes, shape.rows, shape.cols, src, shape.cols, dst,
                                  shape.rows, gpu->shared_stream);
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
  Gated how;
  how.cold = cold;
  how.stream = p->gpu->peer_stream.get();
  const auto poison = [p] { p->poison(); };
  Pair pair;
  pair.ours = {p->gpu->device_time([p] { check(p->ours()); }, how), poison, [p] { return p->verify_transposed(); }};
  pair.peer = {p->gpu->device_time([p, peer] { p->enqueue(peer); }, how), poison,
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
  c.bar = bar_of(shape, peer);
  c.open = [=] { return open_transpose(std::make_shared<Problem>(gpu, shape), peer, cold); };
  return c;
}

// dst is transposed in place, there and back again in turn.
struct InPlace {
  Problem problem;
  bool there = false;

  InPlace(const GpuPtr& gpu, Shape shape) : problem(gpu, shape) {}

  void prepare() {
    there = false;
    generate_elements(problem.dst, problem.shape.elements(), problem.shape.element_bytes);
  }
  void call() {
    const int64_t rows = there ? problem.shape.cols : problem.shape.rows;
    const int64_t cols = there ? problem.shape.rows : problem.shape.cols;
    check(gpumem_transpose_async(problem.gpu->ctx.get(), problem.shape.element_bytes, rows, cols, problem.dst, cols,
                                 problem.dst, rows, problem.gpu->shared_stream));
    there = !there;
  }
  std::string verify() const { return there ? problem.verify_transposed() : problem.verify_copied(); }
};

Pair open_in_place(const std::shared_ptr<InPlace>& p) {
  const GpuPtr& gpu = p->problem.gpu;
  Gated how;
  how.batch = false;
  how.stream = gpu->peer_stream.get();
  Pair pair;
  pair.ours = {gpu->device_time([p] { p->call(); }, how), [p] { p->prepare(); }, [p] { return p->verify(); }};
  pair.peer = {gpu->device_time([p] { check(p->problem.ours()); }, how), [p] { p->problem.poison(); },
               [p] { return p->problem.verify_transposed(); }};
  return pair;
}

Case in_place_case(const GpuPtr& gpu, Shape shape) {
  Case c;
  c.family = "transpose";
  c.device_timed = true;
  c.name = shape.name() + "/in_place";
  c.peer = "gpumem_transpose into another matrix";
  c.bytes = 2.0 * static_cast<double>(shape.bytes());
  c.ceiling = Ceiling::copy;
  if (shape.rows == shape.cols) c.bar = at_least(0.93);
  c.open = [=] { return open_in_place(std::make_shared<InPlace>(gpu, shape)); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, Shape shape, const std::string& variant) {
  const Against peer = gpu->geam && shape.element_bytes == 4 ? Against::geam : Against::memcpy;
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

// Many small matrices, one behind the other.
Case batched_case(const GpuPtr& gpu, int64_t rows, int64_t cols, int64_t batches) {
  const std::size_t bytes = static_cast<std::size_t>(rows * cols * batches) * 4;
  Case c = moved_case("transpose",
                      "4B/" + std::to_string(rows) + "x" + std::to_string(cols) + "/batch" + std::to_string(batches),
                      "cudaMemcpyAsync", 2.0 * static_cast<double>(bytes), true);
  if (rows >= 64) c.bar = at_least(0.92);
  c.open = [=] {
    void *src = gpu->src(bytes), *dst = gpu->dst(bytes);
    generate_elements(src, rows * cols * batches, 4);
    const auto expected = expected_bytes(bytes, [&](void* p) {
      const int64_t extents[] = {batches, rows, cols};
      const int32_t order[] = {0, 2, 1};
      permute_simply(p, src, 4, 3, extents, order);
    });
    const auto ours = [=] {
      check(gpumem_transpose_batched_async(gpu->ctx.get(), 4, rows, cols, src, cols, rows * cols, dst, rows,
                                           rows * cols, batches, gpu->shared_stream));
    };
    Side side = moved_side(gpu, ours, dst, bytes, expected->as(), true);
    side.verify = [verify = side.verify, expected] { return verify(); };  // which it keeps
    return Pair{side, memcpy_side(gpu, bytes, true)};
  };
  return c;
}

}  // namespace

void add_cuda_transpose(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const Shape& shape : kShapes) {
    // cuBLAS waits for the device before it transposes so many rows, so it can't be timed as the others are.
    const bool geam_takes = shape.rows < int64_t{1} << 28;
    const bool by_geam = gpu->geam && geam_takes && (shape.element_bytes == 4 || shape.element_bytes == 8);
    for (const bool cold : {false, true}) {
      if (cold && shape.elements() > kCacheableElements) continue;
      if (by_geam) cases.push_back(transpose_case(gpu, shape, Against::geam, cold));
      cases.push_back(transpose_case(gpu, shape, Against::memcpy, cold));
    }
  }
  for (const Shape& shape : kInPlace) cases.push_back(in_place_case(gpu, shape));
  cases.push_back(batched_case(gpu, 64, 64, 65536));
  cases.push_back(batched_case(gpu, 7, 9, 4194304));
  for (const Shape& shape : {Shape{kBarred, kBarred, 4}, Shape{10007, 9973, 4}, Shape{16384, 16384, 1},
                             Shape{16384, 16384, 2}, Shape{16777216, 4, 4}, Shape{1048576, 32, 4}}) {
    for (const std::string& variant : variant_names(GPUMEM_FAMILY_TRANSPOSE)) {
      cases.push_back(ladder_case(gpu, shape, variant));
    }
  }
}

}  // namespace bench

// gpumem_permute on the device against cudaMemcpyAsync of the same bytes: 57 cases of rank 2 to 6, from 200 MB to 1 GB, with and
// without a moving fastest axis, in the manner of the sets that TTC and HPTT were measured with (Springer, Hammond, Bientinesi,
// "TTC: A high-performance compiler for tensor transpositions", 2016); the extents are our own.
#include <algorithm>
#include <utility>

#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"

namespace bench {
namespace {

struct Shape {
  int rank;
  int64_t extents[6];
  int32_t order[6];
  int element_bytes = 4;

  int64_t elements() const {
    int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= extents[d];
    return product;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(elements() * element_bytes); }
  std::string name() const {
    std::string text = std::to_string(element_bytes) + "B/";
    for (int d = 0; d < rank; ++d) text.append(d ? "x" : "").append(std::to_string(extents[d]));
    text += "/";
    for (int d = 0; d < rank; ++d) text += std::to_string(order[d]);
    return text;
  }
};

constexpr Shape kShapes[] = {
    {2, {7264, 7296}, {1, 0}},
    {2, {9973, 10007}, {1, 0}},
    {2, {1216, 43520}, {1, 0}},
    {2, {43001, 1301}, {1, 0}},
    {2, {10000, 6000}, {1, 0}, 8},
    {3, {384, 368, 400}, {0, 2, 1}},
    {3, {384, 368, 400}, {1, 0, 2}},
    {3, {384, 368, 400}, {1, 2, 0}},
    {3, {384, 368, 400}, {2, 0, 1}},
    {3, {384, 368, 400}, {2, 1, 0}},
    {3, {2311, 61, 397}, {0, 2, 1}},
    {3, {2311, 61, 397}, {1, 0, 2}},
    {3, {2311, 61, 397}, {1, 2, 0}},
    {3, {2311, 61, 397}, {2, 0, 1}},
    {3, {2311, 61, 397}, {2, 1, 0}},
    {3, {64, 2144, 400}, {0, 2, 1}},
    {3, {10000, 64, 96}, {2, 0, 1}},
    {3, {9973, 4, 1301}, {2, 1, 0}},
    {3, {4, 3001, 5003}, {1, 2, 0}},
    {3, {5003, 3001, 4}, {1, 0, 2}},
    {3, {320, 352, 640}, {0, 2, 1}, 8},
    {4, {96, 80, 112, 72}, {0, 2, 1, 3}},
    {4, {96, 80, 112, 72}, {0, 1, 3, 2}},
    {4, {96, 80, 112, 72}, {1, 0, 3, 2}},
    {4, {96, 80, 112, 72}, {2, 1, 0, 3}},
    {4, {96, 80, 112, 72}, {3, 2, 1, 0}},
    {4, {96, 80, 112, 72}, {2, 3, 0, 1}},
    {4, {96, 80, 112, 72}, {3, 0, 2, 1}},
    {4, {17, 411, 11, 799}, {1, 3, 0, 2}},
    {4, {17, 411, 11, 799}, {2, 0, 3, 1}},
    {4, {17, 411, 11, 799}, {3, 1, 2, 0}},
    {4, {17, 411, 11, 799}, {0, 3, 2, 1}},
    {4, {6, 5000, 7, 311}, {2, 1, 3, 0}},
    {4, {128, 24, 144, 160}, {1, 2, 0, 3}, 8},
    {4, {4, 4, 2500, 1600}, {3, 2, 0, 1}},
    {5, {32, 40, 36, 28, 44}, {4, 0, 3, 2, 1}},
    {5, {32, 40, 36, 28, 44}, {4, 3, 2, 1, 0}},
    {5, {32, 40, 36, 28, 44}, {0, 2, 1, 4, 3}},
    {5, {32, 40, 36, 28, 44}, {2, 1, 0, 3, 4}},
    {5, {32, 40, 36, 28, 44}, {1, 4, 3, 0, 2}},
    {5, {5, 101, 6, 197, 101}, {3, 1, 4, 0, 2}},
    {5, {5, 101, 6, 197, 101}, {2, 0, 4, 1, 3}},
    {5, {5, 101, 6, 197, 101}, {0, 4, 2, 3, 1}},
    {5, {48, 12, 9, 16, 640}, {3, 1, 0, 2, 4}},
    {5, {36, 30, 28, 32, 52}, {4, 2, 0, 1, 3}, 8},
    {6, {20, 16, 24, 14, 18, 26}, {5, 4, 3, 2, 1, 0}},
    {6, {20, 16, 24, 14, 18, 26}, {0, 3, 1, 4, 2, 5}},
    {6, {20, 16, 24, 14, 18, 26}, {2, 5, 0, 4, 1, 3}},
    {6, {20, 16, 24, 14, 18, 26}, {1, 0, 4, 3, 2, 5}},
    {6, {20, 16, 24, 14, 18, 26}, {4, 1, 2, 5, 0, 3}},
    {6, {4, 33, 8, 50, 7, 139}, {5, 2, 0, 1, 3, 4}},
    {6, {4, 33, 8, 50, 7, 139}, {3, 0, 1, 2, 5, 4}},
    {6, {10, 12, 14, 16, 9, 198}, {3, 2, 4, 0, 1, 5}},
    {6, {8, 24, 10, 12, 64, 40}, {5, 1, 3, 2, 4, 0}},
    {3, {25, 2500, 900}, {0, 2, 1}},
    {3, {9000, 80, 80}, {1, 0, 2}},
    {3, {1600, 2500, 25}, {0, 2, 1}},
};

struct Problem {
  GpuPtr gpu;
  Shape shape;
  void *src, *dst;
  std::shared_ptr<DeviceBytes> expected;

  Problem(const GpuPtr& g, const Shape& s) : gpu(g), shape(s), src(g->src(s.bytes())), dst(g->dst(s.bytes())) {
    generate_elements(src, s.elements(), s.element_bytes);
    expected = expected_bytes(s.bytes(),
                              [&](void* p) { permute_simply(p, src, s.element_bytes, s.rank, s.extents, s.order); });
  }
  gpumem_status enqueue() const {
    return gpumem_permute_async(gpu->ctx.get(), shape.element_bytes, shape.rank, shape.extents, shape.order, src,
                                nullptr, dst, nullptr, gpu->shared_stream);
  }
};

Pair open_permute(const std::shared_ptr<Problem>& p) {
  const std::size_t bytes = p->shape.bytes();
  return {moved_side(
              p->gpu, [p] { check(p->enqueue()); }, p->dst, bytes, p->expected->as(), true),
          memcpy_side(p->gpu, bytes, true)};
}

Case permute_case(const GpuPtr& gpu, const Shape& shape) {
  Case c = moved_case("permute", shape.name(), "cudaMemcpyAsync", 2.0 * static_cast<double>(shape.bytes()), true);
  c.bar = at_least(0.6);
  c.quick = &shape == &kShapes[0];
  c.open = [gpu, shape] { return open_permute(std::make_shared<Problem>(gpu, shape)); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, const Shape& shape, const std::string& variant) {
  Case c = permute_case(gpu, shape);
  c.family = "ladder";
  c.name = "permute/" + c.name + "/" + variant;
  c.bar = {};
  c.quick = false;
  c.open = [gpu, shape, variant] {
    const auto p = std::make_shared<Problem>(gpu, shape);
    return with_variant(gpu->ctx, GPUMEM_FAMILY_PERMUTE, variant, open_permute(p), [p] { return p->enqueue(); });
  };
  return c;
}

}  // namespace

void add_cuda_permute(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const Shape& shape : kShapes) cases.push_back(permute_case(gpu, shape));
  const Shape ladder{3, {384, 368, 400}, {2, 1, 0}};
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_PERMUTE)) {
    cases.push_back(ladder_case(gpu, ladder, variant));
  }
}

Summary cuda_permute_summary() {
  Summary s;
  s.family = "permute";
  s.name = "median of all";
  s.peer = "cudaMemcpyAsync";
  s.bar = at_least(0.9);
  s.of = SummaryOf::median;
  s.over = [](const std::string& family, const std::string&, const std::string&) { return family == "permute"; };
  return s;
}

}  // namespace bench

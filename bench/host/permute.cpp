// gpumem_permute of 4-byte elements on the host backend against a tiled OpenMP loop.
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_permute.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

struct Shape {
  int rank;
  int64_t extents[5];
  int32_t order[5];

  int64_t elements() const {
    int64_t product = 1;
    for (int d = 0; d < rank; ++d) product *= extents[d];
    return product;
  }
};

constexpr Shape kShapes[] = {
    {3, {256, 256, 384}, {2, 1, 0}},
    {3, {199, 331, 397}, {0, 2, 1}},
    {3, {37, 1871, 399}, {1, 0, 2}},
    {4, {91, 93, 43, 72}, {3, 2, 1, 0}},
    {4, {91, 93, 43, 72}, {2, 0, 1, 3}},
    {4, {17, 411, 11, 299}, {1, 3, 0, 2}},
    {5, {37, 38, 35, 18, 27}, {4, 3, 2, 1, 0}},
    {5, {5, 101, 6, 97, 101}, {3, 1, 4, 0, 2}},
};

std::string shape_name(const Shape& s) {
  std::string name = std::to_string(s.extents[0]);
  for (int d = 1; d < s.rank; ++d) name.append("x").append(std::to_string(s.extents[d]));
  name.append("/");
  for (int d = 0; d < s.rank; ++d) name.append(std::to_string(s.order[d]));
  return name;
}

// Both sides read one array and write one other.
struct Arrays {
  Shape shape;
  HostBuffer src, dst;

  explicit Arrays(const Shape& s) : shape(s), src(bytes(s)), dst(bytes(s)) {
    auto* x = src.as<uint32_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < s.elements(); ++i) x[i] = random_element<uint32_t>(static_cast<uint64_t>(i));
  }

  static std::size_t bytes(const Shape& s) { return static_cast<std::size_t>(s.elements()) * 4; }

  // Element by element of dst: its index, taken apart, gives the place in src.
  std::string verify() const {
    const auto* y = dst.as<const uint32_t>();
    int64_t src_strides[5];
    int64_t stride = 1;
    for (int d = shape.rank - 1; d >= 0; stride *= shape.extents[d--]) src_strides[d] = stride;
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t i = 0; i < shape.elements(); ++i) {
      int64_t rest = i, from = 0;
      for (int d = shape.rank - 1; d >= 0; --d) {
        const int32_t axis = shape.order[d];
        from += rest % shape.extents[axis] * src_strides[axis];
        rest /= shape.extents[axis];
      }
      wrong += y[i] != random_element<uint32_t>(static_cast<uint64_t>(from));
    }
    return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
  }
};

Side array_side(const std::shared_ptr<Arrays>& a, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [a] { a->dst.poison(); };
  side.verify = [a] { return a->verify(); };
  return side;
}

}  // namespace

void add_host_permute(std::vector<Case>& cases, const Context& ctx) {
  for (const Shape& shape : kShapes) {
    Case c;
    c.family = "permute";
    c.name = "4B/" + shape_name(shape);
    c.peer = "OpenMP tiled";
    c.bytes = 2.0 * static_cast<double>(Arrays::bytes(shape));
    c.ceiling = Ceiling::copy;
    c.bar = at_least(0.95);
    c.quick = &shape == &kShapes[0];
    c.open = [ctx, shape] {
      const auto a = std::make_shared<Arrays>(shape);
      Pair pair;
      pair.ours = array_side(a, [ctx, a] {
        const Shape& s = a->shape;
        check(gpumem_permute(ctx.get(), 4, s.rank, s.extents, s.order, a->src.as<void>(), nullptr, a->dst.as<void>(),
                             nullptr));
      });
      pair.peer = array_side(a, [a] {
        const Shape& s = a->shape;
        openmp::permute(a->src.as<const uint32_t>(), a->dst.as<uint32_t>(), s.rank, s.extents, s.order);
      });
      return pair;
    };
    cases.push_back(std::move(c));
  }
}

}  // namespace bench

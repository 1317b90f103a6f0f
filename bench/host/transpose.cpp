// gpumem_transpose of 4-byte elements on the host backend against OpenBLAS and a tiled OpenMP loop.
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/random.hpp"

#if BENCH_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace bench {
namespace {

struct Shape {
  int64_t rows, cols;
};

constexpr Shape kShapes[] = {{4096, 4096}, {8192, 8192}, {5003, 4999}};

constexpr Shape kInPlace[] = {{4096, 8192}, {5003, 4999}};

std::string shape_name(Shape s) { return std::to_string(s.rows) + "x" + std::to_string(s.cols); }

// Both sides read one matrix and write one other.
struct Matrices {
  Shape shape;
  HostBuffer src, dst;

  explicit Matrices(Shape s) : shape(s), src(bytes(s)), dst(bytes(s)) {
    auto* x = src.as<uint32_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < s.rows * s.cols; ++i) x[i] = random_element<uint32_t>(static_cast<uint64_t>(i));
  }

  static std::size_t bytes(Shape s) { return static_cast<std::size_t>(s.rows * s.cols) * 4; }

  std::string verify() const {
    const auto* y = dst.as<const uint32_t>();
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t j = 0; j < shape.cols; ++j) {
      for (int64_t i = 0; i < shape.rows; ++i) {
        wrong += y[j * shape.rows + i] != random_element<uint32_t>(static_cast<uint64_t>(i * shape.cols + j));
      }
    }
    return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
  }
};

using Transposer = void (*)(const Matrices&);

void by_openmp(const Matrices& m) {
  openmp::transpose_tiled(m.src.as<const uint32_t>(), m.dst.as<uint32_t>(), m.shape.rows, m.shape.cols);
}

#if BENCH_HAS_OPENBLAS
void by_openblas(const Matrices& m) {
  const auto rows = static_cast<blasint>(m.shape.rows), cols = static_cast<blasint>(m.shape.cols);
  cblas_somatcopy(CblasRowMajor, CblasTrans, rows, cols, 1.0f, m.src.as<const float>(), cols, m.dst.as<float>(), rows);
}
#endif

Side matrix_side(const std::shared_ptr<Matrices>& m, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [m] { m->dst.poison(); };
  side.verify = [m] { return m->verify(); };
  return side;
}

gpumem_status ours(gpumem_ctx* ctx, const Matrices& m) {
  return gpumem_transpose(ctx, 4, m.shape.rows, m.shape.cols, m.src.as<void>(), m.shape.cols, m.dst.as<void>(),
                          m.shape.rows);
}

Pair open_transpose(const Context& ctx, Transposer peer, const std::shared_ptr<Matrices>& m) {
  Pair pair;
  pair.ours = matrix_side(m, [ctx, m] { check(ours(ctx.get(), *m)); });
  pair.peer = matrix_side(m, [m, peer] { peer(*m); });
  return pair;
}

Case transpose_case(const Context& ctx, Shape shape, Transposer peer, const char* peer_name) {
  Case c;
  c.family = "transpose";
  c.name = "4B/" + shape_name(shape);
  c.peer = peer_name;
  c.bytes = 2.0 * static_cast<double>(Matrices::bytes(shape));
  c.ceiling = Ceiling::copy;
  c.quick = shape.rows == 4096;
  c.open = [ctx, shape, peer] { return open_transpose(ctx, peer, std::make_shared<Matrices>(shape)); };
  return c;
}

// One matrix that is transposed in place, there and back again in turn. The peer has a second one beside it.
struct InPlace {
  Shape shape;
  HostBuffer data;
  bool there = false;

  explicit InPlace(Shape s) : shape(s), data(Matrices::bytes(s)) {}

  Shape now() const { return there ? Shape{shape.cols, shape.rows} : shape; }
  void prepare() {
    there = false;
    auto* x = data.as<uint32_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < shape.rows * shape.cols; ++i) x[i] = random_element<uint32_t>(static_cast<uint64_t>(i));
  }
  std::string verify() const {
    const auto* y = data.as<const uint32_t>();
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t j = 0; j < shape.cols; ++j) {
      for (int64_t i = 0; i < shape.rows; ++i) {
        const int64_t at = i * shape.cols + j;
        wrong += y[there ? j * shape.rows + i : at] != random_element<uint32_t>(static_cast<uint64_t>(at));
      }
    }
    return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
  }
};

Side in_place_side(const std::shared_ptr<InPlace>& m, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [m] { m->prepare(); };
  side.verify = [m] { return m->verify(); };
  return side;
}

Pair open_in_place(const Context& ctx, Shape shape) {
  const auto m = std::make_shared<InPlace>(shape);
  const auto second = std::make_shared<HostBuffer>(Matrices::bytes(shape));
  Pair pair;
  pair.ours = in_place_side(m, [ctx, m] {
    const auto [rows, cols] = m->now();
    check(gpumem_transpose(ctx.get(), 4, rows, cols, m->data.as<void>(), cols, m->data.as<void>(), rows));
    m->there = !m->there;
  });
  pair.peer = in_place_side(m, [m, second] {
    const auto [rows, cols] = m->now();
    openmp::transpose_tiled(m->data.as<const uint32_t>(), second->as<uint32_t>(), rows, cols);
    openmp::copy(m->data.as<void>(), second->as<void>(), Matrices::bytes(m->shape));
    m->there = !m->there;
  });
  return pair;
}

Case in_place_case(const Context& ctx, Shape shape) {
  Case c;
  c.family = "transpose";
  c.name = "4B/" + shape_name(shape) + "/in_place";
  c.peer = "OpenMP tiled, and back";
  c.bytes = 2.0 * static_cast<double>(Matrices::bytes(shape));
  c.ceiling = Ceiling::copy;
  c.open = [ctx, shape] { return open_in_place(ctx, shape); };
  return c;
}

Case ladder_case(const Context& ctx, const std::string& variant) {
  Case c = transpose_case(ctx, kShapes[0], by_openmp, "OpenMP tiled");
  c.family = "ladder";
  c.name = "transpose/" + c.name + "/" + variant;
  c.quick = false;
  c.open = [ctx, variant] {
    const auto m = std::make_shared<Matrices>(kShapes[0]);
    return with_variant(ctx, GPUMEM_FAMILY_TRANSPOSE, variant, open_transpose(ctx, by_openmp, m),
                        [ctx, m] { return ours(ctx.get(), *m); });
  };
  return c;
}

}  // namespace

void add_host_transpose(std::vector<Case>& cases, const Context& ctx) {
  for (const Shape& shape : kShapes) {
#if BENCH_HAS_OPENBLAS
    cases.push_back(transpose_case(ctx, shape, by_openblas, "OpenBLAS somatcopy"));
    cases.back().bar = at_least(0.95);
#endif
    cases.push_back(transpose_case(ctx, shape, by_openmp, "OpenMP tiled"));
  }
  for (const Shape& shape : kInPlace) cases.push_back(in_place_case(ctx, shape));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_TRANSPOSE)) cases.push_back(ladder_case(ctx, variant));
}

}  // namespace bench

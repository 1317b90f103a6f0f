// gpumem_axpby_* on the host backend against a plain OpenMP loop: the triad z = x + s y.
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

// A product by it is exact, so that a peer that fuses gives the same bits.
constexpr double kFactor = 0.5;

template <class T>
struct Vectors {
  int64_t n;
  HostBuffer x, y, z;

  explicit Vectors(int64_t count) : n(count), x(bytes()), y(bytes()), z(bytes()) {
    T* const px = x.as<T>();
    T* const py = y.as<T>();
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) {
      px[i] = random_value<T>(static_cast<uint64_t>(i), 0);
      py[i] = random_value<T>(static_cast<uint64_t>(i + n), 0);
    }
  }
  std::size_t bytes() const { return static_cast<std::size_t>(n) * sizeof(T); }

  std::string verify() const {
    const T* const pz = z.as<const T>();
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t i = 0; i < n; ++i) {
      const T expected = random_value<T>(static_cast<uint64_t>(i), 0) +
                         static_cast<T>(kFactor) * random_value<T>(static_cast<uint64_t>(i + n), 0);
      wrong += pz[i] != expected;
    }
    return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
  }
};

gpumem_status ours(gpumem_ctx* ctx, const Vectors<float>& v) {
  return gpumem_axpby_f32(ctx, 1, v.x.as<const float>(), kFactor, v.y.as<const float>(), v.z.as<float>(), v.n);
}
gpumem_status ours(gpumem_ctx* ctx, const Vectors<double>& v) {
  return gpumem_axpby_f64(ctx, 1, v.x.as<const double>(), kFactor, v.y.as<const double>(), v.z.as<double>(), v.n);
}

void by_openmp(const Vectors<float>& v) {
  openmp::triad_f32(v.x.as<const float>(), kFactor, v.y.as<const float>(), v.z.as<float>(), v.n);
}
void by_openmp(const Vectors<double>& v) {
  openmp::triad_f64(v.x.as<const double>(), kFactor, v.y.as<const double>(), v.z.as<double>(), v.n);
}

template <class T>
Side side_of(const std::shared_ptr<Vectors<T>>& v, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [v] { v->z.poison(); };
  side.verify = [v] { return v->verify(); };
  return side;
}

template <class T>
Pair open_triad(const Context& ctx, const std::shared_ptr<Vectors<T>>& v) {
  return {side_of(v, [ctx, v] { check(ours(ctx.get(), *v)); }), side_of(v, [v] { by_openmp(*v); })};
}

template <class T>
Case triad_case(const Context& ctx, int log2) {
  Case c;
  c.family = "axpby";
  c.name = std::string("triad/") + (sizeof(T) == 4 ? "f32" : "f64") + "/host/" + power_name(log2);
  c.peer = "OpenMP loop";
  if (log2 >= 20) c.bar = at_least(0.95);  // below, a call's own microsecond counts
  c.bytes = 3.0 * static_cast<double>(sizeof(T)) * static_cast<double>(int64_t{1} << log2);
  if (log2 >= 25) c.ceiling = Ceiling::copy;
  c.quick = log2 == 20;
  c.open = [ctx, log2] { return open_triad(ctx, std::make_shared<Vectors<T>>(int64_t{1} << log2)); };
  return c;
}

// The way from textbook to the table's choice.
Case ladder_case(const Context& ctx, const std::string& variant) {
  constexpr int kLog2 = 25;
  Case c = triad_case<float>(ctx, kLog2);
  c.family = "ladder";
  c.name = "axpby/" + c.name + "/" + variant;
  c.bar = {};
  c.open = [ctx, variant] {
    const auto v = std::make_shared<Vectors<float>>(int64_t{1} << kLog2);
    return with_variant(ctx, GPUMEM_FAMILY_AXPBY, variant, open_triad(ctx, v),
                        [ctx, v] { return ours(ctx.get(), *v); });
  };
  return c;
}

}  // namespace

void add_host_axpby(std::vector<Case>& cases, const Context& ctx) {
  for (const int log2 : {14, 17, 20, 22, 25, 27}) cases.push_back(triad_case<float>(ctx, log2));
  for (const int log2 : {20, 25}) cases.push_back(triad_case<double>(ctx, log2));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_AXPBY)) cases.push_back(ladder_case(ctx, variant));
}

}  // namespace bench

// gpumem_convert on the host backend against a plain OpenMP loop with the language's own conversion, of numbers that both types have.
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"

namespace bench {
namespace {

template <class From, class To>
struct Vectors {
  int64_t n;
  HostBuffer src, dst;

  explicit Vectors(int64_t count)
      : n(count), src(static_cast<std::size_t>(n) * sizeof(From)), dst(static_cast<std::size_t>(n) * sizeof(To)) {
    From* const p = src.as<From>();
#pragma omp parallel for
    for (int64_t i = 0; i < n; ++i) p[i] = static_cast<From>(i % 251);
  }
  std::string verify() const {
    const To* const p = dst.as<const To>();
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t i = 0; i < n; ++i) wrong += p[i] != static_cast<To>(i % 251);
    return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
  }
};

struct Types {
  gpumem_dtype from, to;
  const char* name;
};

template <class From, class To>
Case convert_case(const Context& ctx, const Types& types, int log2) {
  using V = Vectors<From, To>;
  Case c;
  c.family = "convert";
  c.name = std::string(types.name) + "/host/" + power_name(log2);
  c.peer = "OpenMP loop";
  if (log2 >= 20) c.bar = at_least(0.95);  // below, a call's own microsecond counts
  c.bytes = static_cast<double>(sizeof(From) + sizeof(To)) * static_cast<double>(int64_t{1} << log2);
  if (log2 >= 26) c.ceiling = Ceiling::copy;
  c.quick = log2 == 20;
  c.open = [ctx, types, log2] {
    const auto v = std::make_shared<V>(int64_t{1} << log2);
    const auto side = [v](std::function<void()> call) {
      return Side{host_sampler(std::move(call), kHostClock), [v] { v->dst.poison(); }, [v] { return v->verify(); }};
    };
    return Pair{side([=] {
                  check(gpumem_convert(ctx.get(), types.from, v->src.template as<char>(), types.to,
                                       v->dst.template as<char>(), v->n));
                }),
                side([=] { openmp::convert(v->src.template as<const From>(), v->dst.template as<To>(), v->n); })};
  };
  return c;
}

}  // namespace

void add_host_convert(std::vector<Case>& cases, const Context& ctx) {
  for (const int log2 : {16, 20, 26}) {
    cases.push_back(convert_case<uint8_t, float>(ctx, {GPUMEM_U8, GPUMEM_F32, "u8 to f32"}, log2));
    cases.push_back(convert_case<float, int16_t>(ctx, {GPUMEM_F32, GPUMEM_I16, "f32 to i16"}, log2));
    cases.push_back(convert_case<double, float>(ctx, {GPUMEM_F64, GPUMEM_F32, "f64 to f32"}, log2));
    cases.push_back(convert_case<int64_t, int32_t>(ctx, {GPUMEM_I64, GPUMEM_I32, "i64 to i32"}, log2));
  }
}

}  // namespace bench

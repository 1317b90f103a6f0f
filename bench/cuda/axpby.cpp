// gpumem_axpby on the device: the triad z = x + s * y against the memory's theoretical bandwidth, and y = a * x + y against
// cuBLAS axpy, by device time.
#include <utility>

#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"

namespace bench {
namespace {

constexpr double kFactor = 1.7;

struct Form {
  gpumem_dtype dtype;
  int64_t n;
  bool triad;

  std::size_t vector_bytes() const { return static_cast<std::size_t>(n) * (dtype == GPUMEM_F32 ? 4 : 8); }
  double bytes() const { return 3.0 * static_cast<double>(vector_bytes()); }
};

// y and z are one vector where it is no triad; x lies in the first large buffer, y behind it in the second, z before it.
struct Problem {
  GpuPtr gpu;
  Form form;
  void *x, *y, *z;
  std::shared_ptr<DeviceBytes> kept, expected;  // y as it was, and z as it should be

  Problem(const GpuPtr& g, const Form& f) : gpu(g), form(f) {
    const std::size_t bytes = f.vector_bytes();
    const int element = f.dtype == GPUMEM_F32 ? 4 : 8;
    x = gpu->src(bytes);
    z = gpu->dst(2 * bytes);
    y = static_cast<char*>(z) + bytes;
    generate_elements(x, f.n, element);
    generate_elements(y, f.n, element);
    if (!f.triad) z = y;
    kept = expected_bytes(bytes, [&](void* p) { check_cuda(cudaMemcpy(p, y, bytes, cudaMemcpyDeviceToDevice)); });
    expected = expected_bytes(
        bytes, [&](void* p) { axpby_simply(f.dtype, f.triad ? 1 : kFactor, x, f.triad ? kFactor : 1, y, p, f.n); });
  }

  gpumem_status enqueue() const {
    const double alpha = form.triad ? 1 : kFactor, beta = form.triad ? kFactor : 1;
    if (form.dtype == GPUMEM_F32) {
      return gpumem_axpby_f32_async(gpu->ctx.get(), static_cast<float>(alpha), static_cast<const float*>(x),
                                    static_cast<float>(beta), static_cast<const float*>(y), static_cast<float*>(z),
                                    form.n, gpu->shared_stream);
    }
    return gpumem_axpby_f64_async(gpu->ctx.get(), alpha, static_cast<const double*>(x), beta,
                                  static_cast<const double*>(y), static_cast<double*>(z), form.n, gpu->shared_stream);
  }
  void enqueue_peer() const {
    if (form.dtype == GPUMEM_F32) {
      gpu->blas->enqueue_axpy(static_cast<float>(kFactor), static_cast<const float*>(x), static_cast<float*>(y),
                              form.n);
    } else {
      gpu->blas->enqueue_axpy(kFactor, static_cast<const double*>(x), static_cast<double*>(y), form.n);
    }
  }
};

// y changes with every call, so there is one a sample; cuBLAS rounds a * x + y once, so its result is not compared.
Pair open_axpy(const std::shared_ptr<Problem>& p) {
  Gated how;
  how.cold = true;
  how.stream = p->gpu->peer_stream.get();
  const std::size_t bytes = p->form.vector_bytes();
  const auto renew = [p, bytes] { check_cuda(cudaMemcpy(p->y, p->kept->as(), bytes, cudaMemcpyDeviceToDevice)); };
  // The first sample comes behind a call that loads the kernels.
  const auto verify = [p, bytes, first = std::make_shared<bool>(true)] {
    if (std::exchange(*first, false)) return std::string();
    return wrong_count(count_different(p->y, p->expected->as(), bytes));
  };
  return {{p->gpu->device_time([p] { check(p->enqueue()); }, how), renew, verify},
          {p->gpu->device_time([p] { p->enqueue_peer(); }, how), renew, nullptr}};
}

Pair open_triad(const std::shared_ptr<Problem>& p, bool cold) {
  return {moved_side(
              p->gpu, [p] { check(p->enqueue()); }, p->z, p->form.vector_bytes(), p->expected->as(), cold),
          {}};
}

Case triad_case(const GpuPtr& gpu, const Form& form, const std::string& size) {
  Case c = moved_case("axpby", "triad/" + dtype_name(form.dtype) + "/" + size, "", form.bytes(), true);
  c.ceiling = Ceiling::theoretical;
  if (form.n >= int64_t{1} << 28) c.bar = at_least_of_ceiling(0.90);
  c.quick = form.dtype == GPUMEM_F32;
  c.open = [=] { return open_triad(std::make_shared<Problem>(gpu, form), true); };
  return c;
}

Case axpy_case(const GpuPtr& gpu, const Form& form, const std::string& size) {
  Case c = moved_case("axpby", "axpy/" + dtype_name(form.dtype) + "/" + size, "cuBLAS axpy", form.bytes(), true);
  c.bar = at_least(0.98);
  if (form.n < int64_t{1} << 24) c.ceiling = Ceiling::none;
  c.open = [=] { return open_axpy(std::make_shared<Problem>(gpu, form)); };
  return c;
}

// `peer` is another variant, or empty for none.
Case ladder_case(const GpuPtr& gpu, const Form& form, const std::string& variant, const std::string& peer) {
  Case c = triad_case(gpu, form, "2^28");
  c.family = "ladder";
  c.name = "axpby/" + c.name + "/" + variant;
  c.peer = peer.empty() ? "" : "gpumem " + peer;
  c.bar = {};
  c.quick = false;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, form);
    const auto once = [p] { return p->enqueue(); };
    const auto side = [&](const std::string& name) {
      return with_variant(gpu->ctx, GPUMEM_FAMILY_AXPBY, name, open_triad(p, true).ours, once);
    };
    return Pair{side(variant), peer.empty() ? Side{} : side(peer)};
  };
  return c;
}

}  // namespace

void add_cuda_axpby(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    for (const int log2 : {20, 24, 28, 30}) {
      cases.push_back(triad_case(gpu, {dtype, int64_t{1} << log2, true}, power_name(log2)));
    }
    for (int log2 = 12; gpu->blas && log2 <= 28; log2 += 2) {
      cases.push_back(axpy_case(gpu, {dtype, int64_t{1} << log2, false}, power_name(log2)));
    }
  }
  const Form ladder{GPUMEM_F32, int64_t{1} << 28, true};
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_AXPBY)) {
    cases.push_back(ladder_case(gpu, ladder, variant, ""));
  }
  cases.push_back(ladder_case(gpu, ladder, "coalesced", "strided"));
}

}  // namespace bench

// gpumem_convert on the device against cudaMemcpyAsync of as many bytes. What is right comes from the host backend, which the tests
// hold against exact values.
#include <utility>

#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"

namespace bench {
namespace {

struct Form {
  gpumem_dtype from, to;
  int from_bytes, to_bytes;
  int64_t n;

  std::size_t src_bytes() const { return static_cast<std::size_t>(n * from_bytes); }
  std::size_t dst_bytes() const { return static_cast<std::size_t>(n * to_bytes); }
  std::size_t bytes() const { return src_bytes() + dst_bytes(); }
};

// From and to the types of images, models and simulations: wider, narrower, and of one size.
constexpr Form kForms[] = {
    {GPUMEM_F32, GPUMEM_F16, 4, 2, 0}, {GPUMEM_F16, GPUMEM_F32, 2, 4, 0}, {GPUMEM_F32, GPUMEM_BF16, 4, 2, 0},
    {GPUMEM_F64, GPUMEM_F32, 8, 4, 0}, {GPUMEM_U8, GPUMEM_F32, 1, 4, 0},  {GPUMEM_F32, GPUMEM_I8, 4, 1, 0},
    {GPUMEM_I64, GPUMEM_I32, 8, 4, 0}, {GPUMEM_I8, GPUMEM_U8, 1, 1, 0},   {GPUMEM_I32, GPUMEM_F32, 4, 4, 0}};

struct Problem {
  GpuPtr gpu;
  Form form;
  void *src, *dst;
  std::shared_ptr<DeviceBytes> expected;

  Problem(const GpuPtr& g, const Form& f) : gpu(g), form(f), src(g->src(f.src_bytes())), dst(g->dst(f.dst_bytes())) {
    generate_elements(src, static_cast<int64_t>(f.src_bytes() / 4), 4);
    std::vector<char> from(f.src_bytes()), to(f.dst_bytes());
    check_cuda(cudaMemcpy(from.data(), src, from.size(), cudaMemcpyDeviceToHost));
    const Context host = make_context(GPUMEM_DEVICE_HOST);
    check(gpumem_convert(host.get(), f.from, from.data(), f.to, to.data(), f.n));
    expected = expected_bytes(
        to.size(), [&](void* p) { check_cuda(cudaMemcpy(p, to.data(), to.size(), cudaMemcpyHostToDevice)); });
  }
  gpumem_status enqueue() const {
    return gpumem_convert_async(gpu->ctx.get(), form.from, src, form.to, dst, form.n, gpu->shared_stream);
  }
};

Case convert_case(const GpuPtr& gpu, const Form& form, const std::string& size, bool cold) {
  const std::string types = dtype_name(form.from) + " to " + dtype_name(form.to);
  Case c = moved_case("convert", types + "/" + size, "cudaMemcpyAsync", static_cast<double>(form.bytes()), cold);
  c.bar = at_least(0.9);
  c.quick = form.to == GPUMEM_F16;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, form);
    return Pair{moved_side(
                    gpu, [p] { check(p->enqueue()); }, p->dst, form.dst_bytes(), p->expected->as(), cold),
                memcpy_side(gpu, form.bytes() / 2, cold)};
  };
  return c;
}

}  // namespace

void add_cuda_convert(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (Form form : kForms) {
    for (const int log2 : {12, 20, 26, 28}) {
      form.n = int64_t{1} << log2;
      add_moved(cases, static_cast<double>(form.bytes()),
                [&](bool cold) { return convert_case(gpu, form, power_name(log2), cold); });
    }
  }
}

}  // namespace bench

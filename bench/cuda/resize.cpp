// gpumem_resize_2d on the device against cudaMemcpyAsync of the bytes that a resize touches, in the same state of the caches.
// What is right comes from the host backend, which the tests hold against the header's formulas.
#include <utility>

#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"

namespace bench {
namespace {

struct Size {
  const char* name;
  int64_t rows, cols;
};
constexpr Size kFullHd{"1080p", 1080, 1920}, k4K{"4K", 2160, 3840}, k8K{"8K", 4320, 7680};

struct Image {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  Size from, to;

  int64_t pixel_bytes() const { return channels * (dtype == GPUMEM_U8 ? 1 : dtype == GPUMEM_U16 ? 2 : 4); }
  std::size_t src_bytes() const { return static_cast<std::size_t>(from.rows * from.cols * pixel_bytes()); }
  std::size_t dst_bytes() const { return static_cast<std::size_t>(to.rows * to.cols * pixel_bytes()); }
  // Nearest reads no more rows than it writes; of a row it touches every sector.
  std::size_t touched() const {
    const bool skips = filter == GPUMEM_FILTER_NEAREST && to.rows < from.rows;
    return (skips ? src_bytes() / static_cast<std::size_t>(from.rows) * static_cast<std::size_t>(to.rows)
                  : src_bytes()) +
           dst_bytes();
  }
  std::string name() const {
    return std::string(filter == GPUMEM_FILTER_NEAREST ? "nearest/" : "bilinear/") + dtype_name(dtype) + "x" +
           std::to_string(channels) + "/" + from.name + "to" + to.name;
  }
};

struct Problem {
  GpuPtr gpu;
  Image image;
  void *src, *dst;
  std::shared_ptr<DeviceBytes> expected;

  Problem(const GpuPtr& g, const Image& i) : gpu(g), image(i), src(g->src(i.src_bytes())), dst(g->dst(i.dst_bytes())) {
    generate_elements(src, static_cast<int64_t>(i.src_bytes() / 4), 4);
    std::vector<char> from(i.src_bytes()), to(i.dst_bytes());
    check_cuda(cudaMemcpy(from.data(), src, from.size(), cudaMemcpyDeviceToHost));
    const Context host = make_context(GPUMEM_DEVICE_HOST);
    check(gpumem_resize_2d(host.get(), i.filter, i.dtype, i.channels, from.data(), i.from.rows, i.from.cols,
                           i.from.cols * i.pixel_bytes(), to.data(), i.to.rows, i.to.cols,
                           i.to.cols * i.pixel_bytes()));
    expected = expected_bytes(
        to.size(), [&](void* p) { check_cuda(cudaMemcpy(p, to.data(), to.size(), cudaMemcpyHostToDevice)); });
  }
  gpumem_status enqueue() const {
    const Image& i = image;
    return gpumem_resize_2d_async(gpu->ctx.get(), i.filter, i.dtype, i.channels, src, i.from.rows, i.from.cols,
                                  i.from.cols * i.pixel_bytes(), dst, i.to.rows, i.to.cols, i.to.cols * i.pixel_bytes(),
                                  gpu->shared_stream);
  }
};

Pair open_resize(const std::shared_ptr<Problem>& p, bool cold) {
  return {moved_side(
              p->gpu, [p] { check(p->enqueue()); }, p->dst, p->image.dst_bytes(), p->expected->as(), cold),
          memcpy_side(p->gpu, p->image.touched() / 2, cold)};
}

Case resize_case(const GpuPtr& gpu, const Image& image, bool cold) {
  Case c = moved_case("resize", image.name(), "cudaMemcpyAsync", static_cast<double>(image.touched()), cold);
  if (image.dtype == GPUMEM_U8 && image.channels == 3) c.bar = at_least(0.85);
  c.quick = image.channels == 3 && cold;
  c.open = [=] { return open_resize(std::make_shared<Problem>(gpu, image), cold); };
  return c;
}

// The texture unit's values are its own, so they are not compared.
Case ladder_case(const GpuPtr& gpu, const Image& image, const std::string& variant) {
  Case c = resize_case(gpu, image, true);
  c.family = "ladder";
  c.name = "resize/" + c.name + "/" + variant;
  c.bar = {};
  c.quick = false;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, image);
    Pair pair = open_resize(p, true);
    if (variant == "texture") pair.ours.verify = nullptr;
    return with_variant(gpu->ctx, GPUMEM_FAMILY_RESIZE, variant, pair, [p] { return p->enqueue(); });
  };
  return c;
}

}  // namespace

void add_cuda_resize(std::vector<Case>& cases, const GpuPtr& gpu) {
  const auto add = [&](const Image& image) {
    add_moved(cases, static_cast<double>(image.touched()), [&](bool cold) { return resize_case(gpu, image, cold); });
  };
  for (const gpumem_filter filter : {GPUMEM_FILTER_BILINEAR, GPUMEM_FILTER_NEAREST}) {
    add({filter, GPUMEM_U8, 3, k4K, kFullHd});
    add({filter, GPUMEM_U8, 3, kFullHd, k4K});
    add({filter, GPUMEM_U8, 3, k8K, k4K});
    add({filter, GPUMEM_U8, 3, k4K, k8K});
    add({filter, GPUMEM_U8, 1, k4K, kFullHd});
    add({filter, GPUMEM_U8, 4, k4K, kFullHd});
    add({filter, GPUMEM_U16, 3, k4K, kFullHd});
    add({filter, GPUMEM_F32, 1, k4K, kFullHd});
    add({filter, GPUMEM_F32, 4, k8K, k4K});
  }
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_RESIZE)) {
    cases.push_back(ladder_case(gpu, {GPUMEM_FILTER_BILINEAR, GPUMEM_U8, 4, k8K, k4K}, variant));
  }
}

}  // namespace bench

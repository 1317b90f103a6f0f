// gpumem_resize_2d of u8 pixels on the host backend against a plain OpenMP loop of the same arithmetic.
#include <cstring>

#include "host/host_cases.hpp"
#include "host/openmp_resize.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

struct Shape {
  const char* name;
  int64_t src_rows, src_cols, dst_rows, dst_cols, channels;
};

constexpr Shape kShapes[] = {{"u8x3/2160x3840 to 1080x1920", 2160, 3840, 1080, 1920, 3},
                             {"u8x3/1080x1920 to 2160x3840", 1080, 1920, 2160, 3840, 3},
                             {"u8/6000x6000 to 4500x4500", 6000, 6000, 4500, 4500, 1}};

// Both sides read one image and write one other. What is expected is the peer's result, worked out once: the arithmetic of both is
// the same, so the bytes are.
struct Images {
  Shape shape;
  HostBuffer src, dst, expected;

  explicit Images(const Shape& s)
      : shape(s),
        src(bytes(s.src_rows, s)),
        dst(static_cast<std::size_t>(s.dst_rows * s.dst_cols * s.channels)),
        expected(dst.bytes()) {
    auto* x = src.as<uint8_t>();
    for (std::size_t i = 0; i < src.bytes(); ++i) x[i] = static_cast<uint8_t>(random_element<uint32_t>(i));
    openmp::resize_bilinear(call(expected));
  }

  static std::size_t bytes(int64_t rows, const Shape& s) {
    return static_cast<std::size_t>(rows * s.src_cols * s.channels);
  }

  openmp::Resize call(const HostBuffer& to) const {
    return {src.as<const uint8_t>(), shape.src_rows, shape.src_cols, to.as<uint8_t>(),
            shape.dst_rows,          shape.dst_cols, shape.channels};
  }

  gpumem_status ours(gpumem_ctx* ctx) const {
    const Shape& s = shape;
    return gpumem_resize_2d(ctx, GPUMEM_FILTER_BILINEAR, GPUMEM_U8, static_cast<int32_t>(s.channels), src.as<void>(),
                            s.src_rows, s.src_cols, s.src_cols * s.channels, dst.as<void>(), s.dst_rows, s.dst_cols,
                            s.dst_cols * s.channels);
  }

  std::string verify() const {
    return std::memcmp(dst.as<void>(), expected.as<void>(), dst.bytes()) == 0 ? "" : "the images differ";
  }
};

Side side_of(const std::shared_ptr<Images>& images, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [images] { images->dst.poison(); };
  side.verify = [images] { return images->verify(); };
  return side;
}

Case resize_case(const Context& ctx, const Shape& shape) {
  Case c;
  c.family = "resize";
  c.name = std::string("bilinear/") + shape.name;
  c.peer = "OpenMP loop";
  c.bytes = static_cast<double>((shape.src_rows * shape.src_cols + shape.dst_rows * shape.dst_cols) * shape.channels);
  c.ceiling = Ceiling::copy;
  c.quick = false;
  c.open = [ctx, shape] {
    const auto images = std::make_shared<Images>(shape);
    Pair pair;
    pair.ours = side_of(images, [ctx, images] { check(images->ours(ctx.get())); });
    pair.peer = side_of(images, [images] { openmp::resize_bilinear(images->call(images->dst)); });
    return pair;
  };
  return c;
}

}  // namespace

void add_host_resize(std::vector<Case>& cases, const Context& ctx) {
  for (const Shape& shape : kShapes) cases.push_back(resize_case(ctx, shape));
}

}  // namespace bench

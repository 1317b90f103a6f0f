#include <algorithm>
#include <cstring>

#include "api/guard.hpp"
#include "ops/operations.hpp"
#include "ops/strides.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

// The caller's view of an operand. strides may be nullptr.
struct View {
  const void* p;
  const int64_t* strides;
};

struct Shape {
  int32_t rank;
  const int64_t* extents;
};

// Copies what is readable. The operation refuses the rest.
MapParams with_views(MapParams c, Shape shape, std::initializer_list<View> sources, void* z, const int64_t* z_strides) {
  const bool fits = shape.rank >= 0 && shape.rank <= kMaxMapRank;
  c.rank = shape.rank;
  c.has_extents = shape.rank == 0 || shape.extents != nullptr;
  c.sources = static_cast<int32_t>(sources.size());
  c.z = z;
  int32_t k = 0;
  for (const View& source : sources) c.x[k++] = source.p;
  if (!fits || !c.has_extents) return c;
  std::copy_n(shape.extents, c.rank, c.extents);
  read_strides(z_strides, c.extents, c.rank, c.z_strides);
  k = 0;
  for (const View& source : sources) {
    const bool single = c.kind == MapKind::convert_scaled && k > 0;  // scale and offset, which may be absent
    const bool given = source.strides != nullptr && (source.p != nullptr || !single);
    if (given || !single) read_strides(source.strides, c.extents, c.rank, c.x_strides[k]);
    ++k;
  }
  return c;
}

MapParams function(int32_t op, gpumem_dtype dtype, Shape shape, View x, View y, void* z, const int64_t* z_strides,
                   gpumem_status* status = nullptr) {
  const MapParams c{.kind = MapKind::map, .op = op, .dtype = dtype, .status = status};
  if (takes_two(op)) return with_views(c, shape, {x, y}, z, z_strides);
  return with_views(c, shape, {x}, z, z_strides);
}

MapParams comparison(int32_t op, gpumem_dtype dtype, Shape shape, View x, View y, uint8_t* mask,
                     const int64_t* mask_strides) {
  return with_views({.kind = MapKind::compare, .op = op, .dtype = dtype}, shape, {x, y}, mask, mask_strides);
}

MapParams selection(int64_t element_bytes, Shape shape, View mask, View x, View y, void* z, const int64_t* z_strides) {
  return with_views({.kind = MapKind::where, .op = 0, .element_bytes = element_bytes}, shape, {mask, x, y}, z,
                    z_strides);
}

MapParams conversion(Shape shape, gpumem_dtype src_type, View src, View scale, View offset, double nan_value,
                     gpumem_dtype dst_type, void* dst, const int64_t* dst_strides) {
  const MapParams c{
      .kind = MapKind::convert_scaled, .op = 0, .dtype = src_type, .dst_type = dst_type, .nan_value = nan_value};
  return with_views(c, shape, {src, scale, offset}, dst, dst_strides);
}

}  // namespace

gpumem_status gpumem_map(gpumem_ctx* ctx, gpumem_map_op op, gpumem_dtype dtype, int32_t ndim, const int64_t* extents,
                         const void* x, const int64_t* x_strides, const void* y, const int64_t* y_strides, void* z,
                         const int64_t* z_strides) {
  return run(ctx, map, function(op, dtype, {ndim, extents}, {x, x_strides}, {y, y_strides}, z, z_strides));
}

gpumem_status gpumem_map_async(gpumem_ctx* ctx, gpumem_map_op op, gpumem_dtype dtype, int32_t ndim,
                               const int64_t* extents, const void* x, const int64_t* x_strides, const void* y,
                               const int64_t* y_strides, void* z, const int64_t* z_strides, gpumem_status* status,
                               gpumem_stream* stream) {
  return run(ctx, map, function(op, dtype, {ndim, extents}, {x, x_strides}, {y, y_strides}, z, z_strides, status),
             enqueued(stream));
}

gpumem_status gpumem_compare(gpumem_ctx* ctx, gpumem_compare_op op, gpumem_dtype dtype, int32_t ndim,
                             const int64_t* extents, const void* x, const int64_t* x_strides, const void* y,
                             const int64_t* y_strides, uint8_t* mask, const int64_t* mask_strides) {
  return run(ctx, map, comparison(op, dtype, {ndim, extents}, {x, x_strides}, {y, y_strides}, mask, mask_strides));
}

gpumem_status gpumem_compare_async(gpumem_ctx* ctx, gpumem_compare_op op, gpumem_dtype dtype, int32_t ndim,
                                   const int64_t* extents, const void* x, const int64_t* x_strides, const void* y,
                                   const int64_t* y_strides, uint8_t* mask, const int64_t* mask_strides,
                                   gpumem_stream* stream) {
  return run(ctx, map, comparison(op, dtype, {ndim, extents}, {x, x_strides}, {y, y_strides}, mask, mask_strides),
             enqueued(stream));
}

gpumem_status gpumem_where(gpumem_ctx* ctx, int64_t element_bytes, int32_t ndim, const int64_t* extents,
                           const uint8_t* mask, const int64_t* mask_strides, const void* x, const int64_t* x_strides,
                           const void* y, const int64_t* y_strides, void* z, const int64_t* z_strides) {
  return run(
      ctx, map,
      selection(element_bytes, {ndim, extents}, {mask, mask_strides}, {x, x_strides}, {y, y_strides}, z, z_strides));
}

gpumem_status gpumem_where_async(gpumem_ctx* ctx, int64_t element_bytes, int32_t ndim, const int64_t* extents,
                                 const uint8_t* mask, const int64_t* mask_strides, const void* x,
                                 const int64_t* x_strides, const void* y, const int64_t* y_strides, void* z,
                                 const int64_t* z_strides, gpumem_stream* stream) {
  return run(
      ctx, map,
      selection(element_bytes, {ndim, extents}, {mask, mask_strides}, {x, x_strides}, {y, y_strides}, z, z_strides),
      enqueued(stream));
}

gpumem_status gpumem_convert_scaled(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, gpumem_dtype src_type,
                                    const void* src, const int64_t* src_strides, const double* scale,
                                    const int64_t* scale_strides, const double* offset, const int64_t* offset_strides,
                                    double nan_value, gpumem_dtype dst_type, void* dst, const int64_t* dst_strides) {
  return run(ctx, map,
             conversion({ndim, extents}, src_type, {src, src_strides}, {scale, scale_strides}, {offset, offset_strides},
                        nan_value, dst_type, dst, dst_strides));
}

gpumem_status gpumem_convert_scaled_async(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, gpumem_dtype src_type,
                                          const void* src, const int64_t* src_strides, const double* scale,
                                          const int64_t* scale_strides, const double* offset,
                                          const int64_t* offset_strides, double nan_value, gpumem_dtype dst_type,
                                          void* dst, const int64_t* dst_strides, gpumem_stream* stream) {
  return run(ctx, map,
             conversion({ndim, extents}, src_type, {src, src_strides}, {scale, scale_strides}, {offset, offset_strides},
                        nan_value, dst_type, dst, dst_strides),
             enqueued(stream));
}

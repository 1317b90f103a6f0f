#include "soak/operations.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conformance/permute_cases.hpp"
#include "support/arithmetic.hpp"
#include "support/axpby.hpp"
#include "support/boxes.hpp"
#include "support/by_index.hpp"
#include "support/convert.hpp"
#include "support/image_batch.hpp"
#include "support/images.hpp"
#include "support/lines.hpp"
#include "support/map.hpp"
#include "support/numbers.hpp"
#include "support/reductions.hpp"
#include "support/rows.hpp"
#include "support/scan.hpp"
#include "support/selected.hpp"
#include "support/sort.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kMostBytes = kAreaBytes / 4;  // of an operand, so that most pairs do not overlap

// Behind what the stream was given, as it is.
gpumem_status put(const Side& s, Place place, const void* bytes, size_t count) {
  if (const gpumem_status status = gpumem_stream_synchronize(s.ctx, s.stream); status != GPUMEM_OK) return status;
  return gpumem_copy(s.ctx, s.at(place), bytes, static_cast<int64_t>(count));
}

class Draw {
 public:
  Draw(Random& random, bool enqueued) : random_(random), enqueued_(enqueued), area_(random.below(8) == 0 ? 1 : 0) {}

  Operation noise();
  Operation copy();
  Operation copy_3d();
  Operation copy_boxes();
  Operation fill();
  Operation reduce();
  Operation reduce_view();
  Operation reduce_axes();
  Operation reduce_axis();
  std::vector<int64_t> some_offsets(int64_t n);
  Operation reduce_segments();
  Operation transpose();
  Operation transpose_in_place();
  Operation permute();
  Operation rows();
  Operation selection();
  Operation by_index();
  Operation axpby();
  Operation arithmetic();
  Operation convert();
  Operation map();
  Operation sort();
  Scan some_scan();
  Operation scan();
  Operation scan_axis();
  Operation scan_segments();
  Operation resize();
  Operation resize_batch();

 private:
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[random_.below(all.size())];
  }
  int64_t between(int64_t low, int64_t high) { return random_.between(low, high); }
  int64_t count(int64_t most) {
    return random_.below(50) == 0 ? 0 : log_uniform(1, std::max<int64_t>(most, 1), random_);
  }
  gpumem_dtype dtype() { return kAllTypes[random_.below(12)]; }

  // Of ordinary memory the library can't know where it ends.
  static void fits(int64_t bytes) {
    if (bytes > kAreaBytes) throw std::length_error("an operand of " + std::to_string(bytes) + " bytes");
  }
  // Room for so many bytes, mostly at a multiple of the alignment.
  Place place(int64_t bytes, int64_t alignment) {
    fits(bytes);
    Place p{area_, between(0, kAreaBytes - bytes)};
    if (!enqueued_ && random_.below(8) == 0) p.area = 1 - p.area;
    if (random_.below(8) != 0) p.offset = p.offset / alignment * alignment;
    return p;
  }
  // The same, apart from other memory. Neither takes more than kMostBytes.
  Place place_apart(int64_t bytes, int64_t alignment, Place other, int64_t other_bytes) {
    Place p = place(bytes, alignment);
    while (p.area == other.area && p.offset < other.offset + other_bytes && other.offset < p.offset + bytes) {
      p = place(bytes, alignment);
    }
    return p;
  }
  // Of what must be aligned, in the area that streams can write.
  Place result(int64_t bytes, int64_t alignment) {
    fits(bytes);
    return {0, between(0, (kAreaBytes - bytes) / alignment) * alignment};
  }
  // A rank, extents of at most so many elements in all, and strides with gaps of now and then some elements.
  struct Shape {
    std::vector<int64_t> extents;
    std::vector<int64_t> strides;
    int64_t span = 1;  // elements from the first to the last
  };
  Shape shape(size_t most_rank, int64_t most_elements);

  Random& random_;
  const bool enqueued_;
  const int area_;
};

Draw::Shape Draw::shape(size_t most_rank, int64_t most_elements) {
  const int64_t most_span = 2 * most_elements;
  Shape s;
  const size_t rank = random_.below(most_rank + 1);
  for (size_t d = 0; d < rank; ++d) {
    s.extents.push_back(count(most_elements));
    most_elements = std::max<int64_t>(most_elements / std::max<int64_t>(s.extents.back(), 1), 1);
  }
  std::swap_ranges(s.extents.begin(), s.extents.begin() + static_cast<std::ptrdiff_t>(rank / 2), s.extents.rbegin());
  s.strides.resize(rank);
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0;) {
    s.strides[d] = stride;
    s.span += std::max<int64_t>(s.extents[d] - 1, 0) * stride;
    const int64_t gap = random_.below(4) == 0 && s.span < most_span / 64 ? between(1, 5) : 0;
    stride = stride * std::max<int64_t>(s.extents[d], 1) + gap;
  }
  return s;
}

// New numbers, in place of what the calls have made of the old ones.
Operation Draw::noise() {
  const gpumem_dtype type = dtype();
  const int64_t n = log_uniform(1, 4096, random_);
  Bytes bytes = random_elements(type, kAllNumbers[random_.below(std::size(kAllNumbers))], n, 1, random_);
  if (random_.below(4) == 0) add_specials(type, bytes, n, 1, random_);
  const Place dst = place(static_cast<int64_t>(bytes.size()), static_cast<int64_t>(info_of(type).bytes));
  return {"new " + std::string(info_of(type).name),
          [=, bytes = std::move(bytes)](const Side& s) { return put(s, dst, bytes.data(), bytes.size()); }};
}

Operation Draw::copy() {
  const int64_t bytes = count(kMostBytes);
  const Place src = place(bytes, 16);
  const Place dst = place(bytes, 16);
  return {"copy of " + std::to_string(bytes), [=](const Side& s) {
            return call_as(s.form(), gpumem_copy, gpumem_copy_async, s.ctx, s.at(dst), s.at(src), bytes);
          }};
}

Operation Draw::copy_3d() {
  const int64_t row = count(4000);
  const int64_t rows = count(kMostBytes / (row + 32));
  const int64_t slices = count(kMostBytes / (row + 32) / std::max<int64_t>(rows, 1) / 2);
  const int64_t pitch[2] = {row + between(0, 16), row + between(0, 16)};
  const int64_t slice[2] = {pitch[0] * rows + between(0, 8), pitch[1] * rows + between(0, 8)};
  const Place src = place(slice[0] * slices, 16);
  const Place dst = place(slice[1] * slices, 16);
  return {"copy of " + std::to_string(slices) + " x " + std::to_string(rows) + " x " + std::to_string(row),
          [=](const Side& s) {
            return call_as(s.form(), gpumem_copy_3d, gpumem_copy_3d_async, s.ctx, s.at(dst), pitch[1], slice[1],
                           s.at(src), pitch[0], slice[0], row, rows, slices);
          }};
}

Operation Draw::fill() {
  const int64_t width = int64_t{1} << random_.below(5);
  std::array<unsigned char, 16> pattern{};
  random_.fill(pattern);
  const int64_t cols = count(kMostBytes / width / 2);
  const int64_t rows = random_.below(2) == 0 ? 1 : count(kMostBytes / (cols * width + 20));
  const int64_t pitch = cols * width + between(0, 20);
  const Place dst = place(rows * pitch, width);
  return {"fill of " + std::to_string(rows) + " x " + std::to_string(cols), [=](const Side& s) {
            return call_as(s.form(), gpumem_fill_2d, gpumem_fill_2d_async, s.ctx, s.at(dst), pitch, pattern.data(),
                           width, cols, rows);
          }};
}

Operation Draw::reduce() {
  Reduction r{};
  do {
    r.dtype = dtype();
    r.op = kAllOps[random_.below(std::size(kAllOps))];
  } while (!has(r.dtype, r.op));
  const auto width = static_cast<int64_t>(info_of(r.dtype).bytes);
  r.stride = random_.below(4) == 0 ? between(1, 9) : 1;
  r.y_stride = random_.below(4) == 0 ? between(1, 9) : 1;
  r.n = count(kMostBytes / width / std::max(r.stride, r.y_stride));
  const Place x = place(r.n * r.stride * width, width);
  const Place y = place(r.n * r.y_stride * width, width);
  const Place out = result(16, 8);
  const Place status = result(4, 4);
  const bool typed = random_.below(2) == 0;
  return {describe(r), [=](const Side& s) {
            Reduction on = r;
            on.x = s.at(x);
            on.y = s.at(y);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream, typed) : run(s.ctx, on, s.at(out), typed);
          }};
}

Operation Draw::reduce_view() {
  ViewReduction r{};
  do {
    r.dtype = dtype();
    r.op = kAllOps[random_.below(std::size(kAllOps))];
  } while (!has(r.dtype, r.op));
  const auto width = static_cast<int64_t>(info_of(r.dtype).bytes);
  const std::array<int64_t, 3> extents = {between(1, 20), between(1, 20), between(1, 40)};
  const int64_t row = extents[2] + between(0, 3);
  const std::array<int64_t, 3> strides = {row * extents[1] + between(0, 9), row, 1};
  const Place x = place(strides[0] * extents[0] * width, width);
  const Place out = result(16, 8);
  const Place status = result(4, 4);
  return {"reduction of a view", [=](const Side& s) {
            ViewReduction on = r;
            on.rank = 3;
            on.extents = extents.data();
            on.strides = strides.data();
            on.x = on.y = s.at(x);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream) : run(s.ctx, on, s.at(out));
          }};
}

Operation Draw::reduce_axes() {
  AxesReduction r{};
  do {
    r.dtype = dtype();
    r.op = kReduceOps[random_.below(std::size(kReduceOps))];
  } while (!has(r.dtype, r.op));
  const auto width = static_cast<int64_t>(info_of(r.dtype).bytes);
  const std::array<int64_t, 3> extents = {between(1, 20), between(1, 20), between(1, 40)};
  const int64_t row = extents[2] + between(0, 3);
  const std::array<int64_t, 3> strides = {row * extents[1] + between(0, 9), row, 1};
  r.axes = static_cast<int32_t>(random_.below(8));
  r.result_type = is_floating(r.dtype) && random_.below(2) == 0 ? r.dtype : result_type_of(r.dtype);
  const Place x = place(strides[0] * extents[0] * width, width);
  const Place out = result(16 * extents[0] * extents[1] * extents[2], 8);
  const Place status = result(4, 4);
  return {"reduction of axes", [=](const Side& s) {
            AxesReduction on = r;
            on.rank = 3;
            on.extents = extents.data();
            on.strides = strides.data();
            on.x = s.at(x);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream) : run(s.ctx, on, s.at(out));
          }};
}

Operation Draw::reduce_axis() {
  Axis a{};
  do {
    a.dtype = dtype();
    a.op = axis_ops()[random_.below(axis_ops().size())];
  } while (!has(a.dtype, a.op));
  const auto width = static_cast<int64_t>(info_of(a.dtype).bytes);
  a.axis = one_of({GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS});
  a.rows = count(3000);
  a.cols = count(std::min<int64_t>(kMostBytes / width / (a.rows + 1) / 2, 20000));
  a.ld = a.cols + (random_.below(2) == 0 ? between(0, 9) : 0);
  a.batches = random_.below(2) == 0 ? 1 : count(kMostBytes / 16 / std::max<int64_t>({a.rows, a.cols, 1}));
  a.batch_stride = std::min<int64_t>(a.rows * a.ld + between(0, 5), kMostBytes / width / (a.batches + 1));
  const Place x = place(extent_of(a) * width, width);
  const Place out = result(16 * lines_of(a), 8);
  const Place status = result(4, 4);
  return {describe(a), [=](const Side& s) {
            Axis on = a;
            on.x = s.at(x);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream) : run(s.ctx, on, s.at(out));
          }};
}

// Of segments of n elements. Now and then, one of the offsets is bad.
std::vector<int64_t> Draw::some_offsets(int64_t n) {
  const int64_t segments = count(2000);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i <= segments; ++i) offsets.push_back(between(0, n));
  std::sort(offsets.begin(), offsets.end());
  if (random_.below(16) == 0) offsets[random_.below(offsets.size())] = between(-3, n + 3);
  return offsets;
}

Operation Draw::reduce_segments() {
  Segmented g{};
  do {
    g.dtype = dtype();
    g.op = kReduceOps[random_.below(std::size(kReduceOps))];
  } while (!has(g.dtype, g.op));
  const auto width = static_cast<int64_t>(info_of(g.dtype).bytes);
  g.n = count(kMostBytes / width);
  const std::vector<int64_t> offsets = some_offsets(g.n);
  g.segments = static_cast<int64_t>(offsets.size()) - 1;
  const auto bytes = static_cast<int64_t>(8 * offsets.size());
  const Place x = place(g.n * width, width);
  const Place at = {x.area, result(bytes, 8).offset};
  const Place out = result(16 * g.segments, 8);
  const Place status = result(4, 4);
  return {describe(g), [=](const Side& s) {
            if (const gpumem_status written = put(s, at, offsets.data(), 8 * offsets.size()); written != GPUMEM_OK)
              return written;
            Segmented on = g;
            on.x = s.at(x);
            on.offsets = reinterpret_cast<const int64_t*>(s.at(at));
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream) : run(s.ctx, on, s.at(out));
          }};
}

Operation Draw::transpose() {
  const int64_t width = int64_t{1} << random_.below(5);
  const int64_t rows = count(3000);
  const int64_t cols = count(kMostBytes / width / (rows + 1) / 2);
  const int64_t src_ld = cols + between(0, 5);
  const int64_t dst_ld = rows + between(0, 5);
  const int64_t batches = random_.below(2) == 0 ? 1 : count(kMostBytes / width / ((src_ld + 5) * (dst_ld + 5)));
  const int64_t src_stride = src_ld * rows + between(0, 5);
  const int64_t dst_stride = dst_ld * cols + between(0, 5);
  const Place src = place(src_stride * batches * width, width);
  const Place dst = place(dst_stride * batches * width, width);
  return {"transposition of " + std::to_string(batches) + " x " + std::to_string(rows) + " x " + std::to_string(cols) +
              " of " + std::to_string(width),
          [=](const Side& s) {
            return call_as(s.form(), gpumem_transpose_batched, gpumem_transpose_batched_async, s.ctx, width, rows, cols,
                           s.at(src), src_ld, src_stride, s.at(dst), dst_ld, dst_stride, batches);
          }};
}

Operation Draw::transpose_in_place() {
  const int64_t width = int64_t{1} << random_.below(5);
  const int64_t rows = count(250);
  const int64_t cols = random_.below(2) == 0 ? rows : count(kMostBytes / width / (rows + 1));
  const Place p = place(rows * cols * width, width);
  return {"transposition in place of " + std::to_string(rows) + " x " + std::to_string(cols) + " of " +
              std::to_string(width),
          [=](const Side& s) {
            return call_as(s.form(), gpumem_transpose, gpumem_transpose_async, s.ctx, width, rows, cols, s.at(p), cols,
                           s.at(p), rows);
          }};
}

Operation Draw::permute() {
  const int64_t width = int64_t{1} << random_.below(5);
  const Shape from = shape(8, kMostBytes / width / 4);
  const std::vector<int32_t> order = cases::shuffled(from.extents.size(), random_);
  const std::vector<int64_t> to_strides = cases::strides_in(
      cases::in_order(from.extents, order), cases::shuffled(order.size(), random_), std::vector<int64_t>(order.size()));
  int64_t elements = 1;
  for (const int64_t extent : from.extents) elements *= extent;
  const bool packed = random_.below(2) == 0;
  const Place src = place(from.span * width, width);
  const Place dst = place(elements * width, width);
  return {"permutation of " + std::to_string(elements) + " of " + std::to_string(width), [=](const Side& s) {
            const auto rank = static_cast<int32_t>(order.size());
            const int64_t* const strides = packed ? nullptr : to_strides.data();
            return call_as(s.form(), gpumem_permute, gpumem_permute_async, s.ctx, width, rank, from.extents.data(),
                           order.data(), s.at(src), from.strides.data(), s.at(dst), strides);
          }};
}

Operation Draw::rows() {
  Rows r{};
  r.family = one_of({GPUMEM_FAMILY_GATHER, GPUMEM_FAMILY_SCATTER});
  r.row_bytes = log_uniform(1, 2000, random_);
  r.n = count(kMostBytes / (r.row_bytes + 16) / 2);
  r.rows = r.n + between(0, 9);
  r.src_pitch = r.row_bytes + between(0, 16);
  r.dst_pitch = r.row_bytes + between(0, 16);
  r.index_type = kIndexTypes[random_.below(4)];
  std::vector<int64_t> index;  // a row twice is undefined where it is written
  for (const int32_t i : cases::shuffled(static_cast<size_t>(r.rows), random_)) index.push_back(i);
  index.resize(static_cast<size_t>(r.n));
  if (r.n > 0 && random_.below(16) == 0)
    index[random_.below(index.size())] = one_of<int64_t>({-1, -2, r.rows, r.rows + 2});
  const Bytes numbers = index_bytes(r.index_type, index);
  const auto bytes = static_cast<int64_t>(numbers.size());
  const Place src = place(static_cast<int64_t>(rows_extent(r.gathers() ? r.rows : r.n, r.src_pitch, r.row_bytes)), 16);
  const Place dst = place(static_cast<int64_t>(rows_extent(r.gathers() ? r.n : r.rows, r.dst_pitch, r.row_bytes)), 16);
  const Place at = {dst.area, result(bytes, 8).offset};
  const Place status = result(4, 4);
  return {describe(r), [=](const Side& s) {
            if (const gpumem_status written = put(s, at, numbers.data(), numbers.size()); written != GPUMEM_OK)
              return written;
            Rows on = r;
            on.src = s.at(src);
            on.index = s.at(at);
            on.dst = s.at(dst);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, word, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::selection() {
  Selected c{};
  c.places = random_.below(3) == 0;
  c.index_type = kIndexTypes[random_.below(4)];
  c.row_bytes = c.places ? static_cast<int64_t>(info_of(c.index_type).bytes) : log_uniform(1, 2000, random_);
  c.n = count(kMostBytes / (c.row_bytes + 16) / 2);
  c.src_pitch = c.row_bytes + between(0, 16);
  c.dst_pitch = c.row_bytes + (c.places ? 0 : between(0, 16));
  Bytes bits(static_cast<size_t>(c.n));
  const uint64_t often = 1 + random_.below(100);
  for (auto& byte : bits) byte = random_.below(100) < often ? 1 : 0;
  const int64_t kept = std::count(bits.begin(), bits.end(), 1);
  c.dst_rows = random_.below(4) == 0 ? kept / 2 : kept + between(0, 3);
  const int64_t used = std::min(c.dst_rows, c.n);
  const Place src = place(static_cast<int64_t>(rows_extent(c.n, c.src_pitch, c.row_bytes)), 16);
  const Place dst = place(static_cast<int64_t>(rows_extent(used, c.dst_pitch, c.row_bytes)), 16);
  const Place at = {dst.area, result(c.n, 8).offset};
  const Place number = result(8, 8);
  return {describe(c), [=](const Side& s) {
            if (const gpumem_status written = put(s, at, bits.data(), bits.size()); written != GPUMEM_OK)
              return written;
            Selected on = c;
            on.src = s.at(src);
            on.mask = reinterpret_cast<const uint8_t*>(s.at(at));
            on.dst = s.at(dst);
            auto* const word = reinterpret_cast<int64_t*>(s.at(number));
            return s.stream ? run_async(s.ctx, on, word, s.stream) : run(s.ctx, on, word);
          }};
}

Operation Draw::by_index() {
  ByIndex c{};
  do {
    c.dtype = dtype();
    c.op = kReduceOps[random_.below(std::size(kReduceOps))];
  } while (!has(c.dtype, c.op));
  const bool counts = random_.below(4) == 0;
  if (counts) c.dtype = GPUMEM_I64, c.op = GPUMEM_SUM;
  const auto width = static_cast<int64_t>(info_of(c.dtype).bytes);
  c.index_type = kIndexTypes[random_.below(4)];
  c.bins = 1 + count(2000);
  c.n = count(kMostBytes / 16);
  if (!counts && random_.below(2) == 0) {
    c.cols = between(1, 40);
    c.ld = c.cols + between(0, 2);
    c.bins = std::max<int64_t>(1, c.bins / c.cols);
    c.n /= c.ld;
  }
  std::vector<int64_t> bins(static_cast<size_t>(c.n));
  for (int64_t& bin : bins) bin = between(0, c.bins - 1);
  if (c.n > 0 && random_.below(16) == 0) bins[random_.below(bins.size())] = between(-3, c.bins + 3);
  const Bytes numbers = index_bytes(c.index_type, bins);
  const Place x = place(c.n * std::max<int64_t>(1, c.ld) * width, width);
  const Place at = {x.area, result(static_cast<int64_t>(numbers.size()), 8).offset};
  const Place out = result(16 * c.bins * c.cols, 8);
  const Place status = result(4, 4);
  return {describe(c), [=](const Side& s) {
            if (const gpumem_status written = put(s, at, numbers.data(), numbers.size()); written != GPUMEM_OK)
              return written;
            ByIndex on = c;
            on.x = counts ? nullptr : s.at(x);
            on.index = s.at(at);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, s.at(out), word, s.stream) : run(s.ctx, on, s.at(out));
          }};
}

Operation Draw::axpby() {
  Axpby c{};
  c.dtype = one_of({GPUMEM_F32, GPUMEM_F64});
  const auto width = static_cast<int64_t>(size_of(c.dtype));
  c.alpha = random_factor(c.dtype, random_);
  c.beta = random_factor(c.dtype, random_);
  c.n = count(kMostBytes / width);
  const Place x = place(c.n * width, width);
  const Place y = place(c.n * width, width);
  const Place z = one_of({x, y, place(c.n * width, width), place(c.n * width, width)});
  return {describe(c), [=](const Side& s) {
            Axpby on = c;
            on.x = s.at(x);
            on.y = s.at(y);
            on.z = s.at(z);
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::arithmetic() {
  Arithmetic c{};
  c.dtype = one_of({GPUMEM_F32, GPUMEM_F64});
  c.product = random_.below(3) == 0;
  const auto width = static_cast<int64_t>(size_of(c.dtype));
  const Shape z_shape = shape(3, kMostBytes / width / 4);
  c.extents = z_shape.extents;
  c.z.strides = z_shape.strides;
  const Place z = place(z_shape.span * width, width);
  std::vector<Place> sources;
  for (size_t k = c.product ? 2 : 1 + random_.below(8); k-- > 0;) {
    c.factors.push_back(random_factor(c.dtype, random_));
    c.x.push_back({nullptr, z_shape.strides});
    if (random_.below(4) == 0 && !c.extents.empty()) c.x.back().strides[random_.below(c.extents.size())] = 0;
    sources.push_back(random_.below(8) == 0 ? z : place(z_shape.span * width, width));
  }
  std::vector<Place> of_w;
  for (size_t k = c.product || random_.below(2) == 0 ? 0 : 1 + random_.below(3); k-- > 0;) {
    c.w.push_back({nullptr, z_shape.strides});
    of_w.push_back(random_.below(3) == 0 ? z : place(z_shape.span * width, width));
  }
  const Place results = place(8 * static_cast<int64_t>(of_w.size()), 8);
  return {(c.product ? "product of " : "combination of ") + std::to_string(c.x.size()) + " x " +
              std::to_string(z_shape.span) + ", " + std::to_string(of_w.size()) + " dot products",
          [=](const Side& s) {
            Arithmetic on = c;
            on.z.p = s.at(z);
            for (size_t k = 0; k < sources.size(); ++k) on.x[k].p = s.at(sources[k]);
            for (size_t k = 0; k < of_w.size(); ++k) on.w[k].p = s.at(of_w[k]);
            on.results = reinterpret_cast<double*>(s.at(results));
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::convert() {
  Convert c{};
  c.from = dtype();
  c.to = dtype();
  const auto from = static_cast<int64_t>(info_of(c.from).bytes);
  const auto to = static_cast<int64_t>(info_of(c.to).bytes);
  c.n = count(kMostBytes / std::max(from, to));
  const Place src = place(c.n * from, from);
  const Place dst = random_.below(8) == 0 ? src : place(c.n * to, to);
  return {describe(c), [=](const Side& s) {
            Convert on = c;
            on.src = s.at(src);
            on.dst = s.at(dst);
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

// A number that divides may be 0, which is not what the soak test looks for.
Operation Draw::map() {
  MapCall c;
  c.kind = one_of(
      {MapFunction::map, MapFunction::map, MapFunction::compare, MapFunction::where, MapFunction::convert_scaled});
  c.dtype = dtype();
  c.dst_type = dtype();
  c.element_bytes = int64_t{1} << random_.below(5);
  c.op = static_cast<int32_t>(random_.below(6));
  while (c.kind == MapFunction::map && (!map_has(c.op, c.dtype) || map_divides(c))) {
    c.op = static_cast<int32_t>(random_.below(GPUMEM_MAP_SHIFT_RIGHT + 1));
  }
  c.x.resize(c.kind == MapFunction::where || c.kind == MapFunction::convert_scaled ? 3 : 2);
  const Shape z_shape = shape(4, kMostBytes / 64);
  c.extents = z_shape.extents;
  c.z.strides = z_shape.strides;
  const auto width = static_cast<int64_t>(c.z_bytes());
  const Place z = place(z_shape.span * width, width);
  std::vector<Place> sources;
  for (size_t k = 0; k < c.x.size(); ++k) {
    const auto bytes = static_cast<int64_t>(c.source_bytes(k));
    c.x[k].strides = z_shape.strides;
    const bool same = bytes == width && random_.below(8) == 0;
    if (!same && random_.below(4) == 0 && !c.extents.empty()) c.x[k].strides[random_.below(c.extents.size())] = 0;
    sources.push_back(same ? z : place(z_shape.span * bytes, bytes));
  }
  return {describe(c), [=](const Side& s) {
            MapCall on = c;
            on.z.p = s.at(z);
            for (size_t k = 0; k < sources.size(); ++k) on.x[k].p = s.at(sources[k]);
            return run(s.ctx, on, s.form());
          }};
}

Operation Draw::sort() {
  Sort c{};
  c.dtype = dtype();
  c.descending = static_cast<int32_t>(random_.below(2));
  c.order_type = kIndexTypes[random_.below(4)];
  const auto width = static_cast<int64_t>(info_of(c.dtype).bytes);
  const auto order_width = static_cast<int64_t>(info_of(c.order_type).bytes);
  c.n = count(kMostBytes / (width + order_width) / 2);
  const Place keys = place(c.n * width, width);
  const Place sorted = random_.below(3) == 0 ? keys : place(c.n * width, width);
  const bool with_order = random_.below(2) == 0;
  const Place order = place(c.n * order_width, order_width);
  std::vector<int64_t> offsets;
  if (random_.below(2) == 0) {
    c.segments = count(2000);
    for (int64_t i = 0; i <= c.segments; ++i) offsets.push_back(between(0, c.n));
    std::sort(offsets.begin(), offsets.end());
    if (random_.below(16) == 0) offsets[random_.below(offsets.size())] = between(-3, c.n + 3);
  }
  const Place at = {keys.area, result(static_cast<int64_t>(8 * offsets.size()), 8).offset};
  const Place status = result(4, 4);
  return {describe(c), [=](const Side& s) {
            Sort on = c;
            if (!offsets.empty()) {
              const gpumem_status written = put(s, at, offsets.data(), 8 * offsets.size());
              if (written != GPUMEM_OK) return written;
              on.offsets = reinterpret_cast<const int64_t*>(s.at(at));
              on.status = reinterpret_cast<gpumem_status*>(s.at(status));
            }
            on.keys = s.at(keys);
            on.sorted = s.at(sorted);
            on.order = with_order ? s.at(order) : nullptr;
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

// Floating point, because a scan that overflows leaves undefined values.
Scan Draw::some_scan() {
  Scan c{};
  c.dtype = one_of({GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64});
  c.result_type = one_of({c.dtype, gpumem_dtype{GPUMEM_F64}});
  c.op = kScanOps[random_.below(4)];
  c.exclusive = static_cast<int32_t>(random_.below(2));
  return c;
}

Operation Draw::scan() {
  Scan c = some_scan();
  const auto from = static_cast<int64_t>(info_of(c.dtype).bytes);
  const auto to = static_cast<int64_t>(info_of(c.result_type).bytes);
  c.n = count(kMostBytes / std::max(from, to));
  const Place x = place(c.n * from, from);
  const Place at = c.result_type == c.dtype && random_.below(4) == 0 ? x : place(c.n * to, to);
  const Place status = result(4, 4);
  return {describe(c), [=](const Side& s) {
            Scan on = c;
            on.x = s.at(x);
            on.result = s.at(at);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, word, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::scan_axis() {
  const Scan c = some_scan();
  const auto from = static_cast<int64_t>(info_of(c.dtype).bytes);
  const auto to = static_cast<int64_t>(info_of(c.result_type).bytes);
  const Shape view = shape(4, kMostBytes / to / 2);
  const auto axis = static_cast<int32_t>(random_.below(view.extents.size() + 1));  // may be too large
  const Place x = place(view.span * from, from);
  const Place at = c.result_type == c.dtype && random_.below(4) == 0 ? x : place(view.span * to, to);
  const Place status = result(4, 4);
  return {"scan along an axis", [=](const Side& s) {
            AxisScan on{c,
                        static_cast<int32_t>(view.extents.size()),
                        view.extents.data(),
                        axis,
                        view.strides.data(),
                        view.strides.data()};
            on.scan.x = s.at(x);
            on.scan.result = s.at(at);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, word, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::scan_segments() {
  Scan c = some_scan();
  const auto from = static_cast<int64_t>(info_of(c.dtype).bytes);
  const auto to = static_cast<int64_t>(info_of(c.result_type).bytes);
  c.n = count(kMostBytes / to);
  std::vector<int64_t> offsets = some_offsets(c.n);
  std::sort(offsets.begin(), offsets.end());  // segments that overlap write their results in any order
  const auto bytes = static_cast<int64_t>(8 * offsets.size());
  const Place at = place(c.n * to, to);
  const Place x = c.result_type == c.dtype && random_.below(4) == 0 ? at : place(c.n * from, from);
  const Place ends = {at.area, result(bytes, 8).offset};
  const Place status = result(4, 4);
  return {"scan of segments, " + describe(c), [=](const Side& s) {
            if (const gpumem_status written = put(s, ends, offsets.data(), 8 * offsets.size()); written != GPUMEM_OK)
              return written;
            SegmentsScan on{c, reinterpret_cast<const int64_t*>(s.at(ends)), static_cast<int64_t>(offsets.size()) - 1};
            on.scan.x = s.at(x);
            on.scan.result = s.at(at);
            auto* const word = reinterpret_cast<gpumem_status*>(s.at(status));
            return s.stream ? run_async(s.ctx, on, word, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::resize() {
  Resize r{};
  r.filter = one_of({GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR});
  r.dtype = one_of({GPUMEM_U8, GPUMEM_U16, GPUMEM_F32});
  r.channels = static_cast<int32_t>(between(1, 4));
  const int64_t pixel = r.channels * element_bytes_of(r.dtype);
  r.src_rows = log_uniform(1, 300, random_);
  r.src_cols = log_uniform(1, kMostBytes / pixel / (r.src_rows + 1) / 2, random_);
  r.dst_rows = count(300);
  r.dst_cols = count(kMostBytes / pixel / (r.dst_rows + 1) / 2);
  r.src_pitch = r.src_cols * pixel + between(0, 9);
  r.dst_pitch = r.dst_cols * pixel + between(0, 9);
  const Place src = place(src_bytes(r), element_bytes_of(r.dtype));
  const Place dst = place(dst_bytes(r), element_bytes_of(r.dtype));
  return {describe(r), [=](const Side& s) {
            Resize on = r;
            on.src = s.at(src);
            on.dst = s.at(dst);
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::resize_batch() {
  ResizeBatch b;
  b.filter = one_of({GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR});
  b.dtype = one_of({GPUMEM_U8, GPUMEM_U16, GPUMEM_F32});
  b.channels = static_cast<int32_t>(between(1, 4));
  const int64_t pixel = b.channels * element_bytes_of(b.dtype);
  std::vector<int64_t> begins;
  int64_t bytes = 0;
  for (int64_t k = between(1, 12); k > 0; --k) {
    b.src.push_back(nullptr);
    b.rows.push_back(log_uniform(1, 40, random_));
    b.cols.push_back(log_uniform(1, 40, random_));
    b.pitches.push_back(b.cols.back() * pixel + between(0, 9));
    begins.push_back(bytes);
    bytes += src_bytes(b.image(b.count() - 1));
  }
  b.dst_rows = count(40);
  b.dst_cols = count(60);
  b.dst_pitch = b.dst_cols * pixel + between(0, 9);
  b.dst_stride = dst_bytes(b.image(0)) + between(0, 9);
  const Place src = place(bytes, element_bytes_of(b.dtype));
  const bool empty = dst_bytes(b.image(0)) == 0;
  const Place dst =
      place(empty ? 0 : (b.count() - 1) * b.dst_stride + dst_bytes(b.image(0)), element_bytes_of(b.dtype));
  return {std::to_string(b.count()) + " images, the first " + describe(b.image(0)), [=](const Side& s) {
            ResizeBatch on = b;
            for (size_t k = 0; k < begins.size(); ++k) on.src[k] = static_cast<const char*>(s.at(src)) + begins[k];
            on.dst = s.at(dst);
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

Operation Draw::copy_boxes() {
  Boxes b{.element_bytes = int64_t{1} << random_.below(5), .ndim = static_cast<int32_t>(between(1, 4))};
  std::vector<int64_t> src_at;
  std::vector<int64_t> dst_at;
  int64_t src_bytes = 0;
  int64_t dst_bytes = 0;
  constexpr int64_t kMostOfBox = 32 << 10;  // bytes from its first element to the end of its last
  for (int64_t k = 0; k < 1 + static_cast<int64_t>(random_.below(200)); ++k) {
    if (std::max(src_bytes, dst_bytes) > kMostBytes - kMostOfBox) break;
    std::vector<int64_t> extents;
    int64_t last = 1;
    std::vector<int64_t> strides(static_cast<size_t>(b.ndim), 1);
    for (int32_t d = 0; d < b.ndim; ++d) extents.push_back(between(random_.below(20) == 0 ? 0 : 1, 6));
    for (size_t d = strides.size(); d-- > 0;) {
      strides[d] = last;
      last = std::max<int64_t>(last * extents[d], 1) + between(0, 2);
    }
    b.add(extents, nullptr, nullptr);
    b.src_strides.insert(b.src_strides.end(), strides.begin(), strides.end());
    src_at.push_back(src_bytes);
    dst_at.push_back(dst_bytes);
    src_bytes += static_cast<int64_t>(b.reach(k, b.src_strides));
    dst_bytes += static_cast<int64_t>(b.reach(k, b.dst_strides));
  }
  const Place src = place(src_bytes, b.element_bytes);
  // If a box were written where another one is read, the values would be undefined.
  const Place dst = place_apart(dst_bytes, b.element_bytes, src, src_bytes);
  return {std::to_string(b.count()) + " boxes of " + std::to_string(b.ndim) + " axes", [=](const Side& s) {
            Boxes on = b;
            for (size_t k = 0; k < src_at.size(); ++k) {
              on.src[k] = static_cast<const char*>(s.at(src)) + src_at[k];
              on.dst[k] = static_cast<char*>(s.at(dst)) + dst_at[k];
            }
            return s.stream ? run_async(s.ctx, on, s.stream) : run(s.ctx, on);
          }};
}

}  // namespace

Operation random_operation(Random& random, bool enqueued) {
  constexpr Operation (Draw::*kDraws[])() = {&Draw::noise,        &Draw::noise,
                                             &Draw::noise,        &Draw::noise,
                                             &Draw::copy,         &Draw::copy_3d,
                                             &Draw::fill,         &Draw::reduce,
                                             &Draw::reduce,       &Draw::reduce,
                                             &Draw::reduce_view,  &Draw::reduce_axes,
                                             &Draw::reduce_axis,  &Draw::reduce_segments,
                                             &Draw::transpose,    &Draw::transpose_in_place,
                                             &Draw::permute,      &Draw::permute,
                                             &Draw::rows,         &Draw::selection,
                                             &Draw::axpby,        &Draw::arithmetic,
                                             &Draw::arithmetic,   &Draw::convert,
                                             &Draw::map,          &Draw::map,
                                             &Draw::convert,      &Draw::sort,
                                             &Draw::scan,         &Draw::resize,
                                             &Draw::resize_batch, &Draw::by_index,
                                             &Draw::copy_boxes,   &Draw::scan_axis,
                                             &Draw::scan_segments};
  Draw draw(random, enqueued);
  return (draw.*kDraws[random.below(std::size(kDraws))])();
}

}  // namespace gpumem_test

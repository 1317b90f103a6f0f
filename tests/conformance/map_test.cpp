// gpumem_map(), gpumem_compare(), gpumem_where() and gpumem_convert_scaled() against their definitions: numbers of every
// sort, views of every sort (gaps, repeats, permuted axes), offsets, kinds of memory and z as a source, by every variant;
// then threads, instruction sets and floating-point environments.
#include <algorithm>
#include <utility>

#include "conformance/conformance.hpp"
#include "conformance/views.hpp"
#include "support/environment.hpp"
#include "support/map.hpp"
#include "support/odd_environments.hpp"

namespace gpumem_test {
namespace {

std::vector<int64_t> random_extents(Random& random) {
  std::vector<int64_t> extents(random.below(6) == 0 ? random.between(4, 8) : random.below(4));
  const int64_t most = extents.size() > 3 ? 5 : extents.size() == 1 ? 4000 : 50;
  for (int64_t& extent : extents) extent = random.below(10) == 0 ? 1 : random.between(1, most);
  if (extents.size() == 2 && random.below(3) == 0) extents[1] = random.between(70, 300);
  if (!extents.empty() && random.below(60) == 0) extents[random.below(extents.size())] = 0;
  return extents;
}

// Elements of a source. Masks are half zeros. Integers are often small, so that counts of shifts and divisors are too.
void fill_source(const MapCall& c, size_t k, Bytes& bytes, size_t first, int64_t elements, Random& random) {
  const size_t size = c.source_bytes(k);
  const bool divisors = map_divides(c) && k == 1 && random.below(4) != 0;  // without a 0
  for (int64_t i = 0; i < elements; ++i) {
    unsigned char* const at = &bytes[first + static_cast<size_t>(i) * size];
    for (size_t b = 0; b < size; ++b) at[b] = static_cast<unsigned char>(random.bits());
    if (c.kind == MapFunction::where) {
      if (k == 0 && random.below(2) == 0) *at = 0;
      continue;
    }
    const bool scales = c.kind == MapFunction::convert_scaled && k > 0;
    const gpumem_dtype dtype = scales ? GPUMEM_F64 : c.dtype;
    uint64_t word = random_element(dtype, c.kind == MapFunction::convert_scaled ? c.dst_type : dtype, random);
    if (scales && random.below(2) == 0) {
      const double near_one = static_cast<double>(random.between(-40, 40)) / 16;
      std::memcpy(&word, &near_one, sizeof word);
    }
    if (!is_floating(dtype) && random.below(3) == 0) word = static_cast<uint64_t>(random.between(-3, 40));
    std::memcpy(at, &word, size);
    if (divisors && std::all_of(at, at + size, [](unsigned char b) { return b == 0; })) *at = 1;
  }
}

MapCall random_call(Random& random) {
  MapCall c;
  c.kind = static_cast<MapFunction>(random.below(8) < 5 ? 0 : random.between(1, 3));
  c.dtype = kAllTypes[random.below(12)];
  c.dst_type = kAllTypes[random.below(12)];
  c.element_bytes = int64_t{1} << random.below(5);
  if (c.kind == MapFunction::map) {
    do {
      c.op = static_cast<int32_t>(random.below(GPUMEM_MAP_SHIFT_RIGHT + 1));
    } while (!map_has(c.op, c.dtype));
  } else if (c.kind == MapFunction::compare) {
    c.op = static_cast<int32_t>(random.below(6));
  }
  c.nan_value = static_cast<double>(random.between(-1000, 1000));
  const bool single = c.kind == MapFunction::map && c.op < GPUMEM_MAP_ADD;
  c.x.resize(c.kind == MapFunction::where || c.kind == MapFunction::convert_scaled ? 3 : single ? 1 : 2);
  return c;
}

// Pixels of 1-byte elements: interleaved or planar channels on both sides, with gaps between rows, and with a scale and an
// offset for all channels or for each.
MapCall random_image(Random& random) {
  MapCall c;
  c.kind = MapFunction::convert_scaled;
  c.dtype = random.below(2) == 0 ? GPUMEM_U8 : GPUMEM_I8;
  c.dst_type = kAllTypes[random.below(12)];
  c.nan_value = 7;
  c.x.resize(3);
  const int64_t channels = random.between(1, 5), rows = random.between(1, 4), cols = random.between(5, 900);
  c.extents = {channels, rows, cols};
  const auto strides = [&]() -> std::vector<int64_t> {
    const int64_t gap = random.below(3) == 0 ? random.between(1, 20) : 0;
    if (random.below(2) == 0) return {rows * (cols + gap), cols + gap, 1};
    return {1, cols * channels + gap * (random.below(2) == 0 ? channels : 1), channels};
  };
  c.z.strides = strides();
  c.x[0].strides = random.below(2) == 0 ? c.z.strides : strides();
  for (const size_t k : {1, 2}) c.x[k].strides = {random.below(3) == 0 ? 0 : random.below(8) == 0 ? 2 : 1, 0, 0};
  return c;
}

class MapConformance : public Conformance {
 protected:
  void run_case(EveryVariant& variants, Random& random, std::vector<int64_t> extents) {
    MapCall c = random_call(random);
    c.extents = std::move(extents);
    run_case(variants, random, std::move(c));
  }
  // Strides that c lacks are random.
  void run_case(EveryVariant& variants, Random& random, MapCall c) {
    const bool has_strides = !c.z.strides.empty();
    if (!has_strides) c.z.strides = distinct_strides(c.extents, random);
    const bool empty = std::find(c.extents.begin(), c.extents.end(), 0) != c.extents.end();
    const bool aligned = random.below(4) != 0;
    const auto offset = [&](size_t size) { return aligned ? size * random.below(16 / size) : random.below(16); };
    const gpumem_memory_kind z_kind = cases::kind(random.below(4));
    GuardedBuffer z =
        blocks.buffer(0, z_kind, static_cast<size_t>(reach(c.extents, c.z.strides)) * c.z_bytes(), offset(c.z_bytes()));
    c.z.p = z.data();
    std::vector<GuardedBuffer> sources;
    MapCall images = c;
    bool across = false;
    bool reads_z = false;
    for (size_t k = 0; k < c.x.size(); ++k) {
      MapView& view = c.x[k];
      if (!has_strides) {
        view.strides = random.below(4) == 0 ? distinct_strides(c.extents, random) : c.z.strides;
        if (random.below(5) == 0 && !view.strides.empty()) view.strides[random.below(view.strides.size())] = 0;
        if (random.below(8) == 0) std::fill(view.strides.begin(), view.strides.end(), 0);
      }
      const gpumem_memory_kind kind = random.below(3) != 0 ? z_kind : cases::kind(random.below(4));
      const int64_t elements = reach(c.extents, view.strides);
      const size_t at = offset(c.source_bytes(k));
      sources.push_back(
          blocks.buffer(static_cast<int>(1 + k), kind, static_cast<size_t>(elements) * c.source_bytes(k), at));
      fill_source(c, k, sources.back().whole_image(), GuardedBuffer::kGuard + at, elements, random);
      sources.back().write();
      view.p = sources.back().data();
      images.x[k] = {sources.back().image(), view.strides};
      if (c.kind == MapFunction::convert_scaled && k > 0 && random.below(5) == 0) {
        view.p = images.x[k].p = nullptr;
      } else if (!has_strides && random.below(6) == 0 && !reads_z && c.source_bytes(k) == c.z_bytes() && !empty) {
        view = c.z;
        fill_source(c, k, z.whole_image(), static_cast<size_t>(z.image() - z.whole_image().data()),
                    reach(c.extents, c.z.strides), random);
        images.x[k] = {z.image(), view.strides};
        reads_z = true;
      } else {
        across = across || (on_cuda() && of_device(kind) != of_device(z_kind));
      }
    }
    const Bytes before = z.whole_image();
    z.write();
    images.z = {z.image(), c.z.strides};
    const gpumem_status wanted = map_reference(images) ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
    const Bytes expected = z.whole_image();
    ASSERT_TRUE(gives(wanted, run(ctx, c))) << describe(c);
    variants.for_each(last_problem(), empty, [&](bool accepted, const char* variant) {
      for (const bool async : {false, true}) {
        z.whole_image() = before;
        z.write();
        const bool runs = accepted && !(async && across && !empty);
        gpumem_status deferred = -1;
        const Memory status(ctx, GPUMEM_MEMORY_PINNED, 4);
        const bool defers = async && c.kind == MapFunction::map;
        const gpumem_status given = run(ctx, c, {async, nullptr, static_cast<gpumem_status*>(status.get())});
        ASSERT_TRUE(gives(!runs   ? GPUMEM_UNSUPPORTED
                          : async ? GPUMEM_OK
                                  : wanted,
                          given))
            << variant << ", " << describe(c);
        if (async) {
          ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
        }
        std::memcpy(&deferred, status.get(), sizeof deferred);
        if (defers && runs) {
          ASSERT_TRUE(gives(wanted, deferred)) << variant << ", " << describe(c);
        }
        if (runs) z.whole_image() = expected;
        ASSERT_TRUE(z.intact()) << variant << (async ? ", enqueued, " : ", ") << describe(c);
      }
    });
    for (const GuardedBuffer& source : sources) EXPECT_TRUE(source.intact()) << "a source changed: " << describe(c);
  }
};

TEST_P(MapConformance, GivesTheBitsOfTheDefinitionByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_MAP);
  Random random(71);
  const int cases = quick_run() ? 250 : 2000;
  for (int i = 0; i < cases && !enough(); ++i) {
    run_case(variants, random, random_extents(random));
    if (i % 5 == 0) run_case(variants, random, random_image(random));
  }
  variants.expect_all_used(on_cuda());
}

// So many elements that a row has many blocks, and that tasks begin within rows.
TEST_P(MapConformance, GivesTheBitsOfTheDefinitionOfLargeViews) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_MAP);
  Random random(72);
  const std::vector<std::vector<int64_t>> all = {{417, 333}, {3, 60001}, {130, 11, 77},
                                                 {150007},   {40001, 3}, {14003, 3, 3}};
  const size_t cases = quick_run() ? 4 : 5 * all.size();
  for (size_t i = 0; i < cases && !enough(); ++i) run_case(variants, random, all[i % all.size()]);
}

// Every function of the short types, for all pairs of 256 elements of each sort.
TEST_P(MapConformance, EveryFunctionOfEveryType) {
  Random random(73);
  const int64_t n = 3001;
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 8 * n), y(ctx, GPUMEM_MEMORY_DEVICE, 8 * n),
      z(ctx, GPUMEM_MEMORY_DEVICE, 8 * n);
  for (const gpumem_dtype dtype : kAllTypes) {
    for (int32_t op = 0; op <= GPUMEM_MAP_SHIFT_RIGHT && !enough(); ++op) {
      MapCall c;
      c.op = op;
      c.dtype = dtype;
      c.extents = {n};
      c.x = {{x.get(), {1}}, {y.get(), {1}}};
      c.z = {z.get(), {1}};
      if (!map_has(op, dtype)) {
        ASSERT_TRUE(gives(map_is_op(op) ? GPUMEM_UNSUPPORTED : GPUMEM_INVALID_ARGUMENT, run(ctx, c))) << describe(c);
        continue;
      }
      const size_t bytes = static_cast<size_t>(n) * info_of(dtype).bytes;
      Bytes of_x(bytes), of_y(bytes), expected(bytes);
      fill_source(c, 0, of_x, 0, n, random);
      fill_source(c, 1, of_y, 0, n, random);
      upload(ctx, x.get(), of_x.data(), bytes);
      upload(ctx, y.get(), of_y.data(), bytes);
      const bool zero = map_reference({c.kind,
                                       op,
                                       dtype,
                                       dtype,
                                       4,
                                       c.extents,
                                       {{of_x.data(), {1}}, {of_y.data(), {1}}},
                                       {expected.data(), {1}},
                                       0});
      ASSERT_TRUE(gives(zero ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK, run(ctx, c))) << describe(c);
      ASSERT_EQ(download(ctx, z.get(), bytes), expected) << describe(c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, MapConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

class MapBits : public testing::TestWithParam<const char*> {};

// Of every function and type; some larger than a task and than the caches are told to be.
TEST_P(MapBits, DoNotDependOnThreadsInstructionsOrTheEnvironment) {
  const ScopedVariable simd("GPUMEM_HOST_SIMD", GetParam());
  Random random(74);
  const int cases = quick_run() ? 60 : 150;
  for (int i = 0; i < cases; ++i) {
    MapCall c = random_call(random);
    const int64_t rows = random.between(1, 4);
    const int64_t cols = i % 50 == 0 ? 9'000'001 / rows : random.between(1, 9000);

    c.extents = {rows, cols};
    std::vector<Bytes> sources;
    for (size_t k = 0; k < c.x.size(); ++k) {
      const bool row = random.below(4) == 0;
      const bool column = random.below(4) == 0;
      c.x[k].strides = {row ? 0 : cols, column ? 0 : 1};
      Bytes& bytes = sources.emplace_back(static_cast<size_t>(rows * cols) * c.source_bytes(k));
      fill_source(c, k, bytes, 0, std::min<int64_t>(rows * cols, 60000), random);
      c.x[k].p = bytes.data();
    }
    Bytes expected(static_cast<size_t>(rows * cols) * c.z_bytes());
    c.z = {expected.data(), {cols, 1}};
    const gpumem_status wanted = map_reference(c) ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
    Bytes z(expected.size(), 0xA5);
    c.z.p = z.data();
    const Context ctx(On::host, static_cast<int32_t>(random.between(1, 4)));
    ASSERT_TRUE(gives(wanted, run(ctx, c))) << describe(c);
    ASSERT_TRUE(z == expected) << describe(c);
#if defined(__x86_64__) || defined(__aarch64__)
    const Environment& environment = kEnvironments[random.below(std::size(kEnvironments))];
    gpumem_status status = -1;
    z.assign(z.size(), 0xA5);
    EXPECT_EQ(in(environment, [&] { status = run(ctx, c); }), environment.control) << environment.name;
    ASSERT_TRUE(gives(wanted, status));
    ASSERT_TRUE(z == expected) << environment.name << ", " << describe(c);
#endif
  }
}

INSTANTIATE_TEST_SUITE_P(With, MapBits, testing::Values("base", "avx2", "avx512"));

}  // namespace
}  // namespace gpumem_test

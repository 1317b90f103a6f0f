// What a line says of a call is enough to decide as the call did: plans made with memory, and from the lines that they left.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "context/process.hpp"
#include "kernels/scan/limits.hpp"
#include "ops/create_context.hpp"
#include "ops/plan.hpp"
#include "ops/problem_line.hpp"
#include "tests/support/random.hpp"

namespace gpumem {
namespace {

using gpumem_test::Random;

constexpr int64_t kBytes = int64_t{1} << 20;
constexpr gpumem_dtype kTypes[] = {GPUMEM_U8, GPUMEM_U16, GPUMEM_I32, GPUMEM_F32, GPUMEM_F64};

// Blocks of every kind, two of each, on one context.
class LastProblem : public testing::TestWithParam<ExecutionSpace> {
 protected:
  void SetUp() override {
    if (GetParam() == ExecutionSpace::cuda && cuda_devices().status != GPUMEM_OK) GTEST_SKIP() << cuda_devices().reason;
    gpumem_ctx_options options = kDefaultContextOptions;
    options.device = GetParam() == ExecutionSpace::cuda ? GPUMEM_DEVICE_CUDA : GPUMEM_DEVICE_HOST;
    handle = create_context(options);
    context = &object_of<Context>(handle, HandleType::context, "ctx");
    heap.resize(2 * kBytes);
    blocks.push_back(heap.data());
    blocks.push_back(heap.data() + kBytes);
    for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
      for (int i = 0; i < 2; ++i) blocks.push_back(static_cast<char*>(allocate(*context, kind, kBytes)));
    }
  }
  void TearDown() override {
    for (size_t i = 2; i < blocks.size(); ++i) free_memory(*context, blocks[i]);
    if (context != nullptr) destroy_context(handle);
  }

  char* somewhere(int64_t offset = -1) {
    char* const block = blocks[random.below(blocks.size())];
    return block + (offset >= 0 ? offset : random.below(2) == 0 ? 0 : static_cast<int64_t>(random.below(64)));
  }
  int64_t some(int64_t most) { return 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(most))); }
  int64_t gap() { return random.below(2) == 0 ? 0 : static_cast<int64_t>(random.below(40)); }

  template <class Family, class Make>
  void expect_same_plans(const Make& make) {
    int planned = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto call = make();
      for (const Completion completion : {Completion::blocking, Completion::asynchronous}) {
        Plan<Family> with_memory;
        gpumem_status refused = GPUMEM_OK;
        try {
          CallPlanner planner(*context, call, completion);
          with_memory = plan(planner, call, completion);
        } catch (const Error& error) {
          refused = error.status();
        }
        const std::string line = line_of(last_call());
        if (refused == GPUMEM_OUT_OF_RANGE || refused == GPUMEM_INVALID_POINTER || refused == GPUMEM_INVALID_ARGUMENT)
          continue;  // of the memory: see the tests of the interface
        const CallRecord record = parse_line(line);
        LinePlanner planner(*context, record);
        try {
          const auto& read = std::get<static_cast<size_t>(Family::id)>(record.call);
          const Plan<Family> of_line = plan(planner, read, record.completion);
          EXPECT_EQ(refused, GPUMEM_OK) << line;
          EXPECT_EQ(of_line.empty, with_memory.empty) << line;
          EXPECT_EQ(of_line.placement.space, with_memory.placement.space) << line;
          EXPECT_STREQ(of_line.placement.reason, with_memory.placement.reason) << line;
          EXPECT_EQ(of_line.placement.stage_src, with_memory.placement.stage_src) << line;
          EXPECT_EQ(of_line.selection.row, with_memory.selection.row) << line;
          EXPECT_EQ(of_line.selection.config.grid, with_memory.selection.config.grid) << line;
          EXPECT_EQ(of_line.selection.config.tile, with_memory.selection.config.tile) << line;
          ++planned;
        } catch (const Error& error) {
          EXPECT_EQ(error.status(), refused) << line << ": " << error.what();
        }
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(planned, 1000) << "too few of the calls were sound";
  }

  Random random{7};
  uint64_t handle = 0;
  Context* context = nullptr;
  std::vector<char> heap;
  std::vector<char*> blocks;
};

TEST_P(LastProblem, Reduce) {
  expect_same_plans<ReduceFamily>([&] {
    const auto op = static_cast<gpumem_reduce_op>(random.below(4) == 0 ? uint64_t{GPUMEM_DOT} : random.below(8));
    const gpumem_dtype dtype = op == GPUMEM_DOT ? GPUMEM_F32 : kTypes[random.below(5)];
    ReduceParams c{dtype, op, somewhere(), some(20000), some(3), somewhere(), some(3)};
    if (random.below(2) != 0) return c;
    c.view.rank = static_cast<int32_t>(some(4));
    c.n = 1;
    for (int32_t d = 0; d < c.view.rank; ++d) {
      c.n *= c.view.extents[d] = some(12);
      c.view.strides[d] = some(100) - 1;
      c.view.y_strides[d] = some(100) - 1;
    }
    return c;
  });
}
TEST_P(LastProblem, ReduceAxis) {
  expect_same_plans<ReduceAxisFamily>([&] {
    const int64_t cols = some(200);
    const int64_t rows = some(100);
    return ReduceAxisParams{kTypes[random.below(5)],
                            static_cast<gpumem_reduce_op>(random.below(8)),
                            static_cast<gpumem_axis>(random.below(2)),
                            somewhere(),
                            rows,
                            cols,
                            cols + gap(),
                            some(3),
                            rows * cols + gap()};
  });
}
TEST_P(LastProblem, ReduceSegments) {
  expect_same_plans<ReduceSegmentsFamily>([&] {
    return ReduceSegmentsParams{
        kTypes[random.below(5)], static_cast<gpumem_reduce_op>(random.below(8)),     somewhere(),
        some(20000) - 1,         reinterpret_cast<int64_t*>(somewhere(8 * some(4))), some(100)};
  });
}
TEST_P(LastProblem, Transpose) {
  expect_same_plans<TransposeFamily>([&] {
    const int64_t rows = some(60);
    const int64_t cols = random.below(3) == 0 ? rows : some(60);
    const int64_t e = int64_t{1} << random.below(5);
    TransposeParams c{e, rows, cols, somewhere(), cols + gap(), somewhere(), rows + gap(), some(2)};
    c.src_batch_stride = cols * rows * 2;
    c.dst_batch_stride = c.dst_ld * cols + gap();
    if (random.below(4) == 0) {
      c.src = c.dst;
      c.src_ld = cols;
      c.dst_ld = rows;
      c.src_batch_stride = c.dst_batch_stride = rows * cols;
    }
    return c;
  });
}
TEST_P(LastProblem, Permute) {
  expect_same_plans<PermuteFamily>([&] {
    PermuteParams c{.rank = 3, .has_extents = true, .has_order = true, .order = {0, 1, 2}};
    c.extents[0] = some(9);
    c.extents[1] = some(30);
    c.extents[2] = some(30);
    std::swap(c.order[0], c.order[random.below(3)]);
    std::swap(c.order[1], c.order[random.below(3)]);
    c.element_bytes = int64_t{1} << random.below(4);
    c.src = somewhere();
    c.dst = somewhere();
    return c;
  });
}
TEST_P(LastProblem, CopyBoxes) {
  expect_same_plans<CopyBoxesFamily>([&] {
    CopyBoxesParams c{.element_bytes = int64_t{1} << random.below(5), .rank = 3, .has_extents = true};
    c.count = random.below(2) == 0 ? 1 : some(4);
    c.has_src_strides = random.below(2) == 0;
    for (int32_t d = 0; d < c.rank; ++d) c.extents[d] = some(12);
    c.src_strides[2] = some(2);
    c.src_strides[1] = c.extents[2] * c.src_strides[2] + gap();
    c.src_strides[0] = c.extents[1] * c.src_strides[1] + gap();
    c.src = somewhere();
    c.dst = somewhere();
    return c;
  });
}
TEST_P(LastProblem, Fill) {
  expect_same_plans<FillFamily>([&] {
    const int64_t e = int64_t{1} << random.below(5);
    FillParams c{.dst = somewhere(), .pattern_bytes = e, .count = some(1000)};
    c.rows = random.below(2) == 0 ? 1 : some(40);
    c.pitch = c.count * e + gap();
    if (e > 1 && random.below(3) != 0) c.word[1] = 1;
    return c;
  });
}
TEST_P(LastProblem, Copy) {
  expect_same_plans<CopyFamily>([&] {
    CopyParams c{.dst = somewhere(), .src = somewhere()};
    c.row_bytes = random.below(3) == 0 ? some(900000) : some(3000);
    c.rows = random.below(2) == 0 ? 1 : some(20);
    c.slices = random.below(2) == 0 ? 1 : some(5);
    for (int64_t* pitch : {&c.src_pitch, &c.dst_pitch}) *pitch = c.row_bytes + gap();
    c.src_slice = c.rows * c.src_pitch + gap();
    c.dst_slice = c.rows * c.dst_pitch + gap();
    return c;
  });
}
TEST_P(LastProblem, Axpby) {
  expect_same_plans<AxpbyFamily>([&] {
    AxpbyParams c{random.below(2) == 0 ? GPUMEM_F32 : GPUMEM_F64,
                  random.below(3),
                  somewhere(),
                  random.below(3),
                  somewhere(),
                  somewhere(),
                  some(20000)};
    if (random.below(4) == 0) c.x = c.z;
    return c;
  });
}
TEST_P(LastProblem, Sort) {
  expect_same_plans<SortFamily>([&] {
    SortParams c{static_cast<gpumem_dtype>(random.below(12)), somewhere(), static_cast<int64_t>(random.below(2000)),
                 static_cast<int32_t>(random.below(2))};
    c.sorted = somewhere();
    if (random.below(2) == 0) {
      c.offsets = reinterpret_cast<int64_t*>(somewhere(8 * some(4)));
      c.segments = some(100) - 1;
    }
    return c;
  });
}

TEST_P(LastProblem, Scan) {
  expect_same_plans<ScanFamily>([&] {
    static constexpr gpumem_reduce_op kOps[] = {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX, GPUMEM_PROD};
    const auto dtype = static_cast<gpumem_dtype>(random.below(12));
    ScanParams c{dtype,       kOps[random.below(4)], static_cast<int32_t>(random.below(2)),          somewhere(),
                 some(20000), somewhere(),           random.below(2) == 0 ? dtype : wide_type(dtype)};
    if (random.below(4) == 0) c.x = c.result;
    if (random.below(3) == 0) {
      c.offsets = reinterpret_cast<int64_t*>(somewhere(8 * some(4)));
      c.segments = some(100);
    } else if (random.below(2) == 0) {
      c.view.rank = static_cast<int32_t>(some(4));
      c.view.axis = static_cast<int32_t>(some(c.view.rank)) - 1;
      c.n = 1;
      int64_t stride = 1;
      for (int32_t d = c.view.rank; d-- > 0;) {
        c.n *= c.view.extents[d] = some(12);
        c.view.x_strides[d] = random.below(2) == 0 ? stride : some(100) - 1;
        c.view.result_strides[d] = stride;
        stride = stride * c.view.extents[d] + some(2) - 1;
      }
    }
    return c;
  });
}
TEST_P(LastProblem, Convert) {
  expect_same_plans<ConvertFamily>([&] {
    ConvertParams c{static_cast<gpumem_dtype>(random.below(12)), somewhere(),
                    static_cast<gpumem_dtype>(random.below(12)), somewhere(), some(20000)};
    if (random.below(4) == 0) c.src = c.dst;
    return c;
  });
}
TEST_P(LastProblem, Map) {
  expect_same_plans<MapFamily>([&] {
    MapParams c{.kind = static_cast<MapKind>(random.below(4)), .op = GPUMEM_LESS, .z = somewhere()};
    if (c.kind == MapKind::map) c.op = random.below(2) == 0 ? GPUMEM_MAP_DIVIDE : GPUMEM_MAP_SQUARE_ROOT;
    c.dtype = static_cast<gpumem_dtype>(random.below(12));
    c.dst_type = static_cast<gpumem_dtype>(random.below(12));
    c.element_bytes = int64_t{1} << random.below(5);
    c.sources = c.op == GPUMEM_MAP_SQUARE_ROOT && c.kind == MapKind::map ? 1
                : c.kind == MapKind::map || c.kind == MapKind::compare   ? 2
                                                                         : 3;
    c.rank = 2;
    c.extents[0] = some(40);
    c.extents[1] = some(60);
    c.z_strides[0] = c.extents[1] + gap();
    c.z_strides[1] = 1;
    for (int32_t k = 0; k < c.sources; ++k) {
      c.x[k] = random.below(6) == 0 ? c.z : somewhere();
      std::copy_n(c.z_strides, 2, c.x_strides[k]);
      if (random.below(3) == 0) c.x_strides[k][random.below(2)] = 0;
    }
    return c;
  });
}
template <class Family, class Test>
void rows_test(Test& test, const auto& somewhere, const auto& some, Random& random) {
  test([&] {
    const int64_t bytes = some(300);
    const int64_t n = some(50);
    const int64_t named = some(50);
    constexpr bool kGathers = std::same_as<Family, GatherFamily>;
    const GatherScatterParams rows{bytes,
                                   somewhere(-1),
                                   kGathers ? named : n,
                                   bytes + some(9),
                                   GPUMEM_I32,
                                   somewhere(4 * some(8)),
                                   n,
                                   somewhere(-1),
                                   kGathers ? n : named,
                                   bytes + static_cast<int64_t>(random.below(2))};
    return std::conditional_t<kGathers, GatherParams, ScatterParams>{rows};
  });
}
TEST_P(LastProblem, Gather) {
  const auto test = [&](const auto& make) { expect_same_plans<GatherFamily>(make); };
  rows_test<GatherFamily>(
      test, [&](int64_t at) { return somewhere(at); }, [&](int64_t m) { return some(m); }, random);
}
TEST_P(LastProblem, Scatter) {
  const auto test = [&](const auto& make) { expect_same_plans<ScatterFamily>(make); };
  rows_test<ScatterFamily>(
      test, [&](int64_t at) { return somewhere(at); }, [&](int64_t m) { return some(m); }, random);
}
TEST_P(LastProblem, Select) {
  expect_same_plans<SelectFamily>([&] {
    const int64_t bytes = some(40);
    const bool places = random.below(3) == 0;
    SelectParams p{.places = places,
                   .index_type = GPUMEM_I32,
                   .row_bytes = bytes,
                   .src = places ? nullptr : somewhere(),
                   .src_pitch = bytes + gap(),
                   .mask = reinterpret_cast<const uint8_t*>(somewhere()),
                   .n = some(200),
                   .dst_rows = static_cast<int64_t>(random.below(200)),
                   .dst_pitch = bytes + gap()};
    p.dst = places ? somewhere(4 * some(8)) : somewhere();
    return p;
  });
}
TEST_P(LastProblem, ReduceByIndex) {
  expect_same_plans<ReduceByIndexFamily>([&] {
    const bool counts = random.below(3) == 0;
    const auto dtype = static_cast<gpumem_dtype>(random.below(12));
    const int64_t cols = counts || random.below(2) == 0 ? 1 : some(40);
    return ReduceByIndexParams{.dtype = counts ? gpumem_dtype{GPUMEM_I64} : dtype,
                               .op = counts ? GPUMEM_SUM : static_cast<gpumem_reduce_op>(random.below(8)),
                               .x = counts ? nullptr : somewhere(),
                               .index_type = GPUMEM_I32,
                               .index = somewhere(4 * some(8)),
                               .n = some(2000),
                               .bins = some(2000),
                               .cols = cols,
                               .ld = counts ? 1 : cols + gap()};
  });
}
TEST_P(LastProblem, Resize) {
  expect_same_plans<ResizeFamily>([&] {
    const gpumem_dtype dtype = random.below(2) == 0 ? GPUMEM_U8 : GPUMEM_F32;
    const auto channels = static_cast<int32_t>(some(4));
    const int64_t pixel = channels * element_bytes(dtype);
    const int64_t src_cols = some(90);
    const int64_t dst_cols = some(90);
    const int64_t batches = random.below(3) == 0 ? some(4) : 1;
    return ResizeParams{static_cast<gpumem_filter>(random.below(2)),
                        dtype,
                        channels,
                        somewhere(),
                        some(40),
                        src_cols,
                        src_cols * pixel + gap(),
                        somewhere(),
                        some(40),
                        dst_cols,
                        dst_cols * pixel + gap(),
                        batches,
                        60000 + gap()};
  });
}

INSTANTIATE_TEST_SUITE_P(On, LastProblem, testing::Values(ExecutionSpace::host, ExecutionSpace::cuda),
                         [](const auto& of) { return of.param == ExecutionSpace::host ? "host" : "cuda"; });

}  // namespace
}  // namespace gpumem

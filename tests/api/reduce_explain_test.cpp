// What gpumem_explain() says of the reductions, and the option that sends host data through the device.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/lines.hpp"
#include "support/memory.hpp"
#include "support/numbers.hpp"
#include "support/pages.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

class ReduceExplain : public OnEachContext {
 protected:
  std::string runs_on(const std::string& line, gpumem_ctx* context = nullptr) {
    Explained explained;
    EXPECT_TRUE(ok(explain(context == nullptr ? static_cast<gpumem_ctx*>(ctx) : context, line, explained)));
    return explained.json.member("runs_on").text;
  }
};

TEST_P(ReduceExplain, EveryReductionIsExplainedWhereItsDataLies) {
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x(ctx, kind, 8192);
    const std::string side = on_cuda() && kind >= GPUMEM_MEMORY_DEVICE ? "cuda" : "host";
    for (const gpumem_dtype dtype : kAllTypes) {
      for (const gpumem_reduce_op op : kAllOps) {
        const Reduction r{dtype, op, x.get(), 1000, 1, x.get(), 1};
        if (!has(dtype, op)) {
          const gpumem_status status = explain(ctx, line_of(ctx, r));
          EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, status)) << describe(r);
          continue;
        }
        EXPECT_EQ(runs_on(line_of(ctx, r)), side) << describe(r);
        if (is_arg(op) || op == GPUMEM_DOT || op == GPUMEM_NRM2 || op >= GPUMEM_SUM_ORDER_FREE) continue;
        for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
          const Axis a{dtype, op, axis, x.get(), 10, 50, 50, 2, 500};
          EXPECT_EQ(runs_on(line_of(ctx, a)), side) << describe(a);
        }
        const int64_t offsets[] = {0, 10, 1000};
        const Segmented s{dtype, op, x.get(), 1000, offsets, 2};
        EXPECT_EQ(runs_on(line_of(ctx, s)), side) << describe(s);
      }
    }
  }
}

// A call and the explanation of its problem have one status, but that a line leaves out memory which the call refused.
gpumem_status of_explanation(gpumem_status called) {
  return called == GPUMEM_INVALID_POINTER || called == GPUMEM_OUT_OF_RANGE ? GPUMEM_INVALID_ARGUMENT : called;
}

TEST_P(ReduceExplain, RefusesWhatTheCallRefuses) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Bytes zeros(4096);
  upload(ctx, block.get(), zeros.data(), zeros.size());
  const FencedPages pages(4096);
  const void* const p = block.get();
  const void* const nowhere = pages.end();
  std::vector<Reduction> sequences;
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MAX, GPUMEM_ARG_MIN, GPUMEM_DOT, GPUMEM_NRM2}) {
    for (const Reduction& r :
         {Reduction{GPUMEM_F64, op, p, 512, 1, p, 1}, Reduction{GPUMEM_F64, op, p, 513, 1, p, 1},
          Reduction{GPUMEM_F64, op, p, -1, 1, p, 1}, Reduction{GPUMEM_F64, op, p, 9, 0, p, 1},
          Reduction{GPUMEM_F64, op, nullptr, 9, 1, p, 1}, Reduction{GPUMEM_F64, op, nowhere, 9, 1, p, 1},
          Reduction{GPUMEM_F64, op, p, 0, 1, p, 1}, Reduction{GPUMEM_F64, op, p, INT64_MAX, 3, p, 1}}) {
      sequences.push_back(r);
    }
  }
  sequences.push_back({GPUMEM_F32, GPUMEM_DOT, p, 9, 1, nullptr, 1});
  sequences.push_back({GPUMEM_F32, GPUMEM_DOT, p, 9, 1, nowhere, 1});
  sequences.push_back({GPUMEM_F32, GPUMEM_DOT, p, 9, 1, p, 0});
  sequences.push_back({GPUMEM_F32, GPUMEM_DOT, p, 1023, 1, block.bytes() + 4, 2});
  sequences.push_back({GPUMEM_F32, GPUMEM_SUM_COMPENSATED, p, 9});
  for (const Reduction& r : sequences) {
    uint64_t words[2];
    const gpumem_status called = run(ctx, r, words);
    EXPECT_TRUE(gives(of_explanation(called), explain(ctx, last_problem()))) << describe(r);
  }
  std::vector<Axis> matrices;
  for (const gpumem_axis axis : {0, 1, 2, -1}) {
    for (const gpumem_reduce_op op : {int32_t{GPUMEM_SUM}, int32_t{GPUMEM_MIN}, int32_t{GPUMEM_DOT}, 9}) {
      for (const Axis& a :
           {Axis{GPUMEM_F32, op, axis, p, 4, 5, 6, 2, 24}, Axis{GPUMEM_F32, op, axis, p, 4, 5, 4, 2, 24},
            Axis{GPUMEM_F32, op, axis, p, -1, 5, 6, 2, 24}, Axis{GPUMEM_F32, op, axis, p, 4, 5, 6, -1, 24},
            Axis{GPUMEM_F32, op, axis, p, 4, 5, 6, 2, -24}, Axis{GPUMEM_F32, op, axis, nullptr, 4, 5, 6, 2, 0},
            Axis{GPUMEM_F32, op, axis, p, 0, 5, 6, 2, 24}, Axis{GPUMEM_F32, op, axis, p, 4, 0, 6, 2, 24},
            Axis{GPUMEM_F32, op, axis, p, 4, 5, 6, 0, 24}, Axis{GPUMEM_F32, op, axis, p, 64, 17, 17, 1, 0},
            Axis{GPUMEM_F32, op, axis, nowhere, 4, 5, 6, 2, 24}}) {
        matrices.push_back(a);
      }
    }
  }
  std::vector<uint64_t> results(4096);
  for (const Axis& a : matrices) {
    const gpumem_status called = run(ctx, a, results.data());
    EXPECT_TRUE(gives(of_explanation(called), explain(ctx, last_problem()))) << last_problem();
  }
  const int64_t offsets[] = {0, 3, 9};
  for (const Segmented& s :
       {Segmented{GPUMEM_F32, GPUMEM_SUM, p, 9, offsets, 2}, Segmented{GPUMEM_F32, GPUMEM_SUM, p, -9, offsets, 2},
        Segmented{GPUMEM_F32, GPUMEM_SUM, p, 1025, offsets, 2}, Segmented{GPUMEM_F32, GPUMEM_SUM, p, 9, nullptr, 2},
        Segmented{GPUMEM_F32, GPUMEM_SUM, p, 9, offsets, -2}, Segmented{GPUMEM_F32, GPUMEM_SUM, nullptr, 9, offsets, 2},
        Segmented{GPUMEM_F32, GPUMEM_SUM, nowhere, 9, offsets, 2}, Segmented{GPUMEM_F32, GPUMEM_NRM2, p, 9, offsets, 2},
        Segmented{GPUMEM_F32, GPUMEM_SUM, p, 9, offsets, 0},
        Segmented{GPUMEM_F32, GPUMEM_SUM, p, 9, static_cast<const int64_t*>(nowhere), 2}}) {
    const gpumem_status called = run(ctx, s, results.data());
    EXPECT_TRUE(gives(of_explanation(called), explain(ctx, last_problem()))) << describe(s);
  }
}

TEST(ReduceOptions, AnOlderCallersOptions) {
  constexpr auto kOld = static_cast<int64_t>(offsetof(gpumem_ctx_options, stream_host_data));
  gpumem_ctx_options options;
  std::memset(&options, 0xC3, sizeof options);
  ASSERT_TRUE(ok(gpumem_ctx_options_init(&options, kOld)));
  EXPECT_EQ(options.stream_host_data, static_cast<int32_t>(0xC3C3C3C3)) << "written past the caller's size";
  options.device = GPUMEM_DEVICE_HOST;
  gpumem_ctx* ctx = nullptr;
  EXPECT_TRUE(ok(gpumem_ctx_create(&options, &ctx)));
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(ReduceOptions, StreamingIsOffUnlessAskedForAndOnlyOnOrOff) {
  gpumem_ctx_options options = options_for(On::host);
  EXPECT_EQ(options.stream_host_data, 0);
  EXPECT_EQ(options.reserved1, 0);
  gpumem_ctx* ctx = nullptr;
  for (const int32_t value : {2, -1}) {
    options.stream_host_data = value;
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &ctx),
                        {"stream_host_data", std::to_string(value)}));
    EXPECT_EQ(ctx, nullptr);
  }
  options.stream_host_data = 0;
  options.reserved1 = 5;
  const gpumem_status created = gpumem_ctx_create(&options, &ctx);
  EXPECT_TRUE(created == GPUMEM_INVALID_ARGUMENT || created == GPUMEM_UNSUPPORTED) << gpumem_status_name(created);
}

// Data of the host through the device: the same bits, in pieces of any number.
TEST_P(ReduceExplain, StreamedHostDataHasTheSameBits) {
  gpumem_ctx_options options = options_for(GetParam());
  options.stream_host_data = 1;
  const Context streaming(options);
  Random random(3);
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const int64_t n : {int64_t{1}, int64_t{1000}, int64_t{70001}, int64_t{quick_run() ? 200003 : 9000001}}) {
      if (n > 1000000 && dtype != GPUMEM_F64 && dtype != GPUMEM_I32 && dtype != GPUMEM_F16) continue;
      const int64_t stride = n < 100000 ? 1 + static_cast<int64_t>(random.below(2)) : 1;
      Bytes elements = random_elements(dtype, Numbers::medium, n, stride, random);
      for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_PINNED}) {
        GuardedBuffer x(streaming, kind, elements.size(), info_of(dtype).bytes % 16);
        x.set(elements.data());
        for (const gpumem_reduce_op op : kAllOps) {
          const bool some = n > 1000000 || (n > 1000 && quick_run());  // by turns, so that each comes up
          if (!has(dtype, op) || (some && (op + dtype) % 3 != 0)) continue;
          const Reduction r{dtype, op, x.data(), n, stride, x.data(), stride};
          const bool streams = on_cuda() && (stride == 1 || n == 1) && op != GPUMEM_DOT;  // only contiguous data does
          EXPECT_EQ(runs_on(line_of(streaming, r), streaming), streams ? "cuda" : "host") << describe(r);
          const Outcome expected = n > 1000000 ? outcome_of(ctx, r) : reference(r);
          EXPECT_TRUE(same(expected, outcome_of(streaming, r))) << describe(r) << ", " << kind_name(kind);
        }
        EXPECT_TRUE(x.intact());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceExplain, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test

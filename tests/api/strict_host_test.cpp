// Strict host contexts: what a CUDA context refuses for where its operands lie, they refuse with the same status.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

gpumem_ctx_options strict_options() {
  gpumem_ctx_options options = options_for(On::host);
  options.strict_host = 1;
  return options;
}

bool device_side(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_DEVICE || kind == GPUMEM_MEMORY_MANAGED; }

// Calls of the _async forms with two operands of 64 bytes.
struct TwoSided {
  const char* name;
  std::function<gpumem_status(gpumem_ctx*, void* x, void* y, void* pinned)> call;
};
const TwoSided kTwoSided[] = {
    {"dot",
     [](gpumem_ctx* c, void* x, void* y, void* pinned) {
       return gpumem_dot_f32_async(c, static_cast<float*>(x), static_cast<float*>(y), 8, 1, 1,
                                   static_cast<double*>(pinned), nullptr);
     }},
    {"axpby",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       auto* const z = static_cast<float*>(y);
       return gpumem_axpby_f32_async(c, 2, static_cast<float*>(x), 1, z, z, 8, nullptr);
     }},
    {"lincomb",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       const int64_t extent = 8;
       const float factor = 2;
       const auto* const source = static_cast<const float*>(x);
       return gpumem_lincomb_f32_async(c, 1, &extent, 1, &factor, &source, nullptr, static_cast<float*>(y), nullptr,
                                       nullptr);
     }},
    {"multiply",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       const int64_t extent = 8;
       const auto* const factor = static_cast<const float*>(x);
       return gpumem_multiply_f32_async(c, 1, &extent, factor, nullptr, factor, nullptr, static_cast<float*>(y),
                                        nullptr, nullptr);
     }},
    {"convert", [](gpumem_ctx* c, void* x, void* y,
                   void*) { return gpumem_convert_async(c, GPUMEM_F32, x, GPUMEM_F64, y, 8, nullptr); }},
    {"scan",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       return gpumem_scan_async(c, GPUMEM_F32, GPUMEM_SUM, 0, x, 8, y, GPUMEM_F64, nullptr, nullptr);
     }},
    {"transpose",
     [](gpumem_ctx* c, void* x, void* y, void*) { return gpumem_transpose_async(c, 4, 2, 4, x, 4, y, 2, nullptr); }},
    {"permute",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       const int64_t extents[2] = {2, 4};
       const int32_t order[2] = {1, 0};
       return gpumem_permute_async(c, 4, 2, extents, order, x, nullptr, y, nullptr, nullptr);
     }},
    {"resize",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       return gpumem_resize_2d_async(c, GPUMEM_FILTER_NEAREST, GPUMEM_U8, 1, x, 2, 2, 2, y, 4, 4, 4, nullptr);
     }},
    {"sort", [](gpumem_ctx* c, void* x, void* y,
                void*) { return gpumem_sort_async(c, GPUMEM_F32, x, 8, 0, y, nullptr, GPUMEM_I64, nullptr); }},
    {"resize of a batch",
     [](gpumem_ctx* c, void* x, void* y, void*) {
       const void* const images[] = {x, x};
       const int64_t extents[] = {2, 2};
       return gpumem_resize_2d_batch_async(c, GPUMEM_FILTER_NEAREST, GPUMEM_U8, 1, 2, images, extents, extents, nullptr,
                                           y, 2, 2, 2, 4, nullptr);
     }},
    {"gather",
     [](gpumem_ctx* c, void* x, void* y, void* pinned) {
       return gpumem_gather_async(c, 4, x, 4, 4, GPUMEM_I32, pinned, 2, y, 4, nullptr, nullptr);
     }},
    {"scatter", [](gpumem_ctx* c, void* x, void* y, void* pinned) {
       return gpumem_scatter_async(c, 4, x, 4, GPUMEM_I32, pinned, 1, y, 4, 4, nullptr, nullptr);
     }}};

// Whether gpumem_explain() says of the last call what the call said.
void expect_explained(gpumem_ctx* ctx, gpumem_status status, const std::string& what) {
  char line[512];
  ASSERT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_EQ(gpumem_explain(ctx, line, GPUMEM_FORMAT_TEXT, nullptr, 0, nullptr), status) << what << ": " << line;
}

class StrictHost : public testing::Test {
 protected:
  Memory zeros(gpumem_memory_kind kind) {
    Memory memory(ctx, kind, 64);
    std::memset(memory.get(), 0, 64);
    return memory;
  }

  Context ctx{strict_options()};
  const Context lenient{On::host};
};

TEST_F(StrictHost, RefusesOperandsOnBothSides) {
  const Memory pinned = zeros(GPUMEM_MEMORY_PINNED);
  for (const gpumem_memory_kind x_kind : kAllKinds) {
    for (const gpumem_memory_kind y_kind : kAllKinds) {
      const Memory x = zeros(x_kind);
      const Memory y = zeros(y_kind);
      for (const TwoSided& two : kTwoSided) {
        const std::string what = std::string(two.name) + " of " + kind_name(x_kind) + " and " + kind_name(y_kind);
        std::memset(pinned.get(), 0, 64);
        EXPECT_TRUE(ok(two.call(lenient, x.get(), y.get(), pinned.get()))) << what;
        EXPECT_TRUE(ok(gpumem_ctx_synchronize(lenient)));
        std::memset(pinned.get(), 0, 64);
        const gpumem_status status = two.call(ctx, x.get(), y.get(), pinned.get());
        if (device_side(x_kind) == device_side(y_kind)) {
          EXPECT_TRUE(ok(status)) << what;
        } else {
          EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {kind_name(x_kind), kind_name(y_kind)})) << what;
        }
        expect_explained(ctx, status, what);
        EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
      }
      EXPECT_TRUE(ok(gpumem_copy_async(ctx, y.get(), x.get(), 64, nullptr))) << "copies cross";
      EXPECT_TRUE(ok(gpumem_convert(ctx, GPUMEM_F32, x.get(), GPUMEM_F64, y.get(), 8))) << "plain forms move operands";
    }
  }
}

// Kernels read an index and offsets in pinned memory too.
TEST_F(StrictHost, RefusesAnIndexThatTheWorkCantRead) {
  const Memory result = zeros(GPUMEM_MEMORY_PINNED);
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x = zeros(kind);
    const Memory y = zeros(kind);
    for (const gpumem_memory_kind index_kind : kAllKinds) {
      const Memory index = zeros(index_kind);
      const gpumem_status statuses[] = {
          gpumem_gather_async(ctx, 4, x.get(), 4, 4, GPUMEM_I32, index.get(), 2, y.get(), 4, nullptr, nullptr),
          gpumem_reduce_segments_async(ctx, GPUMEM_F32, GPUMEM_SUM, x.get(), 8, static_cast<int64_t*>(index.get()), 1,
                                       result.get(), nullptr, nullptr),
          gpumem_scan_segments_async(ctx, GPUMEM_F32, GPUMEM_SUM, 0, x.get(), 8, static_cast<int64_t*>(index.get()), 1,
                                     y.get(), GPUMEM_F32, nullptr, nullptr)};
      const bool reads = device_side(kind) == device_side(index_kind) || index_kind == GPUMEM_MEMORY_PINNED;
      for (const gpumem_status status : statuses) {
        EXPECT_EQ(status, reads ? GPUMEM_OK : GPUMEM_UNSUPPORTED) << kind_name(kind) << ", " << kind_name(index_kind);
      }
      EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    }
  }
}

TEST_F(StrictHost, RefusesResultsInPageableMemory) {
  const Memory pinned = zeros(GPUMEM_MEMORY_PINNED);
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x = zeros(kind);
    for (const gpumem_memory_kind of_result : kAllKinds) {
      const Memory result = zeros(of_result);
      auto* const status = static_cast<gpumem_status*>(result.get());
      const gpumem_status statuses[] = {
          gpumem_reduce_async(ctx, GPUMEM_F32, GPUMEM_SUM, x.get(), 8, 1, result.get(), nullptr, nullptr),
          gpumem_reduce_async(ctx, GPUMEM_F32, GPUMEM_SUM, x.get(), 8, 1, pinned.get(), status, nullptr),
          gpumem_reduce_axis_async(ctx, GPUMEM_F32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.get(), 2, 4, 4, 1, 0, result.get(),
                                   nullptr, nullptr)};
      for (const gpumem_status given : statuses) {
        EXPECT_EQ(given, of_result == GPUMEM_MEMORY_PAGEABLE ? GPUMEM_INVALID_POINTER : GPUMEM_OK)
            << kind_name(of_result);
      }
      EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
      EXPECT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_F32, GPUMEM_SUM, x.get(), 8, 1, result.get())));
      EXPECT_TRUE(
          ok(gpumem_reduce_async(lenient, GPUMEM_F32, GPUMEM_SUM, x.get(), 8, 1, result.get(), nullptr, nullptr)));
      EXPECT_TRUE(ok(gpumem_ctx_synchronize(lenient)));
    }
  }
}

TEST(StrictHostOption, IsZeroOrOne) {
  for (const int32_t value : {2, -1}) {
    gpumem_ctx_options options = options_for(On::host);
    options.strict_host = value;
    gpumem_ctx* none = nullptr;
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"strict_host", std::to_string(value)}));
  }
  gpumem_ctx_options options = strict_options();
  options.reserved3 = 1;
  gpumem_ctx* none = nullptr;
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_ctx_create(&options, &none), {"reserved3", "1"}));
}

}  // namespace
}  // namespace gpumem_test

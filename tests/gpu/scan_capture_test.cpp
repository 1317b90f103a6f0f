// Scans in a graph and beside it. The tiles of a scan clear the words of the scan before it on the same scratch memory,
// which is that of a stream, or of one captured call. So long and short scans take turns on a stream, and the elements of a
// captured one change from run to run. Some sums depend on the order, and some of integers overflow.
#include <algorithm>
#include <cstring>
#include <vector>

#include "support/contexts.hpp"
#include "support/numbers.hpp"
#include "support/random.hpp"
#include "support/scan.hpp"
#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using gpumem_test::Random;
using gpumem_test::Scan;

class ScanCapture : public ReduceCapture {
 protected:
  // The elements and results of even and odd rounds.
  struct Case {
    Scan call;
    std::vector<unsigned char> x[2];
    std::vector<unsigned char> expected[2];
    gpumem_status status = GPUMEM_OK;
    size_t bytes() const { return x[0].size(); }
  };

  // last: the last element, which decides whether the sum of integers fits.
  Case f32(int64_t n, Random& random) {
    std::vector<float> x(static_cast<size_t>(n));
    for (float& v : x) v = static_cast<float>(random.between(-1000000, 1000000)) * 1e-3f;
    return made({GPUMEM_F32, GPUMEM_SUM, 0, x.data(), n, nullptr, GPUMEM_F32});
  }
  Case i32(int64_t n, int32_t last) {
    std::vector<int32_t> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i % 11);
    x.back() = last;
    return made({GPUMEM_I32, GPUMEM_SUM, 0, x.data(), n, nullptr, GPUMEM_I32});
  }

  // In odd rounds, the first half of the elements is that of the second one.
  Case made(Scan call) {
    Case c{};
    c.call = call;
    const auto* const first = static_cast<const unsigned char*>(call.x);
    for (const int odd : {0, 1}) {
      c.x[odd].assign(first, first + call.n * 4);
      if (odd == 1) std::copy_n(first + call.n / 2 * 4, call.n / 2 * 4, c.x[1].begin());
      c.expected[odd].resize(c.bytes());
      call.x = c.x[odd].data();
      call.result = c.expected[odd].data();
      const gpumem_status status = run(host, call);
      EXPECT_TRUE(odd == 0 || status == c.status);
      c.status = status;
    }
    c.call.x = device(c.bytes());
    c.call.result = device(c.bytes());
    return c;
  }
  void set(const Case& c, int round) { put(const_cast<void*>(c.call.x), c.x[round % 2].data(), c.bytes()); }
  void enqueue(const Case& c, gpumem_status* status, gpumem_stream* stream) {
    ASSERT_EQ(run_async(ctx, c.call, status, stream), GPUMEM_OK) << last_error();
  }
  void check(const Case& c, gpumem_status status, const char* where, int round) {
    std::vector<unsigned char> now(c.bytes());
    put(now.data(), c.call.result, c.bytes());
    // The element that does not fit may be anything.
    const size_t defined = c.bytes() - (c.status == GPUMEM_OK ? 0 : 4);
    EXPECT_EQ(status, c.status) << where << ", round " << round << ", " << c.call.n;
    EXPECT_EQ(std::memcmp(now.data(), c.expected[round % 2].data(), defined), 0)
        << where << ", round " << round << ", " << c.call.n;
    put(c.call.result, std::vector<unsigned char>(c.bytes(), 0x5A).data(), c.bytes());
  }

  gpumem_test::Context host{gpumem_test::On::host};
};

TEST_F(ScanCapture, LongAndShortScansTakeTurns) {
  Random random(31);
  const std::vector<Case> captured{f32(3000007, random), f32(20001, random),     i32(4000003, 2),
                                   f32(900001, random),  i32(70003, 2147483647), i32(70001, 5)};
  const std::vector<Case> eager{i32(2000003, 2147483647), f32(5000003, random), f32(8193, random), i32(8200, 7)};
  auto* const statuses = reinterpret_cast<gpumem_status*>(pinned_words(captured.size() + eager.size()));
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_create(ctx, &stream), GPUMEM_OK);
  {
    Captured graph(ctx);
    graph.begin();
    for (size_t k = 0; k < captured.size(); ++k) enqueue(captured[k], statuses + k, graph.stream);
    ASSERT_NO_FATAL_FAILURE(graph.end());
    for (int round = 0; round < (gpumem_test::quick_run() ? 3 : 40); ++round) {
      for (const Case& c : captured) set(c, round);
      for (const Case& c : eager) set(c, round);
      graph.launch();
      for (size_t k = 0; k < eager.size(); ++k) enqueue(eager[k], statuses + captured.size() + k, stream);
      graph.wait();
      ASSERT_EQ(gpumem_stream_synchronize(ctx, stream), GPUMEM_OK);
      for (size_t k = 0; k < captured.size(); ++k) check(captured[k], statuses[k], "in the graph", round);
      for (size_t k = 0; k < eager.size(); ++k) check(eager[k], statuses[captured.size() + k], "beside it", round);
    }
  }
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests

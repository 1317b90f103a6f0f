// Arrays over several members: that layouts, memory and results reach the library and come back as they are, and what keeps what alive.
#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <thread>

#include "dist/socket_transport.hpp"
#include "fixture.hpp"

namespace {

using namespace gpumem_test;
using gpumem::dist_layout;
using gpumem::reduce_op;
using gpumem::status;

class CppDist : public CppOnEachContext {
 protected:
  // The memory of members on the device, with these numbers.
  template <class T>
  gpumem::device_buffer<T> on_device(const std::vector<T>& values) {
    auto memory = ctx.alloc_device<T>(static_cast<std::int64_t>(values.size()));
    ctx.copy(memory, values);
    return memory;
  }
  template <class T>
  std::vector<T> fetched(const gpumem::device_buffer<T>& memory) {
    std::vector<T> values(static_cast<std::size_t>(memory.size()));
    ctx.copy(values, memory);
    return values;
  }

  gpumem::context other{cpp_options(On::host)};
};
INSTANTIATE_TEST_SUITE_P(Contexts, CppDist, testing::ValuesIn(contexts_here()), OnEachContext::name);

// 4 x 6 elements as two slabs of rows, and its transpose as three.
template <class T>
dist_layout<T> slabs() {
  return dist_layout<T>({4, 6}, {{{0, 0}, {2, 6}}, {{2, 0}, {4, 6}}});
}
template <class T>
dist_layout<T> turned_slabs() {
  return dist_layout<T>({6, 4}, {{{0, 0}, {3, 4}, 1}, {{3, 0}, {6, 4}, 0}});
}

TEST_P(CppDist, AMatrixBecomesItsTranspose) {
  const gpumem::dist dist({ctx, ctx});
  const auto plan = dist.plan_redistribute(slabs<int>(), turned_slabs<int>(), {1, 0});
  const auto upper = on_device(counting<int>(12)), lower = on_device(counting<int>(12, 13));
  std::array<gpumem::device_buffer<int>, 2> to{ctx.alloc_device<int>(12), ctx.alloc_device<int>(12)};
  plan.execute({upper, lower}, to);
  EXPECT_EQ(fetched(to[1]), (std::vector<int>{1, 7, 13, 19, 2, 8, 14, 20, 3, 9, 15, 21}));
  EXPECT_EQ(fetched(to[0]), (std::vector<int>{4, 10, 16, 22, 5, 11, 17, 23, 6, 12, 18, 24}));

  // The same, in the order of two streams.
  std::array<gpumem::stream, 2> streams{ctx.create_stream(), ctx.create_stream()};
  for (std::size_t m = 0; m < 2; ++m) streams[m].fill(to[m], 0);
  plan.execute_async({upper, lower}, to, {streams[0], streams[1]});
  std::vector<int> first(12);
  for (auto& stream : streams) stream.synchronize();
  ctx.copy(first, to[0]);
  EXPECT_EQ(first[0], 4);
  const auto foreign = other.create_stream();
  EXPECT_TRUE(throws(status::invalid_argument, "streams[1] belongs to another context", [&] {
    plan.execute_async({upper, lower}, to, {streams[0], foreign});
  }));
  EXPECT_TRUE(throws(status::invalid_argument, "1 streams; expected one per member, 2", [&] {
    plan.execute_async({upper, lower}, to, {streams[0]});
  }));
  const gpumem::stream taken(std::move(streams[1]));
  EXPECT_TRUE(throws(status::invalid_argument, "streams[1] was moved from", [&] {
    plan.execute_async({upper, lower}, to, {streams[0], streams[1]});
  }));

  EXPECT_NE(plan.explain().find("redistribute, process 0 of 1"), std::string::npos) << plan.explain();
  EXPECT_NE(plan.explain(gpumem::format::json).find("\"gpumem.dist/1\""), std::string::npos);
  const gpumem::dist_info info = dist.query();
  EXPECT_EQ(info.all_members, 2);
  EXPECT_EQ(info.status, GPUMEM_OK);
}

TEST_P(CppDist, ElementsThatAreOnlyMoved) {
  using number = std::complex<double>;
  const gpumem::dist dist({other, other});
  const dist_layout<number> halves({4}, {{{0}, {2}}, {{2}, {4}}}), whole({4}, {{{0}, {4}}});
  std::vector<std::vector<number>> parts{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  std::vector<number> all(4);
  dist.plan_redistribute(halves, whole).execute(parts, {all, nullptr});
  EXPECT_EQ(all, (std::vector<number>{{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
}

// Each member has half of the rows with a row of ghosts before and behind them, and a column on both sides.
TEST_P(CppDist, AHaloGoesRoundTheEndsAndCorners) {
  enum : std::int64_t { rows = 4, cols = 3, ld = cols + 2 };
  const gpumem::dist dist({ctx, ctx});
  dist_layout<float> layout({rows, cols});
  for (std::int64_t m = 0; m < 2; ++m) layout.add({{2 * m, 0}, {2 * m + 2, cols}, {}, ld + 1, {ld, 1}});
  EXPECT_EQ(layout.size(1), 3 * ld - 1);  // without the ghosts
  std::vector<gpumem::device_buffer<float>> x;
  for (int m = 0; m < 2; ++m) {
    std::vector<float> mine(4 * ld, -1);
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < cols; ++col)
        mine[static_cast<std::size_t>((row + 1) * ld + col + 1)] = static_cast<float>(10 * (2 * m + row) + col);
    }
    x.push_back(on_device(mine));
  }
  dist.plan_halo(layout, {1, 1}, {1, 1}, {true, true}).execute(x);
  const std::vector<float> round{32, 30, 31, 32, 30, 2, 0, 1, 2, 0, 12, 10, 11, 12, 10, 22, 20, 21, 22, 20};
  EXPECT_EQ(fetched(x[0]), round);

  // Enqueued, and where nothing lies past the ends.
  const auto between = dist.plan_halo(layout, {1, 0}, {1, 0}, {0, 0});
  for (auto& mine : x) ctx.fill(mine.subview(0, ld), -1);
  between.execute_async(x);
  ctx.synchronize();
  EXPECT_EQ(fetched(x[0])[1], -1);
  EXPECT_EQ(fetched(x[1])[1], 10);
  EXPECT_TRUE(throws(status::invalid_argument, "x[1] has 19 elements; expected 20", [&] {
    dist.plan_halo(layout, {1, 1}, {1, 1}, {1, 1}).execute({x[0], x[1].subview(0, 19)});
  }));
}

// The array has no elements before the first member's rows, and the halo writes none there.
TEST_P(CppDist, AHaloHasTwoSidesAndEnds) {
  const gpumem::dist dist({ctx, ctx});
  const dist_layout<int> layout({4, 2}, {{{0, 0}, {2, 2}}, {{2, 0}, {4, 2}, {}, 2}});
  const auto plan = dist.plan_halo(layout, {1, 0}, {0, 0}, {0, 0});
  std::vector<int> first{0, 1, 10, 11}, second{-1, -1, 20, 21, 30, 31};
  plan.execute({first, second});
  EXPECT_EQ(first, (std::vector<int>{0, 1, 10, 11}));
  EXPECT_EQ(second, (std::vector<int>{10, 11, 20, 21, 30, 31}));
}

template <class T>
std::vector<T> tenths(std::size_t size) {
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<T>(0.1 * static_cast<double>((i * 7919) % 1000) - 50);
  return values;
}

TEST_P(CppDist, ReductionsHaveTheBitsOfTheWhole) {
  enum : std::int64_t { rows = 300, cols = 41 };
  const auto x = tenths<double>(rows * cols);
  const std::vector<double> y(x.rbegin(), x.rend());
  const gpumem::host_view<const double> all(x), others(y);
  const gpumem::dist dist({ctx, ctx, ctx});
  const std::array<std::int64_t, 4> cut{0, 101, 102, rows};
  dist_layout<double> layout({rows, cols});
  std::vector<gpumem::host_view<const double>> parts, other_parts;
  for (std::size_t m = 0; m < 3; ++m) {
    layout.add({{cut[m], 0}, {cut[m + 1], cols}});
    parts.push_back(all.subview(cut[m] * cols, (cut[m + 1] - cut[m]) * cols));
    other_parts.push_back(others.subview(cut[m] * cols, (cut[m + 1] - cut[m]) * cols));
  }
  const auto plan = dist.plan_reduce(layout);
  for (const reduce_op op : {reduce_op::sum, reduce_op::sum_squares, reduce_op::max_abs, reduce_op::sum_compensated}) {
    EXPECT_EQ(plan.reduce(op, parts), ctx.reduce(op, x));
  }
  std::vector<double> factors(x.size(), 1.0);
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] += 1e-6 * static_cast<double>(i % 7);
  const gpumem::host_view<const double> all_factors(factors);
  std::vector<gpumem::host_view<const double>> factor_parts;
  for (std::size_t m = 0; m < 3; ++m) {
    factor_parts.push_back(all_factors.subview(cut[m] * cols, (cut[m + 1] - cut[m]) * cols));
  }
  EXPECT_GT(ctx.reduce(reduce_op::prod, factors), 1.0);
  EXPECT_EQ(plan.reduce(reduce_op::prod, factor_parts), ctx.reduce(reduce_op::prod, factors));
  EXPECT_EQ(plan.min_max(parts), ctx.min_max(x));
  EXPECT_EQ(plan.dot(parts, other_parts), ctx.dot(x, y));
  EXPECT_EQ(plan.dot_order_free(parts, other_parts), ctx.dot_order_free(x, y));
  EXPECT_EQ(plan.nrm2(parts), ctx.nrm2(x));
  const auto largest = plan.argreduce(reduce_op::max, parts), expected = ctx.argreduce(reduce_op::max, x);
  EXPECT_EQ(largest.value, expected.value);
  EXPECT_EQ(largest.index, expected.index);

  const auto counts = dist.plan_reduce(dist_layout<std::uint8_t>({4}, {{{0}, {4}, 2}}));
  const std::vector<std::uint8_t> bytes{200, 100, 50, 25};
  static_assert(std::is_same_v<decltype(counts.reduce(reduce_op::sum, {nullptr, nullptr, bytes})), std::uint64_t>);
  EXPECT_EQ(counts.reduce(reduce_op::sum, {nullptr, nullptr, bytes}), 375U);
}

TEST_P(CppDist, MistakesAreRefused) {
  const gpumem::dist dist({ctx, other});
  const auto invalid = [](const std::string& word, auto call) {
    EXPECT_TRUE(throws(status::invalid_argument, word, call));
  };
  invalid("box 1 has 1 values", [] { dist_layout<int>({4, 6}, {{{0, 0}, {4, 6}}, {{0}, {4, 6}}}); });
  constexpr std::int64_t half = std::int64_t{1} << 32;
  invalid("int64_t", [] { dist_layout<char>({2, half, half}, {{{0, 0, 0}, {2, half, half}}}).size(0); });
  invalid("int64_t", [] { dist_layout<char>({half}, {{{0}, {half}, 0, 0, {half}}}).size(0); });
  invalid("shares elements with", [&] { dist.plan_reduce(dist_layout<int>({4}, {{{0}, {3}}, {{2}, {4}}})); });
  invalid("box 0 is of member 2", [&] { dist.plan_reduce(dist_layout<int>({4}, {{{0}, {4}, 2}})); });
  invalid("order has 1 values", [&] { dist.plan_redistribute(slabs<int>(), slabs<int>(), {0}); });
  invalid("high has 1 values", [&] { dist.plan_halo(slabs<int>(), {1, 1}, {1}, {0, 0}); });
  gpumem::dist_plan_options little;
  little.workspace_bytes = 1;
  invalid("workspace_bytes is 1", [&] { dist.plan_reduce(slabs<int>(), little); });
  EXPECT_EQ(dist.attempt().plan_reduce(slabs<int>(), little).code(), status::invalid_argument);
  // Boxes without room before them for the ghosts.
  const auto halo = dist.plan_halo(slabs<int>(), {1, 0}, {0, 0}, {1, 0});
  std::vector<int> twelve(12), eleven(11);
  invalid(
      "x[0] has 11 elements, and its boxes with their halo reach from -6 to 12; expected 18 elements, and offsets of "
      "the "
      "boxes that are 6 more",
      [&] {
        halo.execute({eleven, twelve});
      });

  const auto reduction = dist.plan_reduce(slabs<int>());
  invalid("x has 1 parts; expected one per member, 2", [&] { (void)reduction.reduce(reduce_op::sum, twelve); });
  invalid("x[1] has 11 elements; expected 12", [&] { (void)reduction.reduce(reduce_op::sum, {twelve, eleven}); });
  invalid("x[0] has 0 elements", [&] { (void)reduction.argreduce(reduce_op::max, {nullptr, twelve}); });
  invalid("min_max()", [&] { (void)reduction.reduce(reduce_op::min_max, {twelve, twelve}); });
  invalid("gpumem_dist_plan_reduce()", [&] { reduction.execute({twelve, twelve}); });
  const auto move = dist.plan_redistribute(slabs<int>(), turned_slabs<int>(), {1, 0});
  invalid("expected both", [&] { move.execute({twelve, twelve}); });
  invalid("dst[1] has 11", [&] { move.execute({twelve, twelve}, {twelve, eleven}); });
  const auto refused = reduction.attempt().reduce(reduce_op::sum, {twelve, eleven});
  EXPECT_EQ(refused.code(), status::invalid_argument);
  EXPECT_EQ(reduction.attempt().reduce(reduce_op::sum, {twelve, twelve}).value(), 0) << "none of this ends the dist";
}

TEST_P(CppDist, EndsWithTheLastOfItsPlans) {
  gpumem::dist_layout<int> layout({3}, {{{0}, {3}}});
  const std::vector<int> x{1, 2, 3};
  gpumem_ctx* kept = nullptr;
  {
    const auto plan = [&] {
      const gpumem::context mine(cpp_options(GetParam()));
      kept = mine.get();
      return gpumem::dist({mine}).plan_reduce(layout);
    }();
    EXPECT_EQ(plan.reduce(reduce_op::sum, x), 6);
  }
  EXPECT_EQ(gpumem_ctx_status(kept), GPUMEM_INVALID_HANDLE) << "the context is still there";

  gpumem::context mine(cpp_options(GetParam()));
  gpumem::dist dist({mine});
  EXPECT_TRUE(throws(status::busy, "1", [&] { mine.close(); }));
  {
    auto made = dist.plan_reduce(layout);
    EXPECT_TRUE(throws(status::busy, "1 live plans", [&] { dist.close(); }));
    const auto moved = std::move(made);
    EXPECT_EQ(moved.reduce(reduce_op::sum, x), 6);
    // NOLINTNEXTLINE(bugprone-use-after-move): what then happens is what is tested
    EXPECT_TRUE(throws(status::invalid_argument, "moved from", [&] { (void)made.reduce(reduce_op::sum, x); }));
  }
  gpumem::dist taken = std::move(dist);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_TRUE(throws(status::invalid_argument, "moved from", [&] { (void)dist.query(); }));
  taken.close();
  taken.close();
  EXPECT_TRUE(throws(status::invalid_handle, "dist", [&] { (void)taken.query(); }));
  mine.close();
  EXPECT_EQ(gpumem::dist::create({}).code(), status::invalid_argument);
  EXPECT_EQ(gpumem::dist::create({mine}).code(), status::invalid_handle);
}

TEST_P(CppDist, AnAbortSticks) {
  const gpumem::dist dist({ctx});
  const auto plan = dist.plan_reduce(gpumem::dist_layout<int>({3}, {{{0}, {3}}}));
  const std::vector<int> x{1, 2, 3};
  dist.abort();
  EXPECT_EQ(plan.attempt().reduce(reduce_op::sum, x).code(), status::peer_lost);
  EXPECT_EQ(dist.query().status, GPUMEM_PEER_LOST);
}

// Two processes, as threads here: each has a member, and a transport that it fills.
TEST(CppDistTransport, IsTheProgramsOwn) {
  Mesh mesh(2);
  const auto x = tenths<float>(5000);
  std::array<double, 2> sums{}, norms{};
  std::array<std::vector<float>, 2> gathered;
  const auto process = [&](int rank) {
    SocketTransport sockets(mesh, rank);
    gpumem::dist_transport transport;
    static_cast<gpumem_dist_transport&>(transport) = sockets.table();
    gpumem::dist_options options;
    options.transport = &transport;
    options.deadline_s = 30;
    const gpumem::context ctx(cpp_options(On::host));
    const gpumem::dist dist({ctx}, options);
    const std::int64_t lower = rank == 0 ? 0 : 1717, upper = rank == 0 ? 1717 : 5000;
    const dist_layout<float> mine({5000}, {{{lower}, {upper}}}), whole({5000}, {{{0}, {5000}}});
    const auto part = gpumem::host_view(x).subview(lower, upper - lower);
    const auto plan = dist.plan_reduce(mine);
    const auto place = static_cast<std::size_t>(rank);
    sums[place] = plan.reduce(reduce_op::sum, part);
    norms[place] = plan.nrm2(part);
    gathered[place].resize(5000);
    dist.plan_redistribute(mine, whole).execute(part, gathered[place]);
    EXPECT_EQ(dist.query().first_member, rank);
  };
  std::thread peer(process, 1);
  process(0);
  peer.join();
  const gpumem::context ctx(cpp_options(On::host));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(sums[rank], ctx.reduce(reduce_op::sum, x));
    EXPECT_EQ(norms[rank], ctx.nrm2(x));
    EXPECT_EQ(gathered[rank], x);
  }
}

// Found by the binding before the library is called. The other process learns of it at once, as of the library's refusals: they go on
// after plans and reductions that send no elements, and else the connection is lost.
void make_mistakes(Mesh& mesh, int rank, int last) {
  const auto x = tenths<float>(10);
  SocketTransport sockets(mesh, rank);
  gpumem::dist_transport transport;
  static_cast<gpumem_dist_transport&>(transport) = sockets.table();
  gpumem::dist_options options;
  options.transport = &transport;
  options.deadline_s = 30;
  const gpumem::context ctx(cpp_options(On::host));
  const gpumem::dist dist({ctx}, options);
  const std::int64_t lower = rank * 5, upper = lower + 5;
  const dist_layout<float> mine({10}, {{{lower}, {upper}}}), whole({10}, {{{0}, {10}}});
  const auto sums = dist.plan_reduce(mine);
  const auto move = dist.plan_redistribute(mine, whole);
  std::vector<float> part(x.begin() + lower, x.begin() + upper), all(10);
  const auto refused = status::invalid_argument;
  for (int culprit = 0; culprit < 2; ++culprit) {
    auto some = part;
    if (rank == culprit) some.pop_back();
    EXPECT_EQ(sums.attempt().reduce(reduce_op::max, some).code(), refused);
    EXPECT_EQ(sums.attempt().min_max(some).code(), refused);
    EXPECT_EQ(sums.attempt().argreduce(reduce_op::max, some).code(), refused);
    const std::vector<std::int64_t> low(rank == culprit ? 2 : 1);
    EXPECT_EQ(dist.attempt().plan_halo(mine, low, {0}, {0}).code(), refused);
  }
  EXPECT_EQ(sums.reduce(reduce_op::max, part), ctx.reduce(reduce_op::max, x));
  if (rank == 1) part.pop_back();
  const status found = last == 0   ? sums.attempt().reduce(reduce_op::sum, part).code()
                       : last == 1 ? sums.attempt().dot(part, part).code()
                       : last == 2 ? sums.attempt().nrm2(part).code()
                                   : move.attempt().execute(part, all).code();
  EXPECT_TRUE(found == refused || (rank == 0 && found == status::peer_lost)) << last << ' ' << static_cast<int>(found);
}

TEST(CppDistTransport, MistakesOfOneProcessAreToldToTheOther) {
  const auto start = std::chrono::steady_clock::now();
  for (int last = 0; last < 4; ++last) {
    Mesh mesh(2);
    std::thread peer([&] { make_mistakes(mesh, 1, last); });
    make_mistakes(mesh, 0, last);
    peer.join();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(25));
}

}  // namespace

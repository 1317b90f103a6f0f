// Every mistake in carrying out a plan: its status, a sentence that names the argument, and nothing written.
#include <gtest/gtest.h>

#include <array>

#include "dist/two_members.hpp"

namespace gpumem_test {
namespace {

class DistExecute : public TwoMembers {};

TEST_P(DistExecute, Execute) {
  const Plan plan = make_redistribution(), halo = make_halo(), sum = make_reduction();
  Bytes from(2 * 48, 1), to(2 * 48, 2), wide(2 * 128, 3);
  const void* const src[] = {from.data(), from.data() + 48};
  void* const dst[] = {to.data(), to.data() + 48};
  const void* const with_halo[] = {wide.data(), wide.data() + 128};
  EXPECT_TRUE(refused(kBad, gpumem_dist_execute(nullptr, src, dst), {"plan", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_execute(sum.get(), src, dst), {"plan"}));
  EXPECT_EQ(to, Bytes(2 * 48, 2));
  EXPECT_EQ(wide, Bytes(2 * 128, 3));
  EXPECT_EQ(info_of(dist_.get()).status, GPUMEM_OK);
  EXPECT_TRUE(ok(gpumem_dist_execute(plan.get(), src, dst)));
  EXPECT_TRUE(ok(gpumem_dist_execute(halo.get(), with_halo, nullptr)));
}

// What is wrong with pointers may be the end of a dist, so that each has one of its own.
TEST_P(DistExecute, ExecuteWithBadPointers) {
  Bytes from(2 * 48, 1), to(2 * 48, 2), wide(2 * 128, 3);
  int number = 0;
  const auto bad = [&](gpumem_status status, std::initializer_list<std::string> words,
                       const std::function<Plan()>& make, const std::array<const void*, 2>& src,
                       const std::array<void*, 2>& dst) {
    SCOPED_TRACE("case " + std::to_string(++number));
    {
      const Plan plan = make();
      EXPECT_TRUE(refused(status, gpumem_dist_execute(plan.get(), src.data(), dst.data()), words));
    }
    EXPECT_EQ(from, Bytes(2 * 48, 1));
    EXPECT_EQ(to, Bytes(2 * 48, 2));
    EXPECT_EQ(wide, Bytes(2 * 128, 3));
    to.assign(2 * 48, 2);
    from.assign(2 * 48, 1);
    dist_.reset();
    dist_ = make_dist(part_);
  };
  const void* const src[] = {from.data(), from.data() + 48};
  void* const dst[] = {to.data(), to.data() + 48};
  const auto move = [&] { return make_redistribution(); };
  {
    const Plan plan = make_redistribution();
    EXPECT_TRUE(refused(kBad, gpumem_dist_execute(plan.get(), nullptr, dst), {"src", "NULL"}));
  }
  dist_.reset();
  dist_ = make_dist(part_);
  {
    const Plan plan = make_redistribution();
    EXPECT_TRUE(refused(kBad, gpumem_dist_execute(plan.get(), src, nullptr), {"dst", "NULL"}));
  }
  dist_.reset();
  dist_ = make_dist(part_);
  bad(kBad, {"src", "1", "NULL"}, move, {src[0], nullptr}, {dst[0], dst[1]});
  bad(kBad, {"dst", "0", "NULL"}, move, {src[0], src[1]}, {nullptr, dst[1]});
  // What is written is what a member reads: itself, or the other.
  bad(kBad, {"src", "dst"}, move, {src[0], src[1]}, {from.data() + 4, dst[1]});
  bad(kBad, {"src", "dst"}, move, {src[0], src[1]}, {dst[0], from.data() + 4});
  bad(kBad, {"dst"}, [&] { return make_halo(); }, {wide.data(), wide.data() + 128}, {dst[0], dst[1]});
  const Memory small(other_, GPUMEM_MEMORY_PINNED, 40);
  bad(GPUMEM_OUT_OF_RANGE, {"src", "1"}, move, {src[0], small.get()}, {dst[0], dst[1]});
  bad(GPUMEM_OUT_OF_RANGE, {"dst", "1"}, move, {src[0], src[1]}, {dst[0], small.get()});
  bad(GPUMEM_INVALID_POINTER, {"src", "0"}, move, {reinterpret_cast<const void*>(0x10), src[1]}, {dst[0], dst[1]});
}

TEST_P(DistExecute, Reduce) {
  const Plan move = make_redistribution();
  Plan plan = make_reduction();
  const std::vector<float> numbers(24, 1.0f);
  const void* const x[] = {numbers.data(), numbers.data() + 12};
  const void* const hole[] = {numbers.data(), nullptr};
  double result = 42;
  int64_t index = 42;
  const auto sum = [&](gpumem_dist_plan* p, gpumem_dtype dtype, gpumem_reduce_op op) {
    return gpumem_dist_reduce(p, dtype, op, x, &result);
  };
  EXPECT_TRUE(refused(kBad, sum(nullptr, GPUMEM_F32, GPUMEM_SUM), {"plan", "NULL"}));
  EXPECT_TRUE(refused(kBad, sum(move.get(), GPUMEM_F32, GPUMEM_SUM), {"plan"}));
  EXPECT_TRUE(refused(kBad, sum(plan.get(), GPUMEM_F64, GPUMEM_SUM), {"dtype", "4"})) << "elements of 4 bytes";
  for (const gpumem_dtype dtype : {-1, 12, INT32_MAX}) {
    EXPECT_TRUE(refused(kBad, sum(plan.get(), dtype, GPUMEM_SUM), {"dtype", std::to_string(dtype)}));
  }
  for (const gpumem_reduce_op op : {-1, 9, 10, 15, 16, 18, 26, 30, 31, INT32_MAX}) {
    EXPECT_TRUE(refused(kBad, sum(plan.get(), GPUMEM_F32, op), {"op", std::to_string(op)}));
  }
  EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, sum(plan.get(), GPUMEM_F32, GPUMEM_SUM_COMPENSATED)));
  for (const gpumem_reduce_op op : {int32_t{GPUMEM_SUM}, int32_t{GPUMEM_MIN_MAX}, int32_t{GPUMEM_ARG_MIN}, 99}) {
    EXPECT_TRUE(refused(kBad, gpumem_dist_argreduce(plan.get(), GPUMEM_F32, op, x, &result, &index),
                        {"op", std::to_string(op)}));
  }
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_U32}) {
    const gpumem_status dot = gpumem_dist_dot(plan.get(), dtype, x, x, &result);
    EXPECT_TRUE(dot == GPUMEM_UNSUPPORTED || dot == kBad) << gpumem_status_name(dot);
    const gpumem_status nrm2 = gpumem_dist_nrm2(plan.get(), dtype, x, &result);
    EXPECT_TRUE(nrm2 == GPUMEM_UNSUPPORTED || nrm2 == kBad) << gpumem_status_name(nrm2);
  }
  EXPECT_TRUE(refused(kBad, gpumem_dist_dot(plan.get(), GPUMEM_F64, x, x, &result), {"dtype"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, x, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(
      refused(kBad, gpumem_dist_argreduce(plan.get(), GPUMEM_F32, GPUMEM_MAX, x, &result, nullptr), {"index", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_dot(plan.get(), GPUMEM_F32, x, x, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_nrm2(plan.get(), GPUMEM_F32, x, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(ok(sum(plan.get(), GPUMEM_F32, GPUMEM_SUM))) << "none of this is the end of it";
  EXPECT_EQ(result, 24);
  result = 42;
  const auto ends = [&](std::initializer_list<std::string> words, const auto& call, gpumem_status status = kBad) {
    EXPECT_TRUE(refused(status, call(), words));
    EXPECT_EQ(result, 42);
    plan.reset();
    dist_.reset();
    dist_ = make_dist(part_);
    plan = make_reduction();
  };
  plan.reset();
  const_cast<Plan&>(move).reset();
  plan = make_reduction();
  ends({"x", "NULL"}, [&] { return gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, nullptr, &result); });
  ends({"x", "1", "NULL"}, [&] { return gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, hole, &result); });
  ends({"y", "NULL"}, [&] { return gpumem_dist_dot(plan.get(), GPUMEM_F32, x, nullptr, &result); });
  ends({"y", "1", "NULL"}, [&] { return gpumem_dist_dot(plan.get(), GPUMEM_F32, x, hole, &result); });
  ends({"x", "1", "NULL"},
       [&] { return gpumem_dist_argreduce(plan.get(), GPUMEM_F32, GPUMEM_MAX, hole, &result, &index); });
  ends({"x", "1", "NULL"}, [&] { return gpumem_dist_nrm2(plan.get(), GPUMEM_F32, hole, &result); });
  // As its argument is called, not as one of the operations inside.
  const Memory small(other_, GPUMEM_MEMORY_PINNED, 40);
  const void* const beyond[] = {numbers.data(), small.get()};
  ends(
      {"x[1]", "48", "40"}, [&] { return gpumem_dist_reduce(plan.get(), GPUMEM_F32, GPUMEM_SUM, beyond, &result); },
      GPUMEM_OUT_OF_RANGE);
  ends(
      {"y[1]", "48", "40"}, [&] { return gpumem_dist_dot(plan.get(), GPUMEM_F32, x, beyond, &result); },
      GPUMEM_OUT_OF_RANGE);
}

INSTANTIATE_TEST_SUITE_P(On, DistExecute, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test

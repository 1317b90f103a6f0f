// A gpumem_dist of two members, with layouts and plans to make mistakes with.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "dist/members.hpp"

namespace gpumem_test {

inline constexpr auto kBad = GPUMEM_INVALID_ARGUMENT;

template <class Handle>
Handle* no_handle() {
  static int64_t garbage[64] = {};
  return reinterpret_cast<Handle*>(garbage);
}

// Two members, and two slabs of rows of one array of 4 x 6 elements of 4 bytes.
class TwoMembers : public OnEachContext {
 protected:
  TwoMembers() {
    part_ = {{ctx, other_}, 0, 2};
    dist_ = make_dist(part_);
  }
  void TearDown() override {
    dist_.reset();
    OnEachContext::TearDown();
  }

  static Layout two_slabs() {
    Layout layout{4, {4, 6}, {{0, {0, 0}, {2, 6}, 0, {6, 1}}, {1, {2, 0}, {4, 6}, 0, {6, 1}}}};
    layout.spelled_out = true;
    return layout;
  }
  static Layout two_columns() {
    Layout layout{4, {4, 6}, {{0, {0, 0}, {4, 3}, 0, {3, 1}}, {1, {0, 3}, {4, 6}, 0, {3, 1}}}};
    layout.spelled_out = true;
    return layout;
  }

  // A plan that is refused leaves NULL, and the dist as it was.
  template <class Make>
  void expect_refused(gpumem_status status, std::initializer_list<std::string> words, Make make) {
    auto* plan = no_handle<gpumem_dist_plan>();
    const gpumem_status got = make(&plan);
    EXPECT_TRUE(refused(status, got, words));
    EXPECT_EQ(plan, nullptr);
    EXPECT_TRUE(got != GPUMEM_OK || ok(gpumem_dist_plan_destroy(plan)));
    EXPECT_EQ(info_of(dist_.get()).status, GPUMEM_OK);
  }
  gpumem_status redistribute(const gpumem_dist_layout* src, const gpumem_dist_layout* dst, gpumem_dist_plan** plan,
                             const int32_t* order = nullptr, const gpumem_dist_plan_options* options = nullptr) {
    return gpumem_dist_plan_redistribute(dist_.get(), src, dst, order, options, plan);
  }
  gpumem_status halo(const gpumem_dist_layout* layout, gpumem_dist_plan** plan) {
    return gpumem_dist_plan_halo(dist_.get(), layout, kOnes, kOnes, kEnds, nullptr, plan);
  }
  gpumem_status reduce(const gpumem_dist_layout* layout, gpumem_dist_plan** plan) {
    return gpumem_dist_plan_reduce(dist_.get(), layout, nullptr, plan);
  }

  // A mistake in a layout, as each function that takes one says it.
  void expect_layout_refused(std::initializer_list<std::string> words,
                             const std::function<void(gpumem_dist_layout&)>& mistake) {
    const Layout sound = two_slabs();
    View good(sound, 0, 2), bad(sound, 0, 2);
    mistake(bad.raw);
    expect_refused(kBad, words, [&](auto plan) { return redistribute(&bad.raw, &good.raw, plan); });
    expect_refused(kBad, words, [&](auto plan) { return redistribute(&good.raw, &bad.raw, plan); });
    expect_refused(kBad, words, [&](auto plan) { return halo(&bad.raw, plan); });
    expect_refused(kBad, words, [&](auto plan) { return reduce(&bad.raw, plan); });
  }

  Plan make_redistribution() {
    const Layout from = two_slabs(), to = two_columns();
    const View src(from, 0, 2), dst(to, 0, 2);
    gpumem_dist_plan* plan = nullptr;
    EXPECT_TRUE(ok(redistribute(&src.raw, &dst.raw, &plan)));
    return Plan(plan);
  }
  Plan make_halo() {
    Layout layout = two_slabs();
    for (Box& box : layout.boxes) box = {box.member, box.lower, box.upper, 9, {8, 1}};
    const View view(layout, 0, 2);
    gpumem_dist_plan* plan = nullptr;
    EXPECT_TRUE(ok(halo(&view.raw, &plan)));
    return Plan(plan);
  }
  Plan make_reduction() {
    const Layout layout = two_slabs();
    const View view(layout, 0, 2);
    gpumem_dist_plan* plan = nullptr;
    EXPECT_TRUE(ok(reduce(&view.raw, &plan)));
    return Plan(plan);
  }

  static constexpr int64_t kOnes[] = {1, 1};
  static constexpr int32_t kEnds[] = {0, 0};
  Context other_{On::host, 1};
  Part part_;
  Dist dist_;
};

}  // namespace gpumem_test

#include "ops/placement.hpp"

#include <gtest/gtest.h>

namespace gpumem {
namespace {

Operand of(gpumem_memory_kind kind) { return {kind, 0, false, false, 0, 0}; }

constexpr gpumem_memory_kind kKinds[] = {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE,
                                         GPUMEM_MEMORY_MANAGED};
bool on_device(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_DEVICE || kind == GPUMEM_MEMORY_MANAGED; }

TEST(Placement, OneOperandRunsWhereItLies) {
  for (const auto kind : kKinds) {
    const Placement p = place(true, of(kind));
    EXPECT_EQ(p.space, on_device(kind) ? ExecutionSpace::cuda : ExecutionSpace::host) << kind;
    EXPECT_FALSE(p.stage_src);
    EXPECT_STRNE(p.reason, "");
  }
}

TEST(Placement, TwoOperandsRunWhereDstLies) {
  for (const auto src : kKinds) {
    for (const auto dst : kKinds) {
      const Placement p = place(true, of(src), of(dst));
      EXPECT_EQ(p.space, on_device(dst) ? ExecutionSpace::cuda : ExecutionSpace::host) << src << ' ' << dst;
      EXPECT_EQ(p.stage_src, on_device(src) != on_device(dst)) << src << ' ' << dst;
      EXPECT_STRNE(p.reason, "");
    }
  }
}

TEST(Placement, AcrossTheLinkTheDeviceWorks) {
  for (const auto src : kKinds) {
    for (const auto dst : kKinds) {
      const Placement p = place_across(true, of(src), of(dst));
      EXPECT_EQ(p.space, on_device(src) || on_device(dst) ? ExecutionSpace::cuda : ExecutionSpace::host)
          << src << ' ' << dst;
      EXPECT_EQ(p.stage_src, !on_device(src) && on_device(dst)) << src << ' ' << dst;
      EXPECT_EQ(p.bring_dst, on_device(src) && !on_device(dst)) << src << ' ' << dst;
      const auto moved = on_device(src) ? dst : src;
      const bool heap = (p.stage_src || p.bring_dst) && moved == GPUMEM_MEMORY_PAGEABLE;
      EXPECT_EQ(p.host_side == HostSide::pageable, heap) << src << ' ' << dst;
      EXPECT_STRNE(p.reason, "");
      EXPECT_EQ(place_across(false, of(src), of(dst)).space, ExecutionSpace::host);
      EXPECT_FALSE(place_across(false, of(src), of(dst)).bring_dst);
    }
  }
}

TEST(Placement, CopiesBetweenTwoMemoriesAreAcross) {
  constexpr int32_t kOwn = 0;
  for (const auto src : kKinds) {
    for (const auto dst : kKinds) {
      const Placement p = place_copy(true, kOwn, of(src), of(dst));
      EXPECT_EQ(p.across, on_device(src) != on_device(dst) ? Across::link : Across::nothing) << src << ' ' << dst;
      const bool heap = src == GPUMEM_MEMORY_PAGEABLE || dst == GPUMEM_MEMORY_PAGEABLE;
      EXPECT_EQ(p.host_side == HostSide::pageable, p.across == Across::link && heap) << src << ' ' << dst;
      EXPECT_EQ(p.space == ExecutionSpace::host, !on_device(src) && !on_device(dst)) << src << ' ' << dst;
      EXPECT_FALSE(p.stage_src);
      EXPECT_EQ(place_copy(false, GPUMEM_DEVICE_HOST, of(src), of(dst)).across, Across::nothing);
      Operand elsewhere = of(GPUMEM_MEMORY_DEVICE);
      elsewhere.device = 1;
      EXPECT_EQ(place_copy(true, kOwn, elsewhere, of(dst)).across, on_device(dst) ? Across::devices : Across::link);
      EXPECT_EQ(place_copy(true, kOwn, of(src), elsewhere).space, ExecutionSpace::cuda);
    }
  }
}

TEST(Placement, HostContextRunsEverythingOnTheHost) {
  for (const auto src : kKinds) {
    EXPECT_EQ(place(false, of(src)).space, ExecutionSpace::host);
    for (const auto dst : kKinds) {
      EXPECT_EQ(place(false, of(src), of(dst)).space, ExecutionSpace::host);
      EXPECT_FALSE(place(false, of(src), of(dst)).stage_src);
    }
  }
}

}  // namespace
}  // namespace gpumem

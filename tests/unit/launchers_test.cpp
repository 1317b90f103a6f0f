// The launcher arrays against the tables: same variants, same order.
#include "backend/launchers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "select/variants.hpp"

namespace gpumem {
namespace {

template <class Family>
std::vector<std::string> rows_of(Runs runs) {
  std::vector<std::string> names;
  for (const auto& row : Family::table()) {
    if (row.runs == runs) names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> strings(const std::vector<const char*>& names) { return {names.begin(), names.end()}; }

void expect_same(const LauncherNames& launchers, Runs runs) {
  Families::for_each(
      [&]<class Family>() { EXPECT_EQ(strings(launchers.at(Family::id)), rows_of<Family>(runs)) << Family::name; });
}

TEST(Launchers, OfTheHostStandInTableOrder) { expect_same(host_launcher_names(), Runs::host); }

TEST(Launchers, OfCudaStandInTableOrder) {
#if defined(GPUMEM_HAS_CUDA)
  expect_same(cuda_launcher_names(), Runs::cuda);
#else
  GTEST_SKIP() << "a host-only build has no CUDA launchers";
#endif
}

TEST(Launchers, RowOfBackendCountsOnlyItsOwn) {
  const auto table = ReduceFamily::table();
  int32_t of_cuda = 0;
  int32_t of_host = 0;
  for (int32_t row = 0; row < static_cast<int32_t>(table.size()); ++row) {
    EXPECT_EQ(row_of_backend(table, row), table[row].runs == Runs::cuda ? of_cuda++ : of_host++);
  }
}

}  // namespace
}  // namespace gpumem

// The rows of the tables have what their backend executes.

#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

#include "backend/backend.hpp"
#include "backend/host/implementations.hpp"
#include "kernels/families.hpp"

namespace gpumem {
namespace {

// Threads of the host and copies by the driver: src/ops/copy/ring_copy.cpp.
bool moved_by_the_operation(gpumem_family family, std::string_view name) {
  return family == GPUMEM_FAMILY_COPY && name == "rings";
}

// By a row of another operation, which has no function either where there is no CUDA.
bool delegated(gpumem_family family, std::string_view name) {
  return family == GPUMEM_FAMILY_PERMUTE && name == "transpose";
}

TEST(Implementations, OfTheHostHaveAFunctionEach) {
  Families::for_each([]<class Family>() {
    for (const auto& row : Family::table()) {
      if constexpr (std::is_pointer_v<typename Executes<typename Family::Params>::Host>) {
        EXPECT_EQ(row.execute.host != nullptr, row.space == ExecutionSpace::host) << Family::name << ' ' << row.name;
      }
    }
  });
}

TEST(Implementations, OfCudaHaveAFunctionEachWhereThereIsCuda) {
  const bool cuda = cuda_devices().status != GPUMEM_NOT_BUILT;
  Families::for_each([cuda]<class Family>() {
    for (const auto& row : Family::table()) {
      const bool executed = row.space == ExecutionSpace::cuda && !moved_by_the_operation(Family::id, row.name);
      const bool has = cuda || delegated(Family::id, row.name);
      EXPECT_EQ(row.execute.gpu != nullptr, has && executed) << Family::name << ' ' << row.name;
    }
  });
}

TEST(Implementations, AreFoundByName) {
  EXPECT_STREQ(implementation<CopyFamily>("rings").name, "rings");
  EXPECT_EQ(&implementation<ConvertFamily>("vec16"), &ConvertFamily::table()[0]);
}

}  // namespace
}  // namespace gpumem

// Tuning over the golden problems, on the device that is there: what it adopts is no slower than the table's choice, and from a table
// that is the other way round it comes back to what the table would have taken, or to a row as fast.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "context/context.hpp"
#include "context/process.hpp"
#include "gpumem.h"
#include "ops/call_work.hpp"
#include "ops/problem_line.hpp"
#include "ops/tune.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;  // the reference is the host's
constexpr double kNoise = 1.05;                   // of two medians that were not taken side by side
constexpr double kShort = 1e-6;                   // seconds: a clock of the device ticks every half microsecond or so

// Of every recorded GPU: each problem once.
std::vector<std::string> golden_problems() {
  std::ifstream file(GPUMEM_DECISIONS);
  std::set<std::string> seen;
  std::vector<std::string> problems;
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] == '#' || line.compare(0, 4, "host") == 0) continue;
    std::string problem = line.substr(space + 1, line.find(" -> ") - space - 1);
    if (seen.insert(problem).second) problems.push_back(std::move(problem));
  }
  return problems;
}

// What a call takes after that.
double time_of(const TuneResult& result) { return result.adopted ? result.winner_s : result.table_s; }

struct Grid : testing::Test {
  Grid() {  // the current CUDA device, else the first one, else the host
    if (gpumem_ctx_create(nullptr, &handle) != GPUMEM_OK) return;
    context = &object_of<Context>(reinterpret_cast<uintptr_t>(handle), HandleType::context, "ctx");
  }
  ~Grid() override { gpumem_ctx_destroy(handle); }

  gpumem_ctx* handle = nullptr;
  Context* context = nullptr;
};

TEST_F(Grid, TunedIsNoSlowerThanTheTableAndAReversedTableIsPutRight) {
  ASSERT_NE(context, nullptr);
  if (!context->on_cuda()) GTEST_SKIP() << "no CUDA device";
  int tuned = 0, adopted = 0, passed = 0;
  for (const std::string& line : golden_problems()) {
    TuneResult table, back;
    try {
      if (work_of(parse_line(line)).bytes > kMostBytes) continue;
      table = tune(*context, line, {.budget_s = 0.2});
      back = tune(*context, line, {.budget_s = 0.2, .reversed = true});
      // By more than the samples are apart, which tuning does not adopt; and what was slow once must be so again.
      const auto lost = [&] {
        return time_of(back) > time_of(table) * (kNoise + 2 * std::max(table.spread, back.spread)) + kShort;
      };
      if (table.candidates > 0 && lost()) back = tune(*context, line, {.budget_s = 1, .reversed = true});
      if (table.adopted) {
        const TuneResult again = tune(*context, line, {.budget_s = 1});
        EXPECT_TRUE(again.ratio() >= 1 / kNoise) << line << ": " << again.winner << ' ' << again.ratio();
      }
      if (table.candidates == 0) continue;
      ++tuned;
      adopted += table.adopted ? 1 : 0;
      EXPECT_FALSE(lost()) << line << ": " << back.reason << ", " << time_of(back) * 1e6 << " us, the table's "
                           << table.table << ' ' << time_of(table) * 1e6;
      std::printf("%s\n  %s %.2f us, best other %s %.3f%s; reversed %s to %s %.2f us\n", line.c_str(), table.table,
                  table.table_s * 1e6, table.winner, table.ratio(), table.adopted ? " adopted" : "", back.table,
                  back.adopted ? back.winner : back.table, time_of(back) * 1e6);
    } catch (const Error& error) {
      if (error.status() != GPUMEM_UNSUPPORTED) ADD_FAILURE() << line << ": " << error.what();
      ++passed;  // of another device's problems
      std::printf("%s\n  not here: %s\n", line.c_str(), error.what());
    }
  }
  std::printf("%d problems tuned, %d adopted another row, %d not for this device\n", tuned, adopted, passed);
  EXPECT_GT(tuned, 50);
}

}  // namespace
}  // namespace gpumem

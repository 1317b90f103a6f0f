// What the conformance tests share: blocks of memory that the cases use one after another, and the proof of which
// variant ran.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cases.hpp"
#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"

namespace gpumem_test {

inline bool of_device(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_DEVICE || kind == GPUMEM_MEMORY_MANAGED; }

// One block a kind of memory and role, made larger when a case needs more: a block for each case would mostly measure
// how fast a driver allocates.
class Blocks {
 public:
  explicit Blocks(gpumem_ctx* ctx) : ctx_(ctx) {}

  GuardedBuffer buffer(int role, gpumem_memory_kind kind, size_t bytes, size_t offset) {
    const size_t needed = GuardedBuffer::block_bytes(bytes, offset);
    Block& block = blocks_[{role, kind}];
    if (block.bytes < needed) {
      block.memory.reset();
      block.memory = std::make_unique<Memory>(ctx_, kind, static_cast<int64_t>(2 * needed));
      block.bytes = 2 * needed;
    }
    return GuardedBuffer(ctx_, kind, block.memory->bytes(), bytes, offset);
  }

 private:
  struct Block {
    size_t bytes = 0;
    std::unique_ptr<Memory> memory;
  };
  gpumem_ctx* ctx_;
  std::map<std::pair<int, gpumem_memory_kind>, Block> blocks_;
};

// Runs each case with every variant of a family, and keeps account of which of them accepted some.
class EveryVariant {
 public:
  EveryVariant(gpumem_ctx* ctx, gpumem_family family) : ctx_(ctx), family_(family), names_(variant_names(family)) {}
  ~EveryVariant() { EXPECT_TRUE(ok(gpumem_variant_force(ctx_, family_, nullptr))); }
  EveryVariant(const EveryVariant&) = delete;
  EveryVariant& operator=(const EveryVariant&) = delete;

  // Calls run(accepted, name) with no variant forced, then with each; none is when it returns. Where the explanation of the
  // problem says that the variant does not fit, the calls must be refused too.
  template <class Run>
  void for_each(const std::string& line, bool empty, Run run) {
    ASSERT_TRUE(ok(gpumem_variant_force(ctx_, family_, nullptr)));
    Explained choice;
    if (!empty) {
      ASSERT_TRUE(ok(explain(ctx_, line, choice)));
    }
    run(true, "no variant forced");
    for (const std::string& name : names_) {
      ASSERT_TRUE(ok(gpumem_variant_force(ctx_, family_, name.c_str())));
      run(empty || accepts(line, name, choice), name.c_str());
    }
    ASSERT_TRUE(ok(gpumem_variant_force(ctx_, family_, nullptr)));
  }

  void note_accepted(const std::string& name) { ++accepted_[name]; }

  // Each variant that runs on such a context was accepted by some case. The names of the host's begin with "host_".
  void expect_all_used(bool on_cuda, const std::set<std::string>& of_other_tests = {}) const {
    size_t used = 0;
    for (const std::string& name : names_) {
      if (of_other_tests.count(name) != 0) continue;
      const auto count = accepted_.find(name);
      const bool accepted = count != accepted_.end();
      const bool runs_here = on_cuda || name.rfind("host_", 0) == 0;
      EXPECT_EQ(accepted, runs_here) << name << (accepted ? " was accepted" : " was never accepted");
      used += accepted ? 1 : 0;
      std::printf("%-20s %8lld cases\n", name.c_str(), accepted ? static_cast<long long>(count->second) : 0LL);
    }
    EXPECT_GE(used, 2u);
  }

 private:
  bool accepts(const std::string& line, const std::string& name, const Explained& choice) {
    const auto passed_over = choice.not_taken.find(name);
    const std::string reason = passed_over == choice.not_taken.end() ? "" : passed_over->second;
    Explained forced;
    const gpumem_status status = explain(ctx_, line, forced);
    if (status == GPUMEM_OK) {
      EXPECT_EQ(forced.variant, name) << "the forced variant is not the one in use";
      ++accepted_[name];
      if (name != choice.variant) reasons_of_fitting_.insert(reason);
      return true;
    }
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {name}));
    EXPECT_NE(name, choice.variant) << "what the table chose does not fit when it is forced";
    EXPECT_NE(reason, "") << name << " does not fit, and the explanation gives no reason";
    EXPECT_EQ(reasons_of_fitting_.count(reason), 0u)
        << name << " does not fit, for a reason given to some that do: " << reason;
    return false;
  }

  gpumem_ctx* ctx_;
  gpumem_family family_;
  std::vector<std::string> names_;
  std::map<std::string, int64_t> accepted_;
  std::set<std::string> reasons_of_fitting_;
};

class Conformance : public OnEachContext {
 protected:
  void SetUp() override { test_seed(); }  // printed, so that a failure can be had again
  void TearDown() override {}             // no count of what is left: the blocks still live

  // After so many failures the rest says nothing new.
  static bool enough() {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 30;
  }

  Blocks blocks{ctx};
};

}  // namespace gpumem_test

// A context of the binding on each kind of device that is here.
#pragma once

#include <gtest/gtest.h>
#include <gpumem.hpp>

#include <numeric>
#include <vector>

#include "support/contexts.hpp"

namespace gpumem_test {

inline gpumem::context_options cpp_options(On on) {
  gpumem::context_options options;
  options.device = on == On::host ? gpumem::device_host : gpumem::device_cuda;
  return options;
}

class CppOnEachContext : public testing::TestWithParam<On> {
 protected:
  void TearDown() override {
    const gpumem::memory_stats stats = ctx.memory_stats();
    EXPECT_EQ(stats.device_blocks + stats.pinned_blocks + stats.managed_blocks, 0) << "the test left memory behind";
  }

  gpumem::context ctx{cpp_options(GetParam())};
};

template <class T>
std::vector<T> counting(std::size_t size, T first = T{1}) {
  std::vector<T> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// What a call throws: a status, and a sentence with a word in it.
template <class F>
testing::AssertionResult throws(gpumem::status code, const std::string& word, F call) {
  try {
    call();
  } catch (const gpumem::error& e) {
    if (e.code() == code && std::string(e.what()).find(word) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "threw " << gpumem::status_name(e.code()) << ": " << e.what();
  }
  return testing::AssertionFailure() << "threw nothing";
}

}  // namespace gpumem_test

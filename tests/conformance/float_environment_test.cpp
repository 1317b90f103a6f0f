// Programs that turned subnormals off, round upwards or trap on floating-point exceptions: the same bits, and their
// environment is after a call what it was before.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/bit_cases.hpp"
#include "support/lines.hpp"
#include "support/odd_environments.hpp"

namespace gpumem_test {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// What one call gave, to be looked at in the normal environment.
struct Given {
  gpumem_status status = -1;
  uint64_t words[2] = {kUntouched, kUntouched};
  unsigned control = 0;
};

// A few a test and environment: the rest would say nothing new.
bool told_enough(const Environment& environment) {
  static std::map<std::pair<const void*, const void*>, int> told;
  return ++told[{testing::UnitTest::GetInstance()->current_test_info(), environment.name}] > 8;
}

void expect_given(const Outcome& expected, gpumem_reduce_op op, const Given& given, const Environment& environment,
                  const std::string& what) {
  const bool right = given.status == expected.status && given.control == environment.control &&
                     std::equal(given.words, given.words + words_of(op), expected.words);
  if (!right && told_enough(environment)) return;
  EXPECT_TRUE(gives(expected.status, given.status)) << what;
  for (int i = 0; i < 2; ++i) {
    const uint64_t word = i < words_of(op) && expected.status == GPUMEM_OK ? expected.words[i] : kUntouched;
    EXPECT_EQ(hex(given.words[i]), hex(word)) << environment.name << ", " << what;
  }
  EXPECT_EQ(given.control, environment.control) << environment.name << ": the environment changed, " << what;
}

struct Data {
  Reduction reduction;
  Bytes x;
  Bytes y;
  Outcome expected;
};

// Sums and minima of subnormals, cancellations, everything that rounding or flushing would change.
std::vector<std::unique_ptr<Data>> data_of(uint64_t stream) {
  std::vector<std::unique_ptr<Data>> all;
  Random random(stream);
  for (const gpumem_dtype dtype : kFloatingTypes) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(dtype, op)) continue;
      for (const Numbers numbers : {Numbers::full, Numbers::extreme, Numbers::medium}) {
        const int64_t n = quick_run() ? 3000 : log_uniform(2, 200000, random);
        auto d = std::make_unique<Data>();
        d->x = random_elements(dtype, numbers, n, 1, random);
        if (numbers == Numbers::extreme) {
          // Subnormals alone, which all are one number where they are flushed.
          for (int64_t i = 0; i < n; ++i) {
            put(dtype, d->x, i, numbers::assemble(info_of(dtype), i % 3 == 0, 0, 1 + random.bits()));
          }
        }
        // Signalling NaN among them, which a conversion between types would trap on.
        if (numbers == Numbers::full) add_specials(dtype, d->x, n, 1, random);
        d->y = random_elements(dtype, Numbers::full, n, 1, random);
        d->reduction = {dtype, op, d->x.data(), n, 1, d->y.data(), 1};
        d->expected = reference(d->reduction);
        all.push_back(std::move(d));
      }
    }
  }
  return all;
}

class FloatEnvironment : public Conformance {};

TEST_P(FloatEnvironment, OfTheCallerChangesNothingAndIsKept) {
  const auto all = data_of(31);
  for (const Environment& environment : kEnvironments) {
    for (const auto& d : all) {
      Given given;
      given.control = in(environment, [&] { given.status = run(ctx, d->reduction, given.words); });
      expect_given(d->expected, d->reduction.op, given, environment, describe(d->reduction));
    }
  }
}

TEST_P(FloatEnvironment, OfTheCallerChangesNothingOnTheDeviceOrInAQueue) {
  const auto all = data_of(32);
  for (const Environment& environment : kEnvironments) {
    for (const auto& d : all) {
      GuardedBuffer x(ctx, GPUMEM_MEMORY_MANAGED, d->x.size());
      x.set(d->x.data());
      GuardedBuffer y(ctx, GPUMEM_MEMORY_DEVICE, d->y.size());
      y.set(d->y.data());
      const Memory result(ctx, GPUMEM_MEMORY_PINNED, 16);
      upload(ctx, result.get(), Given().words, 16);
      Reduction r = d->reduction;
      r.x = x.data();
      r.y = y.data();
      Given given;
      given.control = in(environment, [&] {
        given.status = run_async(ctx, r, result.get(), nullptr, nullptr);
        if (given.status == GPUMEM_OK) given.status = gpumem_stream_synchronize(ctx, nullptr);
      });
      std::memcpy(given.words, result.get(), 16);
      if (on_cuda()) given.control &= ~kFlags;  // the driver computes too, and leaves flags
      expect_given(d->expected, d->reduction.op, given, environment, describe(d->reduction) + ", enqueued");
    }
  }
}

// Rows, columns and segments of numbers that flushing would make zero.
TEST_P(FloatEnvironment, OfTheCallerChangesNoLine) {
  Random random(35);
  const std::vector<int64_t> offsets = {0, 7, 7 + 1024, 2000, 3000};
  for (const gpumem_dtype dtype : kFloatingTypes) {
    Bytes x(3000 * info_of(dtype).bytes);
    for (int64_t i = 0; i < 3000; ++i) {
      put(dtype, x, i, numbers::assemble(info_of(dtype), i % 3 == 0, 0, 1 + random.bits()));
    }
    for (const gpumem_reduce_op op : kReduceOps) {
      if (!has(dtype, op)) continue;
      const Axis rows{dtype, op, GPUMEM_AXIS_ROWS, x.data(), 30, 99, 100, 1, 0};
      const Axis cols{dtype, op, GPUMEM_AXIS_COLS, x.data(), 30, 99, 100, 1, 0};
      const Segmented segments{dtype, op, x.data(), 3000, offsets.data(), 4};
      const LinesOutcome expected[] = {reference(rows), reference(cols), reference(segments)};
      for (const Environment& environment : kEnvironments) {
        std::vector<uint64_t> words[3];
        for (int i = 0; i < 3; ++i) words[i].resize(expected[i].words.size());
        gpumem_status status[3] = {};
        unsigned control[3] = {};
        control[0] = in(environment, [&] { status[0] = run(ctx, rows, words[0].data()); });
        control[1] = in(environment, [&] { status[1] = run(ctx, cols, words[1].data()); });
        control[2] = in(environment, [&] { status[2] = run(ctx, segments, words[2].data()); });
        for (int i = 0; i < 3; ++i) {
          const std::string what =
              std::string(environment.name) + ", " + (i == 2 ? describe(segments) : describe(i == 0 ? rows : cols));
          EXPECT_TRUE(ok(status[i])) << what;
          EXPECT_EQ(difference(expected[i], words[i].data(), op), "") << what;
          EXPECT_EQ(control[i], environment.control) << what;
        }
        if (enough()) return;
      }
    }
  }
}

// Threads take their creator's environment with them: here the library's workers start in an odd one.
TEST_P(FloatEnvironment, OfTheCreatorOfTheContextChangesNothing) {
  const auto all = data_of(33);
  const std::vector<float> row = {-1e-40f, 3.0f};
  for (const Environment& environment : kEnvironments) {
    std::vector<Given> given(all.size());
    Given lines;
    const Axis axis{GPUMEM_F32, GPUMEM_MIN, GPUMEM_AXIS_COLS, row.data(), 1, 2, 2, 1, 0};
    unsigned created = 0;
    unsigned destroyed = 0;
    std::thread([&] {
      gpumem_ctx_options options = options_for(GetParam(), 3);
      gpumem_ctx* own = nullptr;
      created = in(environment, [&] { gpumem_ctx_create(&options, &own); });
      for (size_t i = 0; i < all.size(); ++i) {
        given[i].control = in(environment, [&] { given[i].status = run(own, all[i]->reduction, given[i].words); });
      }
      lines.control = in(environment, [&] { lines.status = run(own, axis, lines.words); });
      destroyed = in(environment, [&] { gpumem_ctx_destroy(own); });
    }).join();
    for (size_t i = 0; i < all.size(); ++i) {
      expect_given(all[i]->expected, all[i]->reduction.op, given[i], environment, describe(all[i]->reduction));
    }
    EXPECT_EQ(lines.status, GPUMEM_OK);
    EXPECT_EQ(lines.control, environment.control) << "after " << describe(axis);
    // What creating and destroying may raise is their own matter; what the program has set is not.
    EXPECT_EQ(created & ~kFlags, environment.control);
    EXPECT_EQ(destroyed & ~kFlags, environment.control);
  }
}

INSTANTIATE_TEST_SUITE_P(On, FloatEnvironment, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(FloatEnvironmentOfThePool, ChangesNothingAndIsKept) {
  const auto all = data_of(34);
  for (const Environment& environment : kEnvironments) {
    OddPool pool{environment};
    gpumem_ctx_options options = options_for(On::host, 4);
    options.parallel_for = OddPool::run;
    options.parallel_for_user = &pool;
    const Context ctx(options);
    for (const auto& d : all) {
      EXPECT_TRUE(same(d->expected, outcome_of(ctx, d->reduction)))
          << environment.name << ", " << describe(d->reduction);
    }
    EXPECT_TRUE(pool.kept) << environment.name << ": a task changed the environment of the program's thread";
  }
}

#else

TEST(FloatEnvironment, IsTestedOnX86Alone) { GTEST_SKIP() << "setting it takes x86's MXCSR here"; }

#endif

}  // namespace
}  // namespace gpumem_test

// gpumem_axpby_* in programs that turned subnormals off, round upwards or trap on floating-point exceptions: the same bits, and their
// environment is after a call what it was before.
#include <cstring>
#include <thread>

#include "conformance/conformance.hpp"
#include "support/axpby.hpp"
#include "support/odd_environments.hpp"

namespace gpumem_test {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// Operands in memory of one kind, and what is to become of z.
struct Data {
  Data(gpumem_ctx* ctx, gpumem_memory_kind kind, gpumem_dtype type, int64_t length, uint64_t a, uint64_t b,
       Random& random)
      : x(ctx, kind, static_cast<size_t>(length) * size_of(type)),
        y(ctx, kind, static_cast<size_t>(length) * size_of(type)),
        z(ctx, kind, static_cast<size_t>(length) * size_of(type)),
        before(z.whole_image()),
        call{type, a, x.data(), b, y.data(), z.data(), length} {
    const auto count = static_cast<size_t>(length);
    for (GuardedBuffer* each : {&x, &y}) {
      fill_with_numbers(type, each->whole_image(), GuardedBuffer::kGuard, count, random);
      each->write();
    }
    axpby_reference({type, a, x.image(), b, y.image(), z.image(), length});
    after = z.whole_image();
  }
  void poison() {
    z.whole_image() = before;
    z.write();
  }
  testing::AssertionResult right() {
    z.whole_image() = after;
    return z.intact();
  }

  GuardedBuffer x, y, z;
  Bytes before, after;
  Axpby call;
};

// Two numbers that round, and the smallest number there is: where subnormals are off, a zero.
struct Factors {
  double alpha;
  double beta;
  bool smallest;  // instead of alpha
};
constexpr Factors kFactors[] = {{0.1, -1.3, false}, {1.0, 0.7, false}, {3.3, 0, false}, {0, 0.3, true}, {0, 0, true}};

template <class F>
void for_each_data(gpumem_ctx* ctx, gpumem_memory_kind kind, Random& random, F f) {
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    for (const Factors& factors : kFactors) {
      const bool several_tasks = &factors == kFactors && !quick_run();
      const uint64_t alpha = factors.smallest ? 1 : bits_of(dtype, factors.alpha);
      for (const int64_t n : {int64_t{37}, several_tasks ? int64_t{200000} : int64_t{3000}}) {
        Data data(ctx, kind, dtype, n, alpha, bits_of(dtype, factors.beta), random);
        f(data);
      }
    }
  }
}

// Plain and enqueued.
void expect_right(gpumem_ctx* ctx, bool on_cuda, Data& data, const Environment& environment) {
  for (const bool async : {false, true}) {
    data.poison();
    gpumem_status status = -1;
    unsigned control =
        in(environment, [&] { status = async ? run_async(ctx, data.call, nullptr) : run(ctx, data.call); });
    if (on_cuda) control &= ~kFlags;  // the driver computes too, and leaves flags
    const std::string what = std::string(async ? "enqueued, " : "") + environment.name + ", " + describe(data.call);
    ASSERT_TRUE(ok(status)) << what;
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_TRUE(data.right()) << what;
    EXPECT_EQ(control, environment.control) << "the environment changed, " << what;
  }
}

class AxpbyEnvironment : public OnEachContext {};

TEST_P(AxpbyEnvironment, OfTheCallerChangesNothingAndIsKept) {
  const Context three(GetParam(), 3);
  Random random(54);
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    for (const char* variant : {static_cast<const char*>(nullptr), "host_serial"}) {
      if (variant != nullptr && on_cuda() && kind == GPUMEM_MEMORY_DEVICE) continue;
      ASSERT_TRUE(ok(gpumem_variant_force(three, GPUMEM_FAMILY_AXPBY, variant)));
      for_each_data(three, kind, random, [&](Data& data) {
        for (const Environment& environment : kEnvironments) expect_right(three, on_cuda(), data, environment);
      });
    }
  }
}

// A factor that is not 0 makes its operand one that is read, whatever a comparison would say.
TEST_P(AxpbyEnvironment, ASubnormalFactorIsNoZero) {
  const std::vector<double> y(8, 1.0);
  std::vector<double> z(8, -9.0);
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
    for (const Environment& environment : kEnvironments) {
      const Axpby call{dtype, 1, nullptr, bits_of(dtype, 1.0), y.data(), z.data(), 8};
      const Axpby swapped{dtype, call.beta, y.data(), 1, nullptr, z.data(), 8};
      gpumem_status status[2] = {-1, -1};
      in(environment, [&] { status[0] = run(ctx, call); });
      in(environment, [&] { status[1] = run(ctx, swapped); });
      EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, status[0])) << environment.name;
      EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, status[1])) << environment.name;
    }
  }
  EXPECT_EQ(z, std::vector<double>(8, -9.0));
}

// Threads take their creator's environment with them: here the library's workers start in an odd one.
TEST_P(AxpbyEnvironment, OfTheCreatorOfTheContextChangesNothing) {
  for (const Environment& environment : kEnvironments) {
    std::thread([&] {
      const gpumem_ctx_options options = options_for(GetParam(), 3);
      gpumem_ctx* own = nullptr;
      in(environment, [&] { gpumem_ctx_create(&options, &own); });
      Random random(55);
      for_each_data(own, GPUMEM_MEMORY_PAGEABLE, random,
                    [&](Data& data) { expect_right(own, on_cuda(), data, environment); });
      EXPECT_TRUE(ok(gpumem_ctx_destroy(own)));
    }).join();
  }
}

INSTANTIATE_TEST_SUITE_P(On, AxpbyEnvironment, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(AxpbyEnvironmentOfThePool, ChangesNothingAndIsKept) {
  for (const Environment& environment : kEnvironments) {
    OddPool pool{environment};
    gpumem_ctx_options options = options_for(On::host, 4);
    options.parallel_for = OddPool::run;
    options.parallel_for_user = &pool;
    const Context ctx(options);
    Random random(56);
    for_each_data(ctx, GPUMEM_MEMORY_PAGEABLE, random, [&](Data& data) {
      data.poison();
      EXPECT_TRUE(ok(run(ctx, data.call)));
      EXPECT_TRUE(data.right()) << environment.name << ", " << describe(data.call);
    });
    EXPECT_TRUE(pool.kept) << environment.name << ": a task changed the environment of the program's thread";
  }
}

#else

TEST(AxpbyEnvironment, IsTestedOnX86Alone) { GTEST_SKIP() << "setting it takes x86's MXCSR here"; }

#endif

}  // namespace
}  // namespace gpumem_test

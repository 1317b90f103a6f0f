// Random inputs from one seed, which is printed and can be given: GPUMEM_TEST_SEED.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace gpumem_test {

inline uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("GPUMEM_TEST_SEED");
    uint64_t value = 0;
    if (given != nullptr) {
      value = std::strtoull(given, nullptr, 0);
    } else {
      std::random_device device;
      value = (uint64_t{device()} << 32) | device();
    }
    std::printf("GPUMEM_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers with every standard library.
class Random {
 public:
  // Each stream of numbers begins somewhere else.
  explicit Random(uint64_t stream = 0) : state_(mixed(test_seed() + mixed(stream))) {}

  uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;
    return mixed(state_);
  }
  // Uniform in [0, bound), but for a bias of at most bound / 2^64.
  uint64_t below(uint64_t bound) { return bits() % bound; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }
  template <class Bytes>
  void fill(Bytes& bytes) {
    for (auto& byte : bytes) byte = static_cast<unsigned char>(bits() >> 56);
  }

 private:
  static constexpr uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

// GPUMEM_TEST_QUICK=1: fewer cases, for runs under slow checkers.
inline bool quick_run() {
  const char* quick = std::getenv("GPUMEM_TEST_QUICK");
  return quick != nullptr && quick[0] != '\0' && quick[0] != '0';
}

}  // namespace gpumem_test

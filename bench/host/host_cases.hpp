// The host benchmarks: what each file registers, and what the files share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/host_clock.hpp"
#include "support/case.hpp"
#include "support/library.hpp"
#include "support/report.hpp"

namespace bench {

// Page-aligned heap memory, touched by all threads, so that its pages lie where OpenMP's static schedule uses them.
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t bytes);
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }
  void poison() const;

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::size_t bytes_;
  std::unique_ptr<void, Free> memory_;
};

// libgomp's threads spin for some ten milliseconds after a parallel region; a sample begins after that.
inline constexpr HostClock kHostClock{std::chrono::milliseconds(30), std::chrono::microseconds(2000)};

Ceilings measure_host_ceilings();

void add_host_reduce(std::vector<Case>& cases, const Context& ctx);
void add_host_transpose(std::vector<Case>& cases, const Context& ctx);
void add_host_axpby(std::vector<Case>& cases, const Context& ctx);
void add_host_convert(std::vector<Case>& cases, const Context& ctx);
void add_host_permute(std::vector<Case>& cases, const Context& ctx);
void add_host_movement(std::vector<Case>& cases, const Context& ctx);
void add_host_rows(std::vector<Case>& cases, const Context& ctx);
void add_host_resize(std::vector<Case>& cases, const Context& ctx);
void add_host_pool(std::vector<Case>& cases, const Context& ctx);
void add_startup(std::vector<Case>& cases);

}  // namespace bench

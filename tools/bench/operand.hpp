// Memory of the kinds that a problem line names.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tool {

// Writes a range of contents: the bytes from `begin` to `end`, `begin` being a multiple of 16.
using Contents = std::function<void(unsigned char* at, int64_t begin, int64_t end)>;

class Operand {
 public:
  // kind: pageable, pinned, registered (heap memory that is pinned), mixed (of which half is), device, managed; a Failure where it
  // can't be had. The start lies `misaligned` bytes past a multiple of 4096.
  Operand(gpumem_ctx* ctx, const std::string& kind, int64_t bytes, int64_t misaligned);

  unsigned char* get() const { return start_; }
  int64_t bytes() const { return bytes_; }
  bool on_host() const { return on_host_; }  // the processor may read and write it
  void fill(const Contents& contents) const;
  void fill(unsigned char value) const;
  bool same_as(const Operand& other) const;

 private:
  gpumem_ctx* ctx_;
  int64_t bytes_;
  std::shared_ptr<void> block_;
  unsigned char* start_ = nullptr;
  bool on_host_ = false;
};

// Calls work(begin, end) for parts of [0, n) on as many threads as there are.
void in_parallel(int64_t n, const std::function<void(int64_t begin, int64_t end)>& work);

// 64 well mixed bits of each index: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed_bits(uint64_t index);

}  // namespace tool

#include "emulation/shared_memory.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

// The linker's: shared_memory.ld.
extern "C" char gpumem_emulation_shared_begin[];
extern "C" char gpumem_emulation_shared_end[];

namespace gpumem_emulation {
namespace {

// There are megabytes of shared memory, most of them other kernels': only pieces that a kernel was seen to use are filled anew
// before each block.
constexpr size_t kPiece = 64;
constexpr uint64_t kWord = 0x0101010101010101u * SharedMemory::kPattern;

// Between the variables lie the address sanitizer's red zones. These loops go over them: this file is not instrumented, and they
// are no calls of memset() or memcmp(), which are watched everywhere.
void fill(volatile uint64_t* word, size_t words) {
  for (size_t i = 0; i < words; ++i) word[i] = kWord;
}

// Without a branch for each word, of which every launch has hundreds of thousands.
bool is_filled(const uint64_t* word) {
  uint64_t other = 0;
  for (size_t i = 0; i < kPiece / 8; ++i) other |= word[i] ^ kWord;
  return other == 0;
}

uint64_t* begin() { return reinterpret_cast<uint64_t*>(gpumem_emulation_shared_begin); }
size_t pieces() { return static_cast<size_t>(gpumem_emulation_shared_end - gpumem_emulation_shared_begin) / kPiece; }

struct Use {
  std::vector<bool> seen;
  std::vector<uint32_t> pieces;
  uint32_t in_vain = 0;  // looks that found nothing new, in a row
  uint32_t left_out = 0;
};
constexpr uint32_t kSeldom = 16;

std::map<const void*, Use>& uses() {
  static std::map<const void*, Use> of_kernels;
  return of_kernels;
}

}  // namespace

// All of it is filled between launches.
SharedMemory::SharedMemory(const void* function) : function_(function) {
  static const bool filled = (fill(begin(), pieces() * (kPiece / 8)), true);
  static_cast<void>(filled);
}

SharedMemory::~SharedMemory() {
  note_used();
  refill();
}

// What a kernel uses is known after its first block.
void SharedMemory::spoil() {
  if (blocks_ == 1) note_used();
  if (blocks_ > 0) refill();
  ++blocks_;
}

void SharedMemory::refill() {
  for (const uint32_t piece : uses()[function_].pieces) fill(begin() + piece * (kPiece / 8), kPiece / 8);
}

// The more often a kernel has shown nothing new, the more seldom it is looked at: that takes longer than most launches.
void SharedMemory::note_used() {
  Use& use = uses()[function_];
  if (use.left_out++ < use.in_vain) return;
  use.left_out = 0;
  if (use.in_vain < kSeldom) ++use.in_vain;
  use.seen.resize(pieces());
  for (size_t i = 0; i < pieces(); ++i) {
    if (is_filled(begin() + i * (kPiece / 8)) || use.seen[i]) continue;
    use.seen[i] = true;
    use.in_vain = 0;
    use.pieces.push_back(static_cast<uint32_t>(i));
  }
}

}  // namespace gpumem_emulation

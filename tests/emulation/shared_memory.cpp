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

bool is_filled(const volatile uint64_t* word) {
  for (size_t i = 0; i < kPiece / 8; ++i) {
    if (word[i] != kWord) return false;
  }
  return true;
}

uint64_t* begin() { return reinterpret_cast<uint64_t*>(gpumem_emulation_shared_begin); }
size_t pieces() { return static_cast<size_t>(gpumem_emulation_shared_end - gpumem_emulation_shared_begin) / kPiece; }

struct Use {
  std::vector<bool> seen;
  std::vector<uint32_t> pieces;
};

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

void SharedMemory::note_used() {
  Use& use = uses()[function_];
  use.seen.resize(pieces());
  for (size_t i = 0; i < pieces(); ++i) {
    if (use.seen[i] || is_filled(begin() + i * (kPiece / 8))) continue;
    use.seen[i] = true;
    use.pieces.push_back(static_cast<uint32_t>(i));
  }
}

}  // namespace gpumem_emulation

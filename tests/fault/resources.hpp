// Every request of this process for memory, a mapping, a thread, a file or what the system says of itself, or in the test on the emulated device every call of
// CUDA, counted; and refused where the test says so.
#pragma once

#include <cstdint>
#include <span>

#include "fault/scenario.hpp"

namespace gpumem_test {

// A kind of refusal, and the scenario that meets it.
struct Refusal {
  const char* name;
  Setting setting;
  int error = 0;       // of CUDA
  int quick_step = 7;  // of how many requests one is tried in a quick run
};
std::span<const Refusal> refusals() noexcept;

enum class Refuse {
  once,         // the one request of a given number
  from_then_on  // it and all that follow
};

// From now on requests are numbered from 0.
void refuse_request(const Refusal& refusal, int64_t number, Refuse mode) noexcept;
// Refuses nothing any more. Returns how many requests were refused.
int64_t refuse_nothing() noexcept;
// Requests in between are neither counted nor refused.
void pause_refusals(bool paused) noexcept;
// What the first request that was refused was for.
const char* first_refused() noexcept;

// What is held now.
struct Held {
  int64_t blocks;  // of the heap; of the emulated device
  int64_t mapped_bytes;
  bool operator==(const Held&) const = default;
  Held operator+(const Held& more) const { return {blocks + more.blocks, mapped_bytes + more.mapped_bytes}; }
  Held operator-(const Held& less) const { return {blocks - less.blocks, mapped_bytes - less.mapped_bytes}; }
};
Held held_now() noexcept;
// glibc keeps the stacks of threads that have ended, with blocks of the heap: as many as will ever run at once, before anything is counted.
void keep_stacks();

}  // namespace gpumem_test

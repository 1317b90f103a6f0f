// Every request of this process for memory, a mapping or a thread, counted; and refused where the test says so.
#pragma once

#include <cstdint>

namespace gpumem_test {

enum class Refuse {
  once,         // the one request of a given number
  from_then_on  // it and all that follow
};

// From now on requests are numbered from 0.
void refuse_request(int64_t number, Refuse mode) noexcept;
// Refuses nothing any more. Returns how many requests were refused.
int64_t refuse_nothing() noexcept;

// What is held now.
struct Held {
  int64_t blocks;  // of the heap
  int64_t mapped_bytes;
  bool operator==(const Held&) const = default;
};
Held held_now() noexcept;

}  // namespace gpumem_test

// Fibers: stacks of their own that one thread of the operating system switches between.
#pragma once

#include <cstddef>

namespace gpumem_emulation {

class Fiber {
 public:
  // The calling thread's own stack, as what the first switch comes from.
  Fiber() = default;
  // A fiber that runs entry() at the first switch to it; entry never returns.
  explicit Fiber(void (*entry)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // Leaves `from`, which is running, and returns when something switches back to it, on whatever thread that is.
  static void change(Fiber& from, Fiber& to);

 private:
  static void begin();

  void* stack_pointer_ = nullptr;
  void (*entry_)() = nullptr;
  void* mapping_ = nullptr;
  const void* bottom_ = nullptr;  // for the address sanitizer, which must know the stack it is on
  size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
};

}  // namespace gpumem_emulation

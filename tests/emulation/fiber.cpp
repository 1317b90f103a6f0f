#include "emulation/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "emulation/report.hpp"
#include "support/sanitizers.hpp"

#if !defined(__x86_64__)
#error "the emulated device switches stacks in x86-64 assembly: add this processor's switch here"
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// Keeps the registers that a call preserves (System V ABI, 3.2.1) on the stack that is left. The floating-point control words are
// the device's own and the same everywhere.
extern "C" void gpumem_emulation_switch(void** left, void* taken);
asm(R"(
  .text
  .type gpumem_emulation_switch, @function
  .hidden gpumem_emulation_switch
  .globl gpumem_emulation_switch
gpumem_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size gpumem_emulation_switch, .-gpumem_emulation_switch
)");

namespace gpumem_emulation {
namespace {

constexpr size_t kStackBytes = size_t{256} << 10;  // the sanitizers' frames are large
constexpr size_t kGuardBytes = 4096;

// Who switched, and to whom. Only one thread runs kernels at a time, and it holds a lock.
Fiber* left = nullptr;
Fiber* taken = nullptr;

}  // namespace

Fiber::Fiber(void (*entry)()) : entry_(entry), bytes_(kStackBytes) {
  mapping_ = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) give_up("no memory for the stacks of a block's threads");
  mprotect(mapping_, kGuardBytes, PROT_NONE);
  bottom_ = static_cast<char*>(mapping_) + kGuardBytes;
  // As if begin() had been called from nowhere and had left by a switch: six registers and the address to return to. There
  // the stack is 8 past a multiple of 16, as at the entry of any function.
  auto* top = reinterpret_cast<uintptr_t*>(static_cast<char*>(mapping_) + kGuardBytes + kStackBytes) - 1;
  top[0] = 0;
  top[-1] = reinterpret_cast<uintptr_t>(&Fiber::begin);
  for (int i = 2; i < 8; ++i) top[-i] = 0;
  stack_pointer_ = top - 7;
}

Fiber::~Fiber() {
  if (mapping_ != nullptr) munmap(mapping_, kGuardBytes + kStackBytes);
}

void Fiber::begin() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &left->bottom_, &left->bytes_);
#endif
  taken->entry_();
  give_up("a fiber came to its end");
}

void Fiber::change(Fiber& from, Fiber& to) {
  left = &from;
  taken = &to;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.bytes_);
#endif
  gpumem_emulation_switch(&from.stack_pointer_, to.stack_pointer_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack_, &left->bottom_, &left->bytes_);
#endif
}

}  // namespace gpumem_emulation

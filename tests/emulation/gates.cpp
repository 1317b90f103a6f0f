#include "emulation/gates.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "emulation/memory.hpp"
#include "emulation/streams.hpp"

namespace gpumem_emulation {
namespace {

std::atomic<bool> g_armed{false};
std::atomic<bool> g_paused{false};
std::atomic<Calls> g_which{Calls::one};
std::atomic<int> g_error{0};
std::atomic<int64_t> g_number{0};
std::atomic<int64_t> g_calls{0};
std::atomic<int64_t> g_failed{0};
std::atomic<const char*> g_first{nullptr};

bool allocates(const char* call) noexcept {
  for (const char* of : {"Malloc", "Alloc", "Create", "HostRegister", "launch"}) {
    if (std::strstr(call, of) != nullptr) return true;
  }
  return false;
}

// While a capture goes on, in a thread whose mode forbids it. (CUDA names no list: those that work of the graph might depend on.)
bool is_unsafe(const char* call) noexcept {
  for (const char* of : {"cudaMalloc", "cudaFree", "cudaFreeHost", "cudaMallocManaged", "cudaHostAlloc",
                         "cudaHostRegister", "cudaHostUnregister", "cudaMemPoolDestroy", "cudaMemPoolTrimTo"}) {
    if (std::strcmp(call, of) == 0) return true;
  }
  return false;
}

}  // namespace

void fail_call(int64_t number, Calls which, int error) noexcept {
  g_number = number;
  g_which = which;
  g_error = error;
  g_calls = 0;
  g_failed = 0;
  g_first = nullptr;
  g_armed = true;
}

int64_t fail_nothing() noexcept {
  g_armed = false;
  return g_failed;
}

void pause_failures(bool paused) noexcept { g_paused = paused; }

const char* first_failed() noexcept { return g_first; }

int gpumem_emulation_gate(const char* call) noexcept {
  if (is_unsafe(call)) {
    if (const int refused = refuse_unsafe_call()) return refused;
  }
  if (!g_armed.load(std::memory_order_relaxed) || g_paused.load(std::memory_order_relaxed)) return 0;
  if (g_which == Calls::allocations_after_it && !allocates(call)) return 0;
  const int64_t number = g_calls.fetch_add(1);
  if (g_which == Calls::one ? number != g_number : number < g_number) return 0;
  if (g_failed.fetch_add(1) == 0) g_first = call;
  return answer(static_cast<cudaError_t>(g_error.load()));
}

HeldOfDevice held_of_device() { return {ranges_held(), bytes_held(), streams_and_events_held()}; }

}  // namespace gpumem_emulation

// The linker hands every call of NAME to __wrap_NAME (--wrap) and calls NAME itself __real_NAME. The arguments, whatever they
// are, wait in their registers or on the stack until the gate has answered.
#define GATE(NAME)                                 \
  asm(".text\n"                                    \
      ".globl __wrap_" #NAME                       \
      "\n"                                         \
      ".hidden __wrap_" #NAME                      \
      "\n"                                         \
      ".type __wrap_" #NAME                        \
      ", @function\n"                              \
      "__wrap_" #NAME                              \
      ":\n"                                        \
      "  endbr64\n"                                \
      "  push %rdi; push %rsi; push %rdx\n"        \
      "  push %rcx; push %r8; push %r9\n"          \
      "  sub $8, %rsp\n"                           \
      "  lea 1f(%rip), %rdi\n"                     \
      "  call gpumem_emulation_gate\n"             \
      "  add $8, %rsp\n"                           \
      "  pop %r9; pop %r8; pop %rcx\n"             \
      "  pop %rdx; pop %rsi; pop %rdi\n"           \
      "  test %eax, %eax\n"                        \
      "  jz __real_" #NAME                         \
      "\n"                                         \
      "  ret\n"                                    \
      ".size __wrap_" #NAME ", . - __wrap_" #NAME  \
      "\n"                                         \
      ".section .rodata.gates, \"a\", @progbits\n" \
      "1: .string \"" #NAME                        \
      "\"\n"                                       \
      ".text\n");
#include "gates.inc"

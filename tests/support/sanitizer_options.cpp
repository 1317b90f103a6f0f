// What the sanitizers' run-times ask a program at its start. Unused otherwise.
// - An allocation that can't succeed must give NULL, as it does without a sanitizer: the tests ask for such ones.
// - Undefined behaviour traps: its place is told.
// - A child of a test that they end has an exit status that no test gives.
// - The tests fork from processes with threads, and start threads in the child.
// - A row that a scatter names more than once may be written by several threads at a time: its bytes are any of theirs.
#include "support/sanitizers.hpp"

namespace gpumem_test {

#if defined(GPUMEM_ADDRESS_SANITIZER)
const bool kAddressSanitizer = true;
#else
const bool kAddressSanitizer = false;
#endif
#if defined(GPUMEM_THREAD_SANITIZER)
const bool kThreadSanitizer = true;
#else
const bool kThreadSanitizer = false;
#endif
const bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace gpumem_test

extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:handle_sigill=1:exitcode=99"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1:die_after_fork=0"; }
extern "C" const char* __tsan_default_suppressions() { return "race:scatter_row\n"; }

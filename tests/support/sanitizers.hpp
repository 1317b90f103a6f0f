// Under which sanitizer the library was built: some checks can't be made under one. sanitizer_options.cpp knows, which each build
// compiles for itself.
#pragma once

namespace gpumem_test {

extern const bool kAddressSanitizer;
extern const bool kThreadSanitizer;
extern const bool kSanitized;

}  // namespace gpumem_test

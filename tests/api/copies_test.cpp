// Two copies of the library in one process, as two plug-ins bring them along: neither takes the other's handles.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

template <class F>
F* function_of(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

// Another file with what the library's has, since a file is loaded once.
void* load_copy() {
  Dl_info ours;
  if (dladdr(dlsym(RTLD_DEFAULT, "gpumem_version"), &ours) == 0) return nullptr;
  const std::string path = testing::TempDir() + "gpumem_copy_" + std::to_string(getpid()) + ".so";
  std::filesystem::copy_file(ours.dli_fname, path, std::filesystem::copy_options::overwrite_existing);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(path);
  return library;
}

TEST(Copies, TakeNoHandlesOfEachOther) {
  void* const copy = load_copy();
  ASSERT_NE(copy, nullptr) << dlerror();
  auto* const create = function_of<decltype(gpumem_ctx_create)>(copy, "gpumem_ctx_create");
  auto* const destroy = function_of<decltype(gpumem_ctx_destroy)>(copy, "gpumem_ctx_destroy");
  auto* const create_event = function_of<decltype(gpumem_event_create)>(copy, "gpumem_event_create");
  auto* const destroy_event = function_of<decltype(gpumem_event_destroy)>(copy, "gpumem_event_destroy");
  ASSERT_NE(create, &gpumem_ctx_create);

  Context ours(On::host);
  const gpumem_ctx_options options = options_for(On::host);
  gpumem_ctx* theirs = nullptr;
  ASSERT_TRUE(ok(create(&options, &theirs)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_ctx_destroy(theirs)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, destroy(ours)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_ctx_synchronize(theirs)));

  gpumem_event* our_event = nullptr;
  gpumem_event* their_event = nullptr;
  ASSERT_TRUE(ok(gpumem_event_create(ours, &our_event)));
  ASSERT_TRUE(ok(create_event(theirs, &their_event)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, gpumem_event_record(ours, their_event, nullptr)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, destroy_event(our_event)));

  EXPECT_TRUE(ok(destroy_event(their_event)));
  EXPECT_TRUE(ok(destroy(theirs)));
  EXPECT_TRUE(ok(gpumem_event_destroy(our_event)));
}

}  // namespace
}  // namespace gpumem_test

// Problem lines: an explanation, or a refusal with a sentence. What is explained has a shortest form, which is explained too.
#include <cstring>

#include "fuzz/fuzz.hpp"
#include "gpumem.h"

namespace {

gpumem_ctx* context() {
  gpumem_ctx_options options;
  gpumem_ctx_options_init(&options, sizeof options);
  options.device = GPUMEM_DEVICE_HOST;
  gpumem_ctx* ctx = nullptr;
  gpumem_ctx_create(&options, &ctx);
  return ctx;
}

// The value of "line" in an explanation as JSON: words, which need no escapes.
std::string line_of(const std::string& json) {
  const size_t begin = json.find("\"line\"");
  if (begin == std::string::npos) return "";
  const size_t open = json.find('"', begin + 6);
  return json.substr(open + 1, json.find('"', open + 1) - open - 1);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static gpumem_ctx* const ctx = context();
  const std::string line(reinterpret_cast<const char*>(data), size);
  static char text[1 << 16];
  int64_t needed = -7;
  const gpumem_status status = gpumem_explain(ctx, line.c_str(), GPUMEM_FORMAT_JSON, text, sizeof text, &needed);
  gpumem_fuzz::require(status != GPUMEM_INTERNAL && status != GPUMEM_INVALID_HANDLE, "an unexpected status");
  if (status != GPUMEM_OK) {
    gpumem_fuzz::require(needed == -7, "an output after a refusal");
    return 0;
  }
  gpumem_fuzz::require(needed == static_cast<int64_t>(std::strlen(text)) + 1, "needed");
  const std::string shortest = line_of(text);
  gpumem_fuzz::require(
      gpumem_explain(ctx, shortest.c_str(), GPUMEM_FORMAT_JSON, text, sizeof text, nullptr) == GPUMEM_OK,
      "the shortest form is refused");
  gpumem_fuzz::require(line_of(text) == shortest, "the shortest form has a shorter one");
  return 0;
}

// The library, with statuses turned into exceptions that carry its sentence.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/case.hpp"

namespace bench {

inline std::string last_error() {
  char sentence[512] = "";
  gpumem_last_error(sentence, sizeof sentence, nullptr);
  return sentence;
}

inline void check(gpumem_status status) {
  if (status != GPUMEM_OK) throw std::runtime_error(std::string(gpumem_status_name(status)) + ": " + last_error());
}

using Context = std::shared_ptr<gpumem_ctx>;

// A context of the given device (GPUMEM_DEVICE_HOST, GPUMEM_DEVICE_CUDA or an ordinal), warmed up, with so many threads for the
// host's part of the work; 0: as many as there are.
Context make_context(int32_t device, int32_t host_threads = 0);

gpumem_device_info device_of(gpumem_ctx* ctx);

// "i8" ... "f64".
std::string dtype_name(gpumem_dtype dtype);

// The names of a family's variants, of all backends, in table order.
std::vector<std::string> variant_names(gpumem_family family);

// Forces a variant for as long as it lives.
class Forced {
 public:
  Forced(Context ctx, gpumem_family family, const std::string& name);
  ~Forced();
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  Context ctx_;
  gpumem_family family_;
};

// A side whose samples run one forced variant; the other sides of the context are free. Skips when the variant does not fit
// the problem; `try_once` is one call.
Side with_variant(Context ctx, gpumem_family family, const std::string& name, Side side,
                  const std::function<gpumem_status()>& try_once);

// A pair whose our side is such a side.
Pair with_variant(Context ctx, gpumem_family family, const std::string& name, Pair pair,
                  const std::function<gpumem_status()>& try_once);

}  // namespace bench

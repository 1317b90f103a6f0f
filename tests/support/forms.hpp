// The two forms that most functions have: complete on return, or enqueued on a stream.
#pragma once

#include <type_traits>

#include "gpumem.h"

namespace gpumem_test {

struct CallForm {
  bool enqueued = false;
  gpumem_stream* stream = nullptr;
  gpumem_status* status = nullptr;  // of functions whose enqueued form takes one
};

template <class Plain, class Enqueued, class... Args>
gpumem_status call_as(const CallForm& form, Plain plain, Enqueued enqueued, Args... args) {
  if (!form.enqueued) return plain(args...);
  if constexpr (std::is_invocable_v<Enqueued, Args..., gpumem_stream*>) {
    return enqueued(args..., form.stream);
  } else {
    return enqueued(args..., form.status, form.stream);
  }
}

}  // namespace gpumem_test

// Dispatch on the size of an element that is only moved. Plain C++, for host and kernels.
#pragma once

#include <cstdint>

namespace gpumem {

// bytes: 1, 2, 4, 8 or 16.
template <class F>
constexpr auto for_size(int64_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    default:
      return f.template operator()<16>();
  }
}

}  // namespace gpumem

// The operands of z = alpha x + beta y, typed for kernels.
#pragma once

#include <bit>

#include "kernels/axpby/params.hpp"

namespace gpumem::kernels {

template <class T>
struct AxpbyOperands {
  T alpha;
  T beta;
  const T* x;
  const T* y;
  T* z;
  int64_t n;
};

template <class T>
AxpbyOperands<T> operands_of(const AxpbyParams& params) {
  const auto factor = [](uint64_t bits) {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<uint32_t>(bits));
    if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
  };
  return {factor(params.alpha),
          factor(params.beta),
          static_cast<const T*>(params.x),
          static_cast<const T*>(params.y),
          static_cast<T*>(params.z),
          params.n};
}

}  // namespace gpumem::kernels

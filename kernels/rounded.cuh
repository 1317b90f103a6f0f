// Arithmetic with one rounding per operation, never fused by the compiler, and the canonical NaN.
#pragma once

namespace gpumem::kernels {

__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float sum(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float canonical(float v) { return v == v ? v : __int_as_float(0x7fc00000); }
__device__ inline double canonical(double v) { return v == v ? v : __longlong_as_double(0x7ff8000000000000); }

}  // namespace gpumem::kernels

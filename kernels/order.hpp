// The constants of the reproducible order of sums and products, shared by the host and the kernels. The order is a function of the number
// of terms alone:
//   leaf  terms 1024 q .. 1024 q + 1023 as 8 rows of 128 lanes; lane j begins at +0 and adds t[1024 q + 128 r + j] for r = 0..7
//   fold  for h = 64, 32, ..., 1: lane j adds lane j + h, for j < h; lane 0 is the leaf's sum
//   tree  neighbouring leaves are added in pairs, then the pairs, until one value is left; what is missing counts as +0
// No sum is ever -0 (it begins at +0), so adding a missing +0 changes nothing, and any aligned run of 2^k leaves is a subtree. A product is
// formed in the same order, by multiplications, and begins at 1, which changes nothing either.
#pragma once

namespace gpumem {

constexpr int kLeafTerms = 1024;
constexpr int kLeafLanes = 128;
constexpr int kLeafRows = kLeafTerms / kLeafLanes;

// Where the norm of f64 takes an element for small or large, and by what it scales it then, so that squares neither underflow
// nor overflow: powers of two (E. Anderson, Algorithm 978, ACM TOMS 44, 2017, table 1).
constexpr double kNormSmall = 0x1p-511;
constexpr double kNormLarge = 0x1p486;
constexpr double kNormScaleSmall = 0x1p537;
constexpr double kNormScaleLarge = 0x1p-538;

}  // namespace gpumem

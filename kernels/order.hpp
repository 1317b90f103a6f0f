// The reproducible order of sums and products, shared by the host and the kernels. It depends only on the number of
// terms:
//   leaf  terms 1024 q .. 1024 q + 1023 as 8 rows of 128 lanes: lane j adds t[1024 q + 128 r + j] to +0 for r = 0..7
//   fold  for h = 64, 32, ..., 1: lane j adds lane j + h, for j < h; lane 0 is the leaf's sum
//   tree  neighbouring leaves are added in pairs, then the pairs, until one value is left; missing leaves count as +0
// A sum begins at +0 and is never -0, so adding a missing +0 changes nothing. Any aligned run of 2^k leaves is a
// subtree. A product has the same order with multiplications. It begins at 1.
#pragma once

namespace gpumem {

constexpr int kLeafTerms = 1024;
constexpr int kLeafLanes = 128;
constexpr int kLeafRows = kLeafTerms / kLeafLanes;

// Thresholds and scales of the norm of f64, so that squares neither underflow nor overflow. All are powers of two (E.
// Anderson, Algorithm 978, ACM TOMS 44, 2017, table 1).
constexpr double kNormSmall = 0x1p-511;
constexpr double kNormLarge = 0x1p486;
constexpr double kNormScaleSmall = 0x1p537;
constexpr double kNormScaleLarge = 0x1p-538;

}  // namespace gpumem

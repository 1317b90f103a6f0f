// The transpose in place of a matrix that is not square, as passes over rows and columns (B. Catanzaro, A. Keller, M. Garland, "A
// decomposition for in-place matrix transposition", PPoPP 2014). Plain C++, shared by host and kernels.
//
// A row-major m x n matrix holds element (i, j) at i*n + j, and its transpose wants it at i + j*m. In the same memory seen as
// m x n that is row (i + j*m) div n, column (i + j*m) mod n. Let c = gcd(m, n), a = m/c, b = n/c.
//   1. Columns are rotated: row i takes column j from row (i + j div b) mod m. (With c == 1 nothing moves.) Now the elements of
//      any one row go to different columns: j*m mod n is a multiple of c that repeats after b columns, and then the row that the
//      element came from, which is its place modulo c, is another one.
//   2. Rows are permuted: in row i, column j goes to ((i + j div b) mod m + j*m) mod n.
//   3. Columns are permuted: row i takes column j from row (j + i*n - i div a) mod m. For the element that belongs at i*n + j
//      comes from row (i*n + j) mod m of the matrix, column (i*n + j) div m, which step 1 moved up by that column div b; and
//      m*b = a*n, so that this is (i*n + j) div (a*n) = i div a.
// The way back, from n x m to m x n in the same memory, is the three steps undone in reverse. So m, the length of the columns, is
// the shorter side either way: a column fits in fast memory, and so does a row unless the matrix is very long.
//
// No index is divided on the way: what a thread needs of it advances with its steps. Index is a type that holds m + n.
#pragma once

#include <cstdint>

namespace gpumem {

struct Decomposition {
  int64_t m = 1;  // rows, at most n
  int64_t n = 1;
  int64_t a = 1;
  int64_t b = 1;
  bool back = false;  // from n x m to m x n

  constexpr Decomposition(int64_t rows, int64_t cols) noexcept
      : m(rows < cols ? rows : cols), n(rows < cols ? cols : rows), back(rows > cols) {
    int64_t c = n;
    for (int64_t rest = m; rest != 0;) {
      const int64_t next = c % rest;
      c = rest;
      rest = next;
    }
    if (c == 0) return;  // an empty matrix
    a = m / c;
    b = n / c;
  }
  constexpr bool rotates() const noexcept { return b != n; }
};

// k div divisor, as k advances by a fixed step.
template <class Index>
struct Quotients {
  Index value;
  Index rest;
  Index value_step;
  Index rest_step;
  Index divisor;

  constexpr Quotients(int64_t k, int64_t step, int64_t by) noexcept
      : value(static_cast<Index>(k / by)),
        rest(static_cast<Index>(k % by)),
        value_step(static_cast<Index>(step / by)),
        rest_step(static_cast<Index>(step % by)),
        divisor(static_cast<Index>(by)) {}
  constexpr void advance() noexcept {
    value += value_step;
    rest += rest_step;
    if (rest >= divisor) {
      rest -= divisor;
      ++value;
    }
  }
};

// k * factor mod modulus, as k advances by a fixed step. The products fit: k is at most the side that factor is not, and step is
// at most the threads of a block.
template <class Index>
struct Multiples {
  Index value;
  Index step;
  Index modulus;

  constexpr Multiples(int64_t k, int64_t by, int64_t factor, int64_t mod) noexcept
      : value(static_cast<Index>(k * factor % mod)),
        step(static_cast<Index>(by % mod * (factor % mod) % mod)),
        modulus(static_cast<Index>(mod)) {}
  constexpr void advance() noexcept {
    value += step;
    if (value >= modulus) value -= modulus;
  }
};

// Step 2: where column j goes, for j = first, first + step, ... What divides is the same in all rows.
template <class Index>
class RowPlaces {
 public:
  constexpr RowPlaces(const Decomposition& d, int64_t first, int64_t step) noexcept
      : m_(static_cast<Index>(d.m)),
        n_(static_cast<Index>(d.n)),
        block_(first, step, d.b),
        multiple_(first, step, d.m, d.n) {}
  constexpr RowPlaces in_row(int64_t i) const noexcept {
    RowPlaces places = *this;
    places.i_ = static_cast<Index>(i);
    return places;
  }
  constexpr Index place() const noexcept {
    Index row = i_ + block_.value;
    if (row >= m_) row -= m_;
    const Index col = row + multiple_.value;
    return col >= n_ ? col - n_ : col;
  }
  constexpr void advance() noexcept {
    block_.advance();
    multiple_.advance();
  }

 private:
  Index i_ = 0;
  Index m_;
  Index n_;
  Quotients<Index> block_;
  Multiples<Index> multiple_;
};

// Steps 1 and 3: the row that row i takes its element from, for i = first, first + step, ... What divides is the same in all columns,
// but for the one division that tells them apart.
template <class Index>
class ColumnSources {
 public:
  constexpr ColumnSources(const Decomposition& d, bool rotation, int64_t first, int64_t step) noexcept
      : m_(static_cast<Index>(d.m)),
        taken_(rotation ? 0 : first, rotation ? 0 : step, d.a),
        multiple_(first, step, rotation ? 1 : d.n, d.m) {}
  constexpr ColumnSources in_column(const Decomposition& d, bool rotation, int64_t j) const noexcept {
    ColumnSources sources = *this;
    sources.column_ = static_cast<Index>(further(d, rotation, j));
    return sources;
  }
  // How many rows further down, modulo m, column j takes its elements from than column 0.
  static constexpr int64_t further(const Decomposition& d, bool rotation, int64_t j) noexcept {
    const int64_t by = rotation ? d.b : d.m;
    if (j <= UINT32_MAX && by <= UINT32_MAX) {  // a 32-bit division is several times shorter
      const auto narrow_j = static_cast<uint32_t>(j);
      const auto narrow_by = static_cast<uint32_t>(by);
      return rotation ? narrow_j / narrow_by : narrow_j % narrow_by;
    }
    return rotation ? j / by : j % by;
  }
  constexpr Index source() const noexcept {
    Index row = column_ + multiple_.value - taken_.value;  // from -m + 1 to 2m - 2
    if (row < 0) row += m_;
    return row >= m_ ? row - m_ : row;
  }
  constexpr void advance() noexcept {
    taken_.advance();
    multiple_.advance();
  }

 private:
  Index column_ = 0;
  Index m_;
  Quotients<Index> taken_;
  Multiples<Index> multiple_;
};

}  // namespace gpumem

// The in-place transpose of a matrix that is not square, in passes over rows and columns (B. Catanzaro, A. Keller, M.
// Garland, "A decomposition for in-place matrix transposition", PPoPP 2014). Plain C++, shared by host and kernels.
// A row-major m x n matrix has element (i, j) at i*n + j, and its transpose has it at i + j*m. In the same memory, seen
// as m x n, that is row (i + j*m) div n, column (i + j*m) mod n. Let c = gcd(m, n), a = m/c, b = n/c.
//   1. Columns are rotated: row i takes column j from row (i + j div b) mod m. If c == 1, nothing moves. The elements
//      of any one row now go to different columns: j*m mod n is a multiple of c that repeats after b columns. By then
//      the source row of the element, which is its place modulo c, is another one.
//   2. Rows are permuted: in row i, column j goes to ((i + j div b) mod m + j*m) mod n.
//   3. Columns are permuted: row i takes column j from row (j + i*n - i div a) mod m. The element for i*n + j comes
//      from row (i*n + j) mod m of the matrix, column (i*n + j) div m. Step 1 moved it up by that column div b. Because
//      m*b = a*n, this is (i*n + j) div (a*n) = i div a.
// The way back, from n x m to m x n, undoes the three steps in reverse. So the columns always have m elements, the
// shorter side. Columns fit fast memory. Rows do too, unless the matrix is very long.
// Index computations advance with a thread's steps and need no divisions. Index is a type that holds m + n.
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

// k div divisor, if k advances by a fixed step.
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

// k * factor mod modulus, if k advances by a fixed step. The products fit: k is at most the other side than factor, and
// step is at most the threads of a block.
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

// Step 2: the destination of column j, for j = first, first + step, ... Its divisions are the same in all rows.
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

// Steps 1 and 3: the source row of row i, for i = first, first + step, ... Its divisions are the same in all columns,
// except the one that distinguishes columns.
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
  // The distance in rows, modulo m, from the sources of column 0 down to the sources of column j.
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

// An operation descriptor as words.
#pragma once

#include <gpumem.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tool {

inline constexpr const char* kDtypes[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                          "i64", "u64", "f16", "bf16", "f32", "f64"};
inline constexpr int64_t kDtypeBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

struct Family {
  gpumem_family id;
  const char* name;
};
inline constexpr auto kFamilies = std::to_array<Family>({
    {GPUMEM_FAMILY_REDUCE, "reduce"},
    {GPUMEM_FAMILY_REDUCE_AXIS, "reduce_axis"},
    {GPUMEM_FAMILY_REDUCE_SEGMENTS, "reduce_segments"},
    {GPUMEM_FAMILY_TRANSPOSE, "transpose"},
    {GPUMEM_FAMILY_FILL, "fill"},
    {GPUMEM_FAMILY_COPY, "copy"},
    {GPUMEM_FAMILY_AXPBY, "axpby"},
    {GPUMEM_FAMILY_CONVERT, "convert"},
    {GPUMEM_FAMILY_GATHER, "gather"},
    {GPUMEM_FAMILY_SCATTER, "scatter"},
    {GPUMEM_FAMILY_PERMUTE, "permute"},
    {GPUMEM_FAMILY_RESIZE, "resize"},
    {GPUMEM_FAMILY_ARITHMETIC, "arithmetic"},
    {GPUMEM_FAMILY_MAP, "map"},
    {GPUMEM_FAMILY_SCAN, "scan"},
    {GPUMEM_FAMILY_SORT, "sort"},
    {GPUMEM_FAMILY_SELECT, "select"},
    {GPUMEM_FAMILY_REDUCE_BY_INDEX, "reduce_by_index"},
    {GPUMEM_FAMILY_COPY_BOXES, "copy_boxes"},
});

// In table order; the last one is the host's plainest and accepts every problem.
std::vector<const char*> variants_of(gpumem_family family);

// Forces an implementation during its lifetime; an empty name forces nothing.
class Forced {
 public:
  Forced(gpumem_ctx* ctx, gpumem_family family, const std::string& name);
  ~Forced() { gpumem_variant_force(ctx_, family_, nullptr); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  gpumem_ctx* ctx_;
  gpumem_family family_;
};

// The content of a line that the library has explained, so its names and numbers are valid.
class Problem {
 public:
  explicit Problem(const std::string& line);

  const std::string& family() const { return family_; }
  bool has(const std::string& key) const { return words_.count(key) > 0; }
  std::string text(const std::string& key, const std::string& missing = "") const;
  int64_t number(const std::string& key, int64_t missing = 0) const;
  std::vector<int64_t> numbers(const std::string& key) const;  // "10x20x5" and "1,0,2"
  gpumem_dtype dtype(const std::string& key = "dtype") const;
  gpumem_reduce_op op() const;

 private:
  std::string family_;
  std::map<std::string, std::string> words_;
};

// Throws a Mistake that lists the expected words. all: includes operations that have a function of their own.
gpumem_reduce_op reduce_op(const std::string& name, bool all = true);
bool is_family(const std::string& name);
gpumem_family family_of(const std::string& name);  // throws a Mistake too

// Bytes that one call of a normalised line must read and write; a reduction only reads.
int64_t counted_bytes(const Problem& problem);
gpumem_dtype scan_result_type(const Problem& problem);

int64_t product(const std::vector<int64_t>& extents);

// An operand of an elementwise function: the key of the operand, and the bytes of its elements.
struct MapOperand {
  std::string key;
  int64_t bytes;
};
// The sources, then z.
std::vector<MapOperand> map_operands(const Problem& problem);
int64_t map_bytes(const Problem& problem);

// The line, with its operands in device memory unless it says otherwise.
std::string with_operands(const std::string& line);

std::string explanation(gpumem_ctx* ctx, const std::string& line, gpumem_format format);
struct Explained {
  std::string line;
  std::string variant;
  std::string chosen_by;
  bool on_device = false;
};
Explained explained(gpumem_ctx* ctx, const std::string& line);

}  // namespace tool

// What gpumem_explain() says, as text, as JSON, and read back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/json.hpp"
#include "support/status.hpp"

namespace gpumem_test {

// The variants of a family, of all backends, in table order.
inline std::vector<std::string> variant_names(gpumem_family family) {
  int32_t count = 0;
  EXPECT_TRUE(ok(gpumem_variant_count(family, &count)));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    EXPECT_TRUE(ok(gpumem_variant_name(family, i, &name)));
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

inline const char* kind_word(gpumem_memory_kind kind) {
  static const char* const kWords[] = {"pageable", "pinned", "device", "managed"};
  return kWords[kind];
}

// A problem line of operands that are there.
class Line {
 public:
  Line(gpumem_ctx* ctx, const char* family) : ctx_(ctx), text_(family) {}

  Line& with(const char* key, const std::string& value) {
    text_.append(" ").append(key).append("=").append(value);
    return *this;
  }
  Line& with(const char* key, int64_t value) { return with(key, std::to_string(value)); }
  // An operand; nothing for an address at which nothing is.
  Line& at(const char* key, const void* p, uint64_t modulus = 16) {
    if (p == nullptr) return *this;
    const auto same = keys_.find(p);
    if (same != keys_.end()) return with(key, same->second);
    keys_[p] = key;
    gpumem_pointer_info info;
    EXPECT_TRUE(ok(gpumem_pointer_info_init(&info, sizeof info)));
    if (gpumem_pointer_query(ctx_, p, &info) != GPUMEM_OK) return *this;
    with(key, kind_word(info.kind));
    const uint64_t misaligned = reinterpret_cast<uintptr_t>(p) % modulus;
    return misaligned == 0 ? *this : with((std::string(key) + "_misaligned").c_str(), static_cast<int64_t>(misaligned));
  }

  operator std::string() const { return text_; }

 private:
  gpumem_ctx* ctx_;
  std::string text_;
  std::map<const void*, std::string> keys_;
};

inline std::string transpose_line(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols, const void* src,
                                  int64_t src_ld, const void* dst, int64_t dst_ld) {
  Line line(ctx, "transpose");
  line.with("bytes", element_bytes).with("rows", rows).with("cols", cols).with("src_ld", src_ld).with("dst_ld", dst_ld);
  return line.at("src", src).at("dst", dst);
}

inline std::string fill_line(gpumem_ctx* ctx, const void* dst, int64_t pattern_bytes, int64_t count) {
  return Line(ctx, "fill").with("bytes", pattern_bytes).with("n", count).at("dst", dst);
}

inline std::string copy_line(gpumem_ctx* ctx, const void* dst, const void* src, int64_t bytes) {
  return Line(ctx, "copy").with("bytes", bytes).at("src", src).at("dst", dst);
}

template <class T>
std::string listed(const T* numbers, int32_t count, char separator) {
  std::string text;
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) text += separator;
    text += std::to_string(numbers[i]);
  }
  return text;
}

inline std::string permute_line(gpumem_ctx* ctx, int64_t element_bytes, int32_t rank, const int64_t* extents,
                                const int32_t* order, const void* src, const int64_t* src_strides, const void* dst,
                                const int64_t* dst_strides) {
  Line line(ctx, "permute");
  line.with("bytes", element_bytes).at("src", src).at("dst", dst);
  if (rank == 0) return line;
  line.with("extents", listed(extents, rank, 'x')).with("order", listed(order, rank, ','));
  if (src_strides != nullptr) line.with("src_strides", listed(src_strides, rank, ','));
  if (dst_strides != nullptr) line.with("dst_strides", listed(dst_strides, rank, ','));
  return line;
}

inline std::string last_problem() {
  int64_t needed = 0;
  EXPECT_TRUE(ok(gpumem_last_problem(nullptr, 0, &needed)));
  std::string line(static_cast<size_t>(needed), '\0');
  EXPECT_TRUE(ok(gpumem_last_problem(line.data(), needed, nullptr)));
  line.resize(line.size() - 1);
  return line;
}

inline gpumem_status explain(gpumem_ctx* ctx, const std::string& line, gpumem_format format, std::string& text) {
  int64_t needed = 0;
  const gpumem_status sized = gpumem_explain(ctx, line.c_str(), format, nullptr, 0, &needed);
  if (sized != GPUMEM_OK) return sized;
  text.assign(static_cast<size_t>(needed), '\0');
  const gpumem_status written = gpumem_explain(ctx, line.c_str(), format, text.data(), needed, nullptr);
  text.resize(text.size() - 1);
  return written;
}

inline gpumem_status explain(gpumem_ctx* ctx, const std::string& line) {
  return gpumem_explain(ctx, line.c_str(), GPUMEM_FORMAT_TEXT, nullptr, 0, nullptr);
}

// The JSON form read back: the variant in use, and why each other one is not.
struct Explained {
  std::string variant;
  std::map<std::string, std::string> not_taken;
  Json json;
};

inline gpumem_status explain(gpumem_ctx* ctx, const std::string& line, Explained& explained) {
  std::string text;
  const gpumem_status status = explain(ctx, line, GPUMEM_FORMAT_JSON, text);
  if (status != GPUMEM_OK) return status;
  std::optional<Json> json = parse_json(text);
  EXPECT_TRUE(json.has_value()) << "no JSON: " << text;
  if (!json) return status;
  explained.json = *json;
  explained.variant = json->member("variant").text;
  for (const Json& row : json->member("not_taken").items) {
    explained.not_taken[row.member("variant").text] = row.member("reason").text;
  }
  return status;
}

}  // namespace gpumem_test

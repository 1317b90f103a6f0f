#include "ops/problem_line.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "ops/problem_fields.hpp"

namespace gpumem {
namespace {

struct MemoryWord {
  const char* name;
  gpumem_memory_kind kind;
  bool mixed;
};
constexpr MemoryWord kMemoryWords[] = {{"pageable", GPUMEM_MEMORY_PAGEABLE, false},
                                       {"pinned", GPUMEM_MEMORY_PINNED, false},
                                       {"device", GPUMEM_MEMORY_DEVICE, false},
                                       {"managed", GPUMEM_MEMORY_MANAGED, false},
                                       {"mixed", GPUMEM_MEMORY_PAGEABLE, true}};
constexpr std::string_view kNone = "none";
constexpr std::string_view kMisaligned = "_misaligned";

class Operands {
 public:
  void add(std::string_view key, const void* p) noexcept { of_[count_++] = {key, p}; }
  size_t count() const noexcept { return count_; }
  std::string_view key_of(const void* p) const noexcept {
    for (size_t i = 0; i < count_; ++i) {
      if (of_[i].p == p) return of_[i].key;
    }
    return {};
  }
  const void* find(std::string_view key) const noexcept {
    for (size_t i = 0; i < count_; ++i) {
      if (of_[i].key == key) return of_[i].p;
    }
    return nullptr;
  }

 private:
  struct One {
    std::string_view key;
    const void* p;
  };
  std::array<One, kMaxTerms + kMaxDots + 1> of_{};
  size_t count_ = 0;
};

class Writer {
 public:
  explicit Writer(const CallRecord& record, std::string_view family) : record_(record), line_(family) {}

  void number(std::string_view key, int64_t value) { add(key, std::to_string(value)); }
  void number(std::string_view key, int64_t value, int64_t otherwise) {
    if (value != otherwise) number(key, value);
  }
  void stride(std::string_view key, int64_t value, int64_t otherwise) { number(key, value, otherwise); }
  void word(std::string_view key, int32_t value, const Words& words) {
    const char* name = value < 0 || value > words.last ? nullptr : words.name(value);
    add(key, name != nullptr ? name : std::to_string(value));
  }
  void word(std::string_view key, int32_t value, const Words& words, int32_t otherwise) {
    if (value != otherwise) word(key, value, words);
  }
  template <class T>
  bool numbers(std::string_view key, const T* list, bool given, char separator, int32_t count) {
    if (!given || count == 0) return given;
    std::string text;
    for (int32_t i = 0; i < count; ++i) {
      if (i > 0) text += separator;
      text += std::to_string(list[i]);
    }
    add(key, text);
    return given;
  }
  void operand(std::string_view key, const void* p, uint64_t modulus = 16) {
    const std::string_view same = operands_.key_of(p);
    operands_.add(key, p);
    if (p != nullptr && !same.empty()) return add(key, same);
    if (const OperandInfo* seen = record_.find(p)) add(key, memory(*seen));
    const uint64_t misaligned = reinterpret_cast<uintptr_t>(p) % modulus;
    if (misaligned != 0) add(std::string(key).append(kMisaligned), std::to_string(misaligned));
  }
  void factor(std::string_view key, const void* p, uint64_t factor, gpumem_dtype dtype) {
    const uint64_t sign = is_dtype(dtype) ? sign_bit(dtype) : 0;
    if ((factor & ~sign) == 0) return add(key, kNone);
    operand(key, p);
  }

  std::string take() noexcept { return std::move(line_); }

 private:
  void add(std::string_view key, std::string_view value) { line_.append(" ").append(key).append("=").append(value); }

  static std::string memory(const OperandInfo& seen) {
    for (const MemoryWord& word : kMemoryWords) {
      if (word.kind != seen.kind || word.mixed != seen.mixed) continue;
      const bool other = seen.kind == GPUMEM_MEMORY_DEVICE && seen.device != kOwnDevice;
      return other ? std::string(word.name).append(":").append(std::to_string(seen.device)) : word.name;
    }
    return {};
  }

  const CallRecord& record_;
  std::string line_;
  Operands operands_;
};

[[noreturn]] void fail_word(std::string_view key, std::string_view value, const std::string& expected) {
  fail(GPUMEM_INVALID_ARGUMENT, "line: %.*s is '%.*s'; expected %.300s", static_cast<int>(key.size()), key.data(),
       static_cast<int>(std::min<size_t>(value.size(), 60)), value.data(), expected.c_str());
}

std::string_view next_word(std::string_view& rest) noexcept {
  constexpr std::string_view kSpace = " \t\r\n";
  rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
  rest.remove_prefix(word.size());
  return word;
}

class Reader {
 public:
  Reader(CallRecord& record, std::string_view family, std::string_view rest) : record_(record), family_(family) {
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) fail_word("a word", word, "key=value");
      if (find(word.substr(0, equals)) != nullptr) fail_word("a key", word, "each key once");
      words_.push_back({word.substr(0, equals), word.substr(equals + 1), false});
    }
  }

  template <std::integral T>
  void number(std::string_view key, T& value) {
    const Word* word = required(key, "an integer");
    value = word != nullptr ? integer<T>(key, word->value) : T{1};
  }
  template <std::integral T>
  void number(std::string_view key, T& value, int64_t otherwise) {
    const Word* word = take(key);
    value = word != nullptr ? integer<T>(key, word->value) : static_cast<T>(otherwise);
  }
  void stride(std::string_view key, int64_t& value, int64_t otherwise) { number(key, value, otherwise); }
  void word(std::string_view key, int32_t& value, const Words& words) {
    std::string all;
    for (int32_t i = 0; i <= words.last; ++i) {
      if (words.name(i) != nullptr) all.append(all.empty() ? "" : ", ").append(words.name(i));
    }
    value = 0;
    const Word* word = required(key, all);
    if (word == nullptr) return;
    for (int32_t i = 0; i <= words.last; ++i) {
      if (words.name(i) == nullptr || word->value != words.name(i)) continue;
      value = i;
      return;
    }
    if (!parse_number(word->value, value))
      fail_word(key, word->value, all);  // a number without a name is left for the operation to refuse
  }
  void word(std::string_view key, int32_t& value, const Words& words, int32_t otherwise) {
    value = otherwise;
    if (find(key) != nullptr) return word(key, value, words);
    static_cast<void>(take(key));
  }
  template <class T>
  bool numbers(std::string_view key, T* list, bool, char separator, int32_t& count) {
    const Word* word = take(key);
    if (word == nullptr) return false;
    std::string_view rest = word->value;
    int32_t listed = 0;
    for (bool more = true; more;) {
      const size_t end = rest.find(separator);
      more = end != std::string_view::npos;
      if (listed == kMaxPermuteRank) fail_word(key, word->value, "at most 8 numbers");
      list[listed++] = integer<T>(key, rest.substr(0, end));
      rest.remove_prefix(more ? end + 1 : rest.size());
    }
    if (key != "extents" && listed != count) fail_word(key, word->value, "a number for each of the extents");
    count = listed;
    return true;
  }
  template <class P>
  void operand(std::string_view key, P*& p, uint64_t = 16) {
    const Word* word = take(key);
    int64_t misaligned = 0;
    number(std::string(key).append(kMisaligned), misaligned, 0);
    if (misaligned < 0 || misaligned >= 4096) {
      fail_word(std::string(key).append(kMisaligned), std::to_string(misaligned), "0 to 4095 bytes");
    }
    if (const void* same = word != nullptr ? operands_.find(word->value) : nullptr) {
      p = static_cast<P*>(const_cast<void*>(same));
    } else {
      p = reinterpret_cast<P*>(static_cast<uintptr_t>(operands_.count() + 1) *
                                   (kLineOperandBytes + kLineOperandBytes / 16) +
                               static_cast<uintptr_t>(misaligned));
      if (word != nullptr) record_.note(seen(key, word->value, p));
    }
    operands_.add(key, p);
  }
  void factor(std::string_view key, const void*& p, uint64_t& factor, gpumem_dtype) {
    const Word* word = find(key);
    factor = word == nullptr || word->value != kNone ? 1 : 0;
    if (factor != 0) return operand(key, p);
    static_cast<void>(take(key));
  }

  // Reports an unknown word before a missing one, because it may be that word misspelt.
  void require_all_taken() const {
    for (const Word& word : words_) {
      if (!word.taken) fail_word("a key of " + std::string(family_), word.key, keys_);
    }
    if (!missing_.empty()) fail(GPUMEM_INVALID_ARGUMENT, "line: %s", missing_.c_str());
  }

 private:
  struct Word {
    std::string_view key;
    std::string_view value;
    bool taken;
  };

  Word* find(std::string_view key) noexcept {
    for (Word& word : words_) {
      if (word.key == key) return &word;
    }
    return nullptr;
  }
  const Word* take(std::string_view key) {
    keys_.append(keys_.empty() ? "" : ", ").append(key);
    Word* word = find(key);
    if (word != nullptr) word->taken = true;
    return word;
  }
  const Word* required(std::string_view key, const std::string& expected) {
    const Word* word = take(key);
    if (word == nullptr && missing_.empty()) {
      missing_.append(family_).append(" has no ").append(key).append("; expected ").append(expected);
    }
    return word;
  }

  template <class T>
  static T integer(std::string_view key, std::string_view text) {
    if constexpr (std::same_as<T, bool>) {
      if (text != "0" && text != "1") fail_word(key, text, "0 or 1");
      return text == "1";
    } else {
      T value = 0;
      if (!parse_number(text, value)) fail_word(key, text, "an integer of " + std::to_string(8 * sizeof(T)) + " bits");
      return value;
    }
  }

  static OperandInfo seen(std::string_view key, std::string_view text, const void* p) {
    const size_t colon = std::min(text.find(':'), text.size());
    for (const MemoryWord& word : kMemoryWords) {
      if (text.substr(0, colon) != word.name) continue;
      if (colon == text.size()) return {p, word.kind, kOwnDevice, word.mixed};
      int32_t device = 0;
      if (word.kind != GPUMEM_MEMORY_DEVICE || !parse_number(text.substr(colon + 1), device) || device < 0) break;
      return {p, word.kind, device, false};
    }
    fail_word(key, text, "pageable, pinned, device, device:0, managed, mixed or the key of an operand before it");
  }

  CallRecord& record_;
  std::string_view family_;
  std::vector<Word> words_;
  std::string keys_;
  std::string missing_;
  Operands operands_;
};

}  // namespace

CallRecord parse_line(std::string_view line) {
  const std::string_view family = next_word(line);
  CallRecord record;
  std::string families;
  Families::for_each([&]<class Family>() {
    families.append(families.empty() ? "" : ", ").append(Family::name);
    if (family != Family::name) return;
    Reader reader(record, family, line);
    all_fields(reader, record.call.emplace<static_cast<size_t>(Family::id)>(), record.completion);
    reader.require_all_taken();
  });
  if (record.call.index() == 0) fail_word("the family", family, families);
  return record;
}

std::string line_of(const CallRecord& record) {
  CallRecord copy = record;
  std::string line;
  with_call(copy, [&]<class Family>(auto& call) {
    Writer writer(record, Family::name);
    all_fields(writer, call, copy.completion);
    line = writer.take();
  });
  return line;
}

}  // namespace gpumem

// SPDX-License-Identifier: Apache-2.0
//
// The outcome of an operation: a value, an exception or a result<T>.
#ifndef GPUMEM_RESULT_HPP
#define GPUMEM_RESULT_HPP

#include <gpumem.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpumem/constants.hpp"

namespace gpumem {

namespace detail {
// Reads the text of a function (buf, cap, needed), which reports the bytes that it needs if cap is 0.
template <class Write>
gpumem_status read_text(Write write, std::string& text) {
  std::int64_t needed = 0;
  const gpumem_status asked = write(nullptr, std::int64_t{0}, &needed);
  if (asked != GPUMEM_OK) return asked;
  text.resize(static_cast<std::size_t>(needed));
  const gpumem_status written = write(text.data(), needed, &needed);
  text.resize(written == GPUMEM_OK ? text.size() - 1 : 0);  // without the NUL
  return written;
}
}  // namespace detail

// The error message of this thread's last failure, or "".
inline std::string last_error() {
  std::string sentence;
  detail::read_text(gpumem_last_error, sentence);
  return sentence;
}

// The operation descriptor of this thread's last operation.
inline std::string last_problem() {
  std::string line;
  detail::read_text(gpumem_last_problem, line);
  return line;
}

struct failure {
  status code = status::ok;
  std::string sentence;
};

class error : public std::runtime_error {
 public:
  explicit error(const failure& why) : std::runtime_error(why.sentence), code_(why.code) {}
  status code() const noexcept { return code_; }

 private:
  status code_;
};

namespace detail {
[[noreturn]] inline void raise(const failure& what) {
#if defined(__cpp_exceptions)
  throw error(what);
#else
  (void)what;
  std::abort();
#endif
}

inline failure failure_of(gpumem_status code) {
  failure why{static_cast<status>(code), last_error()};
  // In this binding only a moved-from owner has a null handle.
  if (why.sentence.find(" is NULL; expected a live ") != std::string::npos) why.sentence += ": it was moved from";
  return why;
}

inline void check(gpumem_status code) {
  if (code != GPUMEM_OK) raise(failure_of(code));
}

inline std::string quantity(const char* name, std::int64_t value) {
  return std::string(name) + " is " + std::to_string(value);
}
}  // namespace detail

// A value, or the reason of a failure.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : value_(std::move(value)) {}
  result(failure why) : failure_(std::move(why)) {}

  bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  status code() const noexcept { return failure_.code; }
  const failure& error() const noexcept { return failure_; }

  // Throws gpumem::error after a failure.
  T& value() & { return checked(), *value_; }
  const T& value() const& { return checked(), *value_; }
  T&& value() && { return checked(), std::move(*value_); }
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }
  T value_or(T other) const& { return value_ ? *value_ : std::move(other); }
  T value_or(T other) && { return value_ ? std::move(*value_) : std::move(other); }

 private:
  void checked() const {
    if (!value_) detail::raise(failure_);
  }

  std::optional<T> value_;
  failure failure_;
};

template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(failure why) : failure_(std::move(why)) {}

  bool has_value() const noexcept { return failure_.code == status::ok; }
  explicit operator bool() const noexcept { return has_value(); }
  status code() const noexcept { return failure_.code; }
  const failure& error() const noexcept { return failure_; }
  void value() const {
    if (!has_value()) detail::raise(failure_);
  }

 private:
  failure failure_;
};

// How an operation reports its outcome: `throwing` by default, `returning` through attempt().
struct throwing {
  template <class T>
  using of = T;

  static void give(gpumem_status code) { detail::check(code); }
  template <class T>
  static T give(gpumem_status code, T&& value) {
    detail::check(code);
    return std::forward<T>(value);
  }
  template <class T>
  [[noreturn]] static T refuse(std::string sentence) {
    detail::raise({status::invalid_argument, std::move(sentence)});
  }
};

struct returning {
  template <class T>
  using of = result<T>;

  static result<void> give(gpumem_status code) {
    return code == GPUMEM_OK ? result<void>() : result<void>(detail::failure_of(code));
  }
  template <class T>
  static result<T> give(gpumem_status code, T&& value) {
    if (code == GPUMEM_OK) return result<T>(std::forward<T>(value));
    return result<T>(detail::failure_of(code));
  }
  template <class T>
  static result<T> refuse(std::string sentence) {
    return failure{status::invalid_argument, std::move(sentence)};
  }
};

}  // namespace gpumem

#endif  // GPUMEM_RESULT_HPP

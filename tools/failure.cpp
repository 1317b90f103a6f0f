#include "failure.hpp"

#include <string>

namespace tool {
namespace {

std::string last_error() {
  int64_t needed = 0;
  gpumem_last_error(nullptr, 0, &needed);
  std::string sentence(static_cast<std::size_t>(needed), '\0');
  gpumem_last_error(sentence.data(), needed, nullptr);
  if (!sentence.empty()) sentence.pop_back();  // the NUL
  return sentence;
}

}  // namespace

void check(gpumem_status status, std::string_view doing) {
  if (status == GPUMEM_OK) return;
  const std::string reason = last_error();
  const std::string before = doing.empty() ? "" : std::string(doing) + ": ";
  throw CallFailure(before + gpumem_status_name(status) + ": " + reason, status, reason);
}

}  // namespace tool

// Problem lines: one operation as text, "transpose bytes=4 rows=100 cols=200 src=device dst=device".
// docs/operation-descriptors.md has the grammar; problem_fields.hpp has what each family says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/call_record.hpp"

namespace gpumem {

// Throws INVALID_ARGUMENT, naming the word and what was expected. Operands get addresses that nothing lies at, each with room for so
// many bytes behind it.
CallRecord parse_line(std::string_view line);
inline constexpr int64_t kLineOperandBytes = int64_t{1} << 60;

// "" for no operation. An operand of which nothing is known is left out.
std::string line_of(const CallRecord& record);

}  // namespace gpumem

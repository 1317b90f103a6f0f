// Operation descriptors: one operation as text, "transpose bytes=4 rows=100 cols=200 src=device dst=device".
// docs/operation-descriptors.md has the grammar, and problem_fields.hpp the keys of each operation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ops/call_record.hpp"

namespace gpumem {

// Throws INVALID_ARGUMENT. Operands get unmapped addresses, kLineOperandBytes apart.
CallRecord parse_line(std::string_view line);
inline constexpr int64_t kLineOperandBytes = int64_t{1} << 59;

// "" for no operation. Unknown operands are left out.
std::string line_of(const CallRecord& record);

}  // namespace gpumem

// Whole pages from the operating system, a mapping a block: once a block is unmapped, later use of it can be found out.
#pragma once

#include <cstddef>

namespace gpumem {

// Throws OUT_OF_MEMORY. Large blocks are offered huge pages.
void* map_pages(size_t bytes);
void unmap_pages(void* p, size_t bytes) noexcept;

}  // namespace gpumem

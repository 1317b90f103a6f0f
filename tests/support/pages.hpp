// Ordinary host memory that ends, or begins, at a page that can't be accessed: one byte too far is a signal.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace gpumem_test {

class FencedPages {
 public:
  explicit FencedPages(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    inside_ = (bytes + page_ - 1) / page_ * page_;
    mapping_ = mmap(nullptr, inside_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapping_, MAP_FAILED);
    EXPECT_EQ(mprotect(first(), inside_, PROT_READ | PROT_WRITE), 0);
  }
  FencedPages(const FencedPages&) = delete;
  FencedPages& operator=(const FencedPages&) = delete;
  ~FencedPages() { munmap(mapping_, inside_ + 2 * page_); }

  char* first() const { return static_cast<char*>(mapping_) + page_; }
  char* end() const { return first() + inside_; }
  size_t bytes() const { return inside_; }
  void protect(int protection) { EXPECT_EQ(mprotect(first(), inside_, protection), 0); }

 private:
  size_t page_;
  size_t inside_ = 0;
  void* mapping_ = nullptr;
};

}  // namespace gpumem_test

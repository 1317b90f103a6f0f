// Blocks of device memory in an arena. Idle memory is joined, cut again, and returned to the device page by page.
#pragma once

#include "memory/arena.hpp"
#include "memory/cached_supply.hpp"

namespace gpumem {

class MappedSupply final : public CachedSupply {
 public:
  MappedSupply(PoolBooks& books, std::unique_ptr<BlockSource> source, std::unique_ptr<Arena> arena)
      : CachedSupply(books, std::move(source)), arena_(std::move(arena)) {}
  ~MappedSupply() override;

  PoolRequest request_for(size_t bytes, size_t alignment) const noexcept override;
  std::optional<Block> take(StreamCache& cache, const PoolRequest& request) noexcept override;
  int64_t idle_bytes() override { return CachedSupply::idle_bytes() + arena_->free_bytes(); }
  void release_all() override;
  bool keeps(const StreamCache& cache) const noexcept override { return arena_->keeps(cache); }

 private:
  void* take_memory(StreamCache& cache, const PoolRequest& request, size_t bytes) override;
  void give_back_memory(const StreamCache& cache, void* p, size_t bytes) noexcept override;
  void absorb(StreamCache& from) noexcept override { arena_->absorb(books_.ready, from); }
  bool reuse(StreamCache& cache, const PoolRequest& request) override;
  bool adopt_free(StreamCache& cache, StreamCache& from, const PoolRequest& request) override;
  bool gather(StreamCache& cache, const PoolRequest& request, size_t slots) override;
  int64_t missing_for(StreamCache& cache, const PoolRequest& request, size_t slots, bool scarce) override;
  bool scarce(int64_t bytes, const PoolRequest& request) const noexcept override;
  int64_t release_to(int64_t most, std::vector<FencePtr>* not_passed) override;

  size_t ahead_of(StreamCache& cache) const;
  void map(const StreamCache& cache, const Arena::Request& wanted);
  bool attach_free(StreamCache& cache, const PoolRequest& request);
  void merge_idle(StreamCache& cache, int first_class);
  void free_idle(int first_class);
  void note_passed(StreamCache& cache);
  void count_mapped() noexcept { books_.reserved.add(arena_->mapped_bytes() - books_.reserved.now()); }

  const std::unique_ptr<Arena> arena_;
  Arena::Growth growth_;  // for the last region asked of missing_for()
};

}  // namespace gpumem

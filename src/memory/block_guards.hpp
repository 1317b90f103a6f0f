// Debug mode that detects writes past a block's ends and after its free, with guard bytes and a delay of reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/block_supply.hpp"

namespace gpumem {

class BlockGuards final : public BlockSupply {
 public:
  static constexpr size_t kBytes = 256;  // minimum at each end
  static constexpr size_t kMostAside = size_t{64} << 20;
  static constexpr size_t kMostBlocksAside = 4096;  // the driver counts each as an allocation

  BlockGuards(PoolBooks& books, std::unique_ptr<BlockSupply> inner);
  ~BlockGuards() override;

  PoolRequest request_for(size_t bytes, size_t alignment) const noexcept override;
  // Painting must not hold a cache's lock.
  std::optional<Block> take(StreamCache&, const PoolRequest&) noexcept override { return std::nullopt; }
  bool put(StreamCache&, Block) noexcept override { return false; }
  void give_back(const Claim& claim) noexcept override;
  Supplied grow(StreamCache& cache, const PoolRequest& request) override;
  int64_t idle_bytes() override;
  void release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) override;
  void release_all() override;
  void trim(int64_t keep_bytes) noexcept override { inner_->trim(keep_bytes); }
  bool keeps(const StreamCache& cache) const noexcept override { return inner_->keeps(cache); }

  void check(const Claim& claim, Damage& found) override;
  void check_all(Damage& found) override;  // includes damage found at release
  std::vector<std::string> take_sentences() noexcept override;

 private:
  // The first to the last byte that lost its written value.
  struct Changed {
    uintptr_t first;
    uintptr_t last;
  };

  bool reached() const noexcept;
  NativeStream link();
  void paint(uintptr_t p, size_t bytes, unsigned char value);
  std::optional<Changed> changed(unsigned char value, uintptr_t p, size_t bytes);
  void surround(Block block, size_t bytes);
  void check_ends(Block block, size_t bytes, Damage& found);
  void check_freed(Block block, Damage& found);
  void note(Block block, const Changed& changed, const char* when, Damage& found);
  bool put_aside(const Claim& claim) noexcept;
  std::optional<Claim> take_oldest(size_t keep_bytes) noexcept;
  void give_back_aside(size_t keep_bytes) noexcept;

  const PoolOwner& owner_;
  const gpumem_memory_kind kind_;
  const std::unique_ptr<BlockSupply> inner_;
  mutable std::mutex mutex_;
  NativeStream link_ = nullptr;
  std::vector<unsigned char> buffer_;
  std::unordered_map<uintptr_t, Block> live_;
  std::deque<Claim> aside_;
  size_t bytes_aside_ = 0;
  Damage let_go_;
  std::vector<std::string> sentences_;
};

}  // namespace gpumem

// SPDX-License-Identifier: Apache-2.0
//
// Owners of handles, and how they keep a context alive.
#ifndef GPUMEM_HANDLES_HPP
#define GPUMEM_HANDLES_HPP

#include <gpumem.h>

#include <memory>
#include <utility>

namespace gpumem {

namespace detail {
// Shared by the gpumem::context and its memory, streams, events and registrations.
struct context_handle : std::enable_shared_from_this<context_handle> {
  context_handle() = default;
  context_handle(const context_handle&) = delete;
  context_handle& operator=(const context_handle&) = delete;
  ~context_handle() { gpumem_ctx_destroy(ctx); }

  gpumem_ctx* ctx = nullptr;
};
using kept_context = std::shared_ptr<context_handle>;

// A context's handle without a share of its ownership, so calls that make nothing touch no reference count. keep()
// gives a share to an object that the context makes. `owner` is null if this binding does not own the handle.
struct context_link {
  context_link() = default;
  context_link(gpumem_ctx* handle) noexcept : ctx(handle) {}
  context_link(context_handle& kept) noexcept : ctx(kept.ctx), owner(&kept) {}
  kept_context keep() const { return owner == nullptr ? nullptr : owner->shared_from_this(); }

  gpumem_ctx* ctx = nullptr;
  context_handle* owner = nullptr;
};

template <class H, gpumem_status (*Destroy)(H*)>
class owner {
 public:
  owner(context_link ctx, H* handle) noexcept : keep_(handle == nullptr ? nullptr : ctx.keep()), handle_(handle) {}
  owner(owner&& other) noexcept : keep_(std::move(other.keep_)), handle_(std::exchange(other.handle_, nullptr)) {}
  owner& operator=(owner&& other) noexcept {
    owner taken(std::move(other));
    std::swap(keep_, taken.keep_);
    std::swap(handle_, taken.handle_);
    return *this;
  }
  ~owner() { Destroy(handle_); }

  H* get() const noexcept { return handle_; }

 private:
  kept_context keep_;
  H* handle_;
};

// A ref together with the owner of its handle. After a move the handle is null, and calls report it.
template <class Ref, class Owner>
class owning : public Ref {
 public:
  owning(owning&& other) noexcept : Ref(other), owner_(std::move(other.owner_)) { other.queue_ = {}; }
  owning& operator=(owning&& other) noexcept {
    owning taken(std::move(other));
    std::swap(this->queue_, taken.queue_);
    std::swap(owner_, taken.owner_);
    return *this;
  }
  ~owning() = default;

 protected:
  owning(Ref ref, Owner owner) noexcept : Ref(ref), owner_(std::move(owner)) {}

  Owner owner_;
};
}  // namespace detail

}  // namespace gpumem

#endif  // GPUMEM_HANDLES_HPP

// Queries the CUDA driver that the program has loaded about a pointer. It loads nothing itself.
//
// A program may load the driver at any time. glibc reports new libraries only under the loader's locks. If another
// thread holds the lock of dl_iterate_phdr() during fork(), it stays locked in the child. The child then hangs in its
// next call that takes the lock, its own dlopen() included. So no call asks the loader about memory that the host can
// access. The driver is looked for at two times:
// - When a context is made. From then on, pinned and managed memory are recognised.
// - When memory turns out to be inaccessible. Unregistered memory is always probed before it is touched, so a device
//   pointer never gets through, whenever its driver was loaded.
// Each time the list of mappings is read first, to see whether the driver is loaded. dlopen(RTLD_NOLOAD) takes only the
// lock that fork() makes anew in the child. But a search for a library that is not loaded changes state of the loader,
// and a child that is forked meanwhile crashes.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

void look_for_cuda() noexcept;
Location ask_found_cuda(const void* p) noexcept;

}  // namespace gpumem

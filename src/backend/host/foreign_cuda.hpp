// What a CUDA driver that the program has loaded knows of a pointer. It loads nothing itself.
//
// A program may load the driver at any time. glibc tells of new libraries only under the loader's locks, and fork() leaves the lock of
// dl_iterate_phdr() locked in the child if another thread holds it at that moment. The child then hangs in its next call that takes the lock,
// its own dlopen() included. So no call asks the loader about memory that the host can access. The driver is looked for at two times:
// - When a context is made. From then on pinned and managed memory is told apart.
// - When memory turns out to be inaccessible. The system is asked about memory that nobody registered before it is touched, so a device
//   pointer never gets through, whenever its driver was loaded.
// Each time the list of mappings says first whether it is there. dlopen(RTLD_NOLOAD) takes only the lock that fork() makes anew in the child,
// but a search for a library that is not loaded changes state of the loader, with which a child that is forked meanwhile crashes.
#pragma once

#include "backend/backend.hpp"

namespace gpumem {

void look_for_cuda() noexcept;
Location ask_found_cuda(const void* p) noexcept;

}  // namespace gpumem

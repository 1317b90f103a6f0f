// What the fake libnccl.so.2 takes of the program that loads it, and what it tells that program.
#pragma once

#include <cstddef>

extern "C" {
struct FakeNcclDevice {
  int (*run)(void* stream, void (*task)(void*), void* argument);  // in the order of a stream
  void (*copy)(void* dst, const void* src, size_t bytes);         // memory of any device, at once
  int (*current_device)();
};
// Before anything else.
void fake_nccl_use(const FakeNcclDevice* device);
// The first thing that was wrong with the calls; empty: nothing.
const char* fake_nccl_misuse();
// Since the last call of this: bytes that were sent, and operations.
struct FakeNcclTraffic {
  size_t bytes;
  size_t operations;
};
FakeNcclTraffic fake_nccl_traffic();
size_t fake_nccl_comms();  // that are alive
}

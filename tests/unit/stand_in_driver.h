/* The addresses that the stand-in driver knows. Nothing is mapped there. */
#pragma once

#define STAND_IN_DEVICE_POINTER 0x7a0000001000ull
#define STAND_IN_MANAGED_POINTER 0x7a0000002000ull
#define STAND_IN_PINNED_POINTER 0x7a0000003000ull

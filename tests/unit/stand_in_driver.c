/* A CUDA driver of one function, with the attribute numbers of cuda.h. */
#include "tests/unit/stand_in_driver.h"

int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer);

int cuPointerGetAttribute(void* value, int attribute, unsigned long long pointer) {
  const int is_device = pointer == STAND_IN_DEVICE_POINTER;
  const int is_managed = pointer == STAND_IN_MANAGED_POINTER;
  if (!is_device && !is_managed && pointer != STAND_IN_PINNED_POINTER) return 1; /* CUDA_ERROR_INVALID_VALUE */
  switch (attribute) {
    case 2: /* MEMORY_TYPE */
      *(unsigned*)value = is_device || is_managed ? 2u : 1u;
      return 0;
    case 8: /* IS_MANAGED */
      *(unsigned*)value = is_managed ? 1u : 0u;
      return 0;
    case 9: /* DEVICE_ORDINAL */
      *(int*)value = 3;
      return 0;
    default:
      return 1;
  }
}

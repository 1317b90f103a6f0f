/* A CUDA driver of one function, with the attribute numbers of cuda.h. */
#include "tests/unit/stand_in_driver.h"

int cuPointerGetAttributes(unsigned count, int* attributes, void** values, unsigned long long pointer);

/* What is not known is no error: the type is 0, and there is no device. */
int cuPointerGetAttributes(unsigned count, int* attributes, void** values, unsigned long long pointer) {
  const int is_device = pointer == STAND_IN_DEVICE_POINTER;
  const int is_managed = pointer == STAND_IN_MANAGED_POINTER;
  const int is_pinned = pointer == STAND_IN_PINNED_POINTER;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case 2: /* MEMORY_TYPE */
        *(unsigned*)values[i] = is_device || is_managed ? 2u : is_pinned ? 1u : 0u;
        break;
      case 8: /* IS_MANAGED */
        *(unsigned*)values[i] = is_managed ? 1u : 0u;
        break;
      case 9: /* DEVICE_ORDINAL */
        *(int*)values[i] = is_device || is_managed || is_pinned ? 3 : -2;
        break;
      default:
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    }
  }
  return 0;
}

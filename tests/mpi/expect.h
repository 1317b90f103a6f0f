/* What a program under mpirun expects: what is not so is printed with its rank, and makes the program fail. */
#include <stdio.h>

static int this_rank, failures;

#define EXPECT(condition)           \
  ((condition) ? (void)0            \
               : (void)(++failures, \
                        fprintf(stderr, "%s:%d: rank %d: expected %s\n", __FILE__, __LINE__, this_rank, #condition)))

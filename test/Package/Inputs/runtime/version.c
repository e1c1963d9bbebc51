#include "ft-c/Runtime.h"

#include <stdio.h>

int main(void) { return printf("ABI %d\n", (int)ft_abi_version()) < 0; }

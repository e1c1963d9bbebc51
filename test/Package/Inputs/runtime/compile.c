#include "ft-c/PortableApi.h"

#include <stdio.h>

int main(void) {
  const FtApi *ft = ft_api(FT_API_VERSION_MAJOR);
  return printf("%d: %s\n", (int)ft->abi_version(), ft->target_name(1)) < 0;
}

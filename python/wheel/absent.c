/*===- absent.c - what the wheel's library leaves out ----------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* The wheel holds LLVM's back ends for X86 and NVPTX. Upstream passes that      */
/* nothing here runs register those for AMD's GPUs and SPIR-V: nothing to do.     */
/*                                                                              */
/* arc4random is in the C library from 2.36 on; with one of our own the wheel    */
/* runs where the library is 2.35 (Ubuntu 22.04). LLVM draws the names of        */
/* temporary files by it.                                                       */
/*===------------------------------------------------------------------------===*/
#include <stdint.h>
#include <sys/random.h>
#include <unistd.h>

#define FT_HIDDEN __attribute__((visibility("hidden")))
#define FT_ABSENT(NAME)                                                                            \
  FT_HIDDEN void LLVMInitialize##NAME(void);                                                       \
  void LLVMInitialize##NAME(void) {}

FT_ABSENT(AMDGPUTarget)
FT_ABSENT(AMDGPUTargetInfo)
FT_ABSENT(AMDGPUTargetMC)
FT_ABSENT(AMDGPUAsmParser)
FT_ABSENT(AMDGPUAsmPrinter)
FT_ABSENT(SPIRVTarget)
FT_ABSENT(SPIRVTargetInfo)
FT_ABSENT(SPIRVTargetMC)
FT_ABSENT(SPIRVAsmPrinter)

FT_HIDDEN uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t value = 0;
  char *at = (char *)&value;
  size_t left = sizeof value;
  while (left > 0) {
    ssize_t got = getrandom(at, left, 0);
    if (got > 0) {
      at += got;
      left -= (size_t)got;
    }
  }
  return value;
}

/*===- PortableApi.h - what stays as it is --------------------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* Stable, within one major version of what is named here:                      */
/*                                                                              */
/* - ft-c/Runtime.h and ft-c/Compiler.h. Functions keep their names, arguments  */
/*   and meanings; new ones may come. Structs begin with their size and only    */
/*   grow at their end; a field of zero bytes means what the field's absence    */
/*   meant. Enumerators keep their numbers; new ones may come, statuses too:    */
/*   treat one that you don't know as a failure. Handles are opaque.            */
/* - The SONAME of libFractalTensorRuntime.so, which carries FT_ABI_VERSION: a  */
/*   program linked with it runs with every library of that name.               */
/* - Bundles (.ftb): a runtime reads those of its format number, whatever       */
/*   version of the compiler wrote them, and refuses others by name.            */
/* - The names of phases and targets, as ft_phase_name and ft_target_name give  */
/*   them: none is renamed; new ones may come.                                  */
/* - FtApi, below.                                                              */
/*                                                                              */
/* Not stable, because MLIR is not: everything in C++, ft-c/Dialects.h,         */
/* ft-c/Passes.h and ft-c/Module.h, the text of programs between versions, the  */
/* options and names of passes, what a phase makes, and the words of messages   */
/* and remarks. These belong to one version (the SONAME of libFractalTensor.so) */
/* and to the LLVM that it was built with.                                      */
/*                                                                              */
/* A program that must not be linked with the compiler finds all functions in   */
/* one table, by one name:                                                      */
/*                                                                              */
/*   void *library = dlopen("libFractalTensor.so", RTLD_NOW | RTLD_LOCAL);      */
/*   const FtApi *(*get)(int32_t) = dlsym(library, "ft_api");                   */
/*   const FtApi *ft = get ? get(FT_API_VERSION_MAJOR) : NULL;                  */
/*   if (!ft || !FT_API_HAS(ft, program_figure)) ...                            */
/*   ft->compiler_create(NULL, &compiler);                                      */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_PORTABLEAPI_H
#define FT_C_PORTABLEAPI_H

#include "ft-c/Compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The major version changes when something of the above does; the minor one when functions were added. */
#define FT_API_VERSION_MAJOR 1
#define FT_API_VERSION_MINOR 3

/* The functions of ft-c/Runtime.h and ft-c/Compiler.h, by their names without "ft_". New ones are added at the
   end: ask FT_API_HAS before one that is younger than the version you need. */
typedef struct FtApi {
  size_t struct_size;
  int32_t major_version;
  int32_t minor_version;

  /* ft-c/Runtime.h */
  int32_t (*abi_version)(void);
  const char *(*last_error)(void);
  FtStatus (*set_last_error)(FtStatus status, const char *message);
  const char *(*status_name)(FtStatus status);
  FtStatus (*device_count)(int32_t device_type, int32_t *count);
  const char *(*host_processor)(void);
  FtStatus (*module_load)(const char *path, const FtLoadOptions *options, FtModule **module);
  FtStatus (*module_load_bytes)(const void *bytes, size_t size, const FtLoadOptions *options, FtModule **module);
  FtStatus (*module_load_kernels)(const void *bytes, size_t size, const FtKernels *kernels, FtModule **module);
  void (*module_release)(FtModule *module);
  int32_t (*module_num_entries)(const FtModule *module);
  const char *(*module_entry_name)(const FtModule *module, int32_t index);
  FtStatus (*module_entry)(FtModule *module, const char *name, FtEntry **entry);
  FtStatus (*entry_info)(FtEntry *entry, FtEntryInfo *info);
  FtStatus (*entry_argument)(FtEntry *entry, int32_t index, FtArgumentInfo *info);
  const char *(*entry_variant)(FtEntry *entry, int32_t index);
  FtStatus (*entry_select_variant)(FtEntry *entry, const char *variant);
  FtStatus (*output_shape)(FtEntry *entry, const FtTensor *const *tensors, int32_t count, int32_t index,
      int64_t *shape, int32_t *ndim);
  FtStatus (*workspace_bytes)(FtEntry *entry, const FtTensor *const *tensors, int32_t count, uint64_t *bytes);
  FtStatus (*call)(FtEntry *entry, const FtTensor *const *tensors, int32_t count, const FtCallOptions *options);
  FtStatus (*synchronize)(FtModule *module, void *stream);
  FtStatus (*module_alloc)(FtModule *module, size_t bytes, void **memory);
  void (*module_free)(FtModule *module, void *memory);
  FtStatus (*module_copy_to)(FtModule *module, void *device, const void *host, size_t bytes);
  FtStatus (*module_copy_from)(FtModule *module, void *host, const void *device, size_t bytes);

  /* ft-c/Compiler.h */
  FtStatus (*compiler_create)(const FtCompilerOptions *options, FtCompiler **compiler);
  void (*compiler_release)(FtCompiler *compiler);
  const char *(*compiler_version)(void);
  const char *(*phase_name)(int32_t index);
  const char *(*target_name)(int32_t index);
  FtStatus (*source_parse)(FtCompiler *compiler, const char *text, size_t size, const char *name, FtSource **source);
  void (*source_release)(FtSource *source);
  const char *(*source_entry_name)(const FtSource *source, int32_t index);
  FtStatus (*evaluate)(FtSource *source, const char *entry, const FtTensor *const *inputs, int32_t count,
      FtArrayFn result, void *user);
  FtStatus (*print)(FtSource *source, const FtCompileOptions *options, const char *to, FtTextFn write, void *user);
  FtStatus (*compile)(FtSource *source, const FtCompileOptions *options, FtProgram **program);
  void (*program_release)(FtProgram *program);
  FtStatus (*compile_text)(FtCompiler *compiler, const char *text, size_t size, const char *name,
      const FtCompileOptions *options, FtProgram **program);
  FtStatus (*program_load)(FtProgram *program, const FtLoadOptions *options, FtModule **module);
  FtStatus (*program_bytes)(FtProgram *program, const void **bytes, size_t *size);
  FtStatus (*program_export)(FtProgram *program, const char *path);
  FtStatus (*program_figure)(const FtProgram *program, const char *name, double *value);

  /* ft-c/Runtime.h */
  FtStatus (*ragged_longest)(const int64_t *offsets, int64_t count, int64_t elements, int64_t *longest);
  FtStatus (*ragged_fill)(const int64_t *offsets, int64_t count, int64_t longest, int64_t *index, int64_t *lengths,
      int64_t *positions, int64_t *lists, int64_t *places);

  /* ft-c/Compiler.h */
  FtStatus (*source_differentiate)(FtSource *source, const char *options, FtTextFn write, void *user);

  /* ft-c/Runtime.h */
  int32_t (*module_num_held)(const FtModule *module);
  FtStatus (*module_held)(FtModule *module, int32_t index, FtHeldInfo *info);
  FtStatus (*module_bind)(FtModule *module, const char *const *names, const FtTensor *const *tensors, int32_t count);
  FtStatus (*module_bind_file)(FtModule *module, const char *path);

  /* ft-c/Compiler.h */
  FtStatus (*program_hold)(FtProgram *program, const void *safetensors, size_t size);

  /* ft-c/Runtime.h */
  FtStatus (*call_traced)(FtEntry *entry, const FtTensor *const *tensors, int32_t count, const FtCallOptions *options,
      const char **trace);
} FtApi;

/* Whether the table `api` is long enough to have `member`. */
#define FT_API_HAS(api, member) ((api)->struct_size >= offsetof(FtApi, member) + sizeof((api)->member))

/* The table of a major version, which lives as long as the library; NULL for one that the library does not have. */
const FtApi *ft_api(int32_t major_version);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_PORTABLEAPI_H */

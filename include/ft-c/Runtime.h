/*===- Runtime.h - running compiled programs from C -----------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* Loads a bundle (.ftb), looks an entry up, asks for the shapes of its outputs */
/* and calls it with tensors that the caller owns. Needs no compiler, and on a  */
/* GPU nothing but the driver. See examples/c/.                                 */
/*                                                                              */
/* Every function that can fail returns an FtStatus; ft_last_error() then gives */
/* the message of this thread's last failure. Structs that may grow begin with  */
/* their size, which the caller sets. Functions may be called from any thread;  */
/* calls of one entry take turns while they enqueue.                            */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_RUNTIME_H
#define FT_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FT_ABI_VERSION 1

typedef enum FtStatus {
  FT_OK = 0,
  FT_INVALID_ARGUMENT = 1,   /* dtype, rank, shape, stride, device, alignment, overlap */
  FT_NOT_FOUND = 2,          /* no such file, entry or kernel */
  FT_IO_ERROR = 3,           /* the operating system refused */
  FT_CORRUPT = 4,            /* truncated, altered or malformed */
  FT_UNSUPPORTED_FORMAT = 5, /* a bundle, ABI or PTX version that is not read here */
  FT_OUT_OF_MEMORY = 6,      /* on the host or the device; the next call may work */
  FT_NO_DRIVER = 7,          /* libcuda is missing or too old */
  FT_NO_DEVICE = 8,          /* none present, or of an architecture the bundle lacks */
  FT_NOT_RESIDENT = 9,       /* a cooperative grid that does not fit the device */
  FT_DRIVER_ERROR = 10,      /* any other failure of a driver call */
  FT_CONTEXT_LOST = 11,      /* the device failed; this process cannot use it again */
  FT_FORKED = 12,            /* device use in a child of a process that had used it */
  FT_INTERNAL = 13,
  FT_INVALID_PROGRAM = 14, /* a program that the compiler refuses; see ft-c/Compiler.h */
  FT_CANCELLED = 15        /* ended because the caller asked for it */
} FtStatus;

/* DLPack's numbers. */
typedef enum FtDeviceType { FT_CPU = 1, FT_CUDA = 2 } FtDeviceType;

/* The layout of DLPack's DLTensor: a pointer to one may be cast to this. Strides
   count elements; NULL stands for dense row-major. dtype.code: 0 integer,
   1 unsigned, 2 float, 4 bfloat, 6 bool (8 bits). */
typedef struct FtTensor {
  void *data;
  struct {
    int32_t type; /* FtDeviceType */
    int32_t id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} FtTensor;

typedef struct FtModule FtModule; /* a bundle, loaded for one device */
typedef struct FtEntry FtEntry;   /* a function in it; lives as long as the module */

typedef struct FtLoadOptions {
  size_t struct_size;
  int32_t device_type; /* FtDeviceType */
  int32_t device_id;
} FtLoadOptions;

typedef struct FtEntryInfo {
  size_t struct_size;
  const char *name; /* strings live as long as the module */
  int32_t num_arguments;
  int32_t num_variants; /* schedules for this device's target */
  const char *target;   /* "sm_90a" */
  const char *variant;  /* the one in use */
} FtEntryInfo;

typedef struct FtArgumentInfo {
  size_t struct_size;
  const char *name;
  const char *dtype; /* "f32", "bf16", "i64", ... */
  int32_t ndim;
  int32_t is_output;
  int32_t writeback;   /* the argument whose memory this output may share, or -1 */
  int32_t strided_dims; /* leading dimensions that may have any stride */
} FtArgumentInfo;

enum {
  /* Records the call's launches in a CUDA graph at first use and replays it
     when the same shapes and pointers come again. */
  FT_CALL_GRAPH = 1,
  /* Without it, calls after the first may go through a CUDA graph whose kernels
     get this call's parameters, which takes the driver half the time. With it,
     each kernel is a launch of its own. */
  FT_CALL_DIRECT = 2
};

typedef struct FtCallOptions {
  size_t struct_size;
  void *stream; /* CUstream; NULL is the default stream */
  /* Scratch memory on the device, of at least ft_workspace_bytes, aligned to
     256; NULL lets the module keep its own for each stream. */
  void *workspace;
  uint64_t workspace_bytes;
  uint64_t flags;
} FtCallOptions;

/* The version the library was built with. */
int32_t ft_abi_version(void);
/* The message of this thread's last failure; "" before the first. Valid until
   the thread's next failure. */
const char *ft_last_error(void);
/* For libraries that extend this one: makes `message` this thread's last failure
   and returns `status`. */
FtStatus ft_set_last_error(FtStatus status, const char *message);
/* "invalid argument", ... */
const char *ft_status_name(FtStatus status);

/* The number of devices of a type; FT_NO_DRIVER where there is no driver. */
FtStatus ft_device_count(int32_t device_type, int32_t *count);

/* This processor itself as a target: its model and its instructions, "cpu:" and
   sixteen digits. Code for it runs on processors of that name only. */
const char *ft_host_processor(void);

/* Loads a bundle. `options` may be NULL: the CPU. */
FtStatus ft_module_load(const char *path, const FtLoadOptions *options, FtModule **module);
/* The same from memory, which may be freed afterwards. */
FtStatus ft_module_load_bytes(const void *bytes, size_t size, const FtLoadOptions *options,
                              FtModule **module);

/* Functions of the caller in place of a bundle's code. */
typedef struct FtKernels {
  size_t struct_size;
  /* Runs a kernel, by its index in the plan of entry `entry`: arguments[i] points
     to the i-th argument's value. Gives NULL, or what went wrong, which stays
     valid until this thread's next launch. May be called by several threads at
     once, for entries that differ. */
  const char *(*launch)(void *context, const char *entry, int32_t kernel, void **arguments);
  /* Called once, when the module is done with `context`. May be NULL. */
  void (*release)(void *context);
  void *context;
} FtKernels;

/* Loads a bundle whose kernels are the caller's, on the host: its plans are run,
   checked and bound as if the code were in it. The context belongs to the module
   from here on, also where this fails. */
FtStatus ft_module_load_kernels(const void *bytes, size_t size, const FtKernels *kernels,
                                FtModule **module);
/* Waits for the module's work and frees what it holds. NULL is allowed. */
void ft_module_release(FtModule *module);

int32_t ft_module_num_entries(const FtModule *module);
/* NULL if there is none. */
const char *ft_module_entry_name(const FtModule *module, int32_t index);
/* `name` may be NULL if there is one entry only. */
FtStatus ft_module_entry(FtModule *module, const char *name, FtEntry **entry);

FtStatus ft_entry_info(FtEntry *entry, FtEntryInfo *info);
FtStatus ft_entry_argument(FtEntry *entry, int32_t index, FtArgumentInfo *info);
/* The name of a schedule variant; NULL if there is none. */
const char *ft_entry_variant(FtEntry *entry, int32_t index);
FtStatus ft_entry_select_variant(FtEntry *entry, const char *variant);

/* The shape of output argument `index` for the inputs in `tensors`, which has a
   place for every argument; places of outputs may be NULL. `shape` has room for
   *ndim extents; *ndim becomes the rank. */
FtStatus ft_output_shape(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                         int32_t index, int64_t *shape, int32_t *ndim);
FtStatus ft_workspace_bytes(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                            uint64_t *bytes);

/* Checks the arguments and enqueues the work on the stream; on the CPU the work
   is done at return. `tensors` holds all arguments in order, outputs too, which
   the caller allocates. After an error that is found before the first launch the
   outputs are untouched. What data caused in an earlier call on a device, of any
   entry (an index out of range), and what nothing has waited for since, is
   FT_DRIVER_ERROR here, which names that entry, and this call does nothing. `options` may be NULL. */
FtStatus ft_call(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                 const FtCallOptions *options);

/* A call whose pieces are timed, until it has ended. *trace becomes the text of a Chrome
   trace, which https://ui.perfetto.dev opens. On the CPU it has the kernels, tasks and waits
   at barriers of each thread. On a GPU it has each launch by events. No graphs are used, and
   flags are ignored. The text lives until the thread's next traced call. */
FtStatus ft_call_traced(FtEntry *entry, const FtTensor *const *tensors, int32_t count,
                        const FtCallOptions *options, const char **trace);

/* Waits for a stream and reports what went wrong in it since the last time: a
   kernel that trapped, an index out of range. */
FtStatus ft_synchronize(FtModule *module, void *stream);

/* Arguments that a module holds from call to call: the parameters of a model. An
   entry's arguments here are those that calls pass; what is held is the same for
   all entries, by its name. */
typedef struct FtHeldInfo {
  size_t struct_size;
  const char *name; /* strings and shapes live as long as the module */
  const char *dtype;
  int32_t ndim;
  const int64_t *shape;
  int32_t is_derived; /* computed from the others when they are bound: not to be bound itself */
  int32_t is_bound;   /* has a value now */
  int64_t not_finite; /* infinite elements and those that are no numbers; -1: not looked at */
} FtHeldInfo;

int32_t ft_module_num_held(const FtModule *module);
FtStatus ft_module_held(FtModule *module, int32_t index, FtHeldInfo *info);

/* Binds values by name, or replaces them: dense tensors of the CPU or the module's
   device, which are copied. All or none: after an error the module holds what it
   held. What depends on parameters alone is computed here, once all have values.
   Calls that have begun use what was bound before, later ones the new values. A
   CUDA graph that the caller captured has the old ones' addresses, and must be
   captured again. */
FtStatus ft_module_bind(FtModule *module, const char *const *names,
                        const FtTensor *const *tensors, int32_t count);
/* The same from a safetensors file that has every parameter, and nothing else.
   Bundles that hold parameters are bound when they are loaded. */
FtStatus ft_module_bind_file(FtModule *module, const char *path);

/* Lists of different lengths are values, one after the other, and offsets: `count`
   numbers, one more than there are lists, where each begins and the last one ends.
   A compiled program takes five arrays of i64 for each ragged level r instead,
   "r.index" [lists, longest], "r.lengths" [lists], "r.positions" [longest],
   "r.lists" and "r.places" [total]; where there is one list alone, "r.index" is
   [longest] and "r.lengths" has no dimension. The total is the last offset.
   This gives the length of the longest list, and an error where the offsets do not
   begin with 0, fall, or go beyond `elements`. */
FtStatus ft_ragged_longest(const int64_t *offsets, int64_t count, int64_t elements, int64_t *longest);
/* Fills the five arrays; the offsets are those that ft_ragged_longest has seen. */
FtStatus ft_ragged_fill(const int64_t *offsets, int64_t count, int64_t longest, int64_t *index,
                        int64_t *lengths, int64_t *positions, int64_t *lists, int64_t *places);

/* Memory of the module's device, aligned to 256 bytes, for callers that have no
   other source of it. Copies wait until they are done. */
FtStatus ft_module_alloc(FtModule *module, size_t bytes, void **memory);
void ft_module_free(FtModule *module, void *memory);
FtStatus ft_module_copy_to(FtModule *module, void *device, const void *host, size_t bytes);
FtStatus ft_module_copy_from(FtModule *module, void *host, const void *device, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_RUNTIME_H */

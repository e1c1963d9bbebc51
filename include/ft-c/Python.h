/*===- Python.h - calls from Python that cost little ----------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* A call through ctypes converts each argument and makes structs of it, which  */
/* takes longer than to enqueue the work. A *dispatcher* does all of a repeated */
/* call in one function of Python's own calling convention: it reads the arrays */
/* where their libraries keep what describes them, finds the prepared call of   */
/* this signature (types, shapes, strides, device), makes results, takes the    */
/* current stream and calls ft_call, which checks addresses and overlaps as     */
/* always. Whatever it does not know it leaves to the caller, and says so by    */
/* giving None: the package then takes its slower way, which explains errors.   */
/*                                                                              */
/* No header of Python is needed to build this: the few functions of its stable */
/* ABI come in FtPythonApi, so that one build serves every version.             */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_PYTHON_H
#define FT_C_PYTHON_H

#include "ft-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Objects are PyObject pointers. The names are those of Python's functions. */
typedef struct FtPythonApi {
  size_t struct_size;
  void *(*object_type)(void *object);
  void (*inc_ref)(void *object);
  void (*dec_ref)(void *object);
  void *(*save_thread)(void);
  void (*restore_thread)(void *state);
  void *(*call_object)(void *callable, void *arguments);
  void *(*call_function)(void *callable, ...); /* PyObject_CallFunctionObjArgs */
  void *(*call_method)(void *object, void *name, ...); /* PyObject_CallMethodObjArgs */
  void *(*get_attribute)(void *object, void *name);
  void *(*long_from)(long long value);
  void *(*long_as_pointer)(void *object);
  void *(*tuple_new)(ptrdiff_t size);
  int (*tuple_set)(void *tuple, ptrdiff_t index, void *object); /* steals the reference */
  void (*clear_error)(void);
  void *none, *true_object, *false_object;
} FtPythonApi;

/* How arrays of one type are read. */
typedef enum FtPythonReaderKind {
  FT_READ_EXCHANGE = 0, /* by the type's __dlpack_c_exchange_api__ */
  FT_READ_NUMPY = 1     /* by the fields that follow an ndarray's header */
} FtPythonReaderKind;

typedef struct FtPythonReader {
  size_t struct_size;
  int32_t kind;
  int32_t library;      /* a number of the caller's: what results depend on beside the signature */
  void *type;           /* arrays of exactly this type */
  void *exchange;       /* DLPackExchangeAPI, version 1 */
  size_t header_bytes;  /* of an ndarray: where its fields begin */
  /* Of PyTorch: an attribute that says whether gradients are tracked, a function that says whether
     they are now, and a method that says whether the data are to be negated. NULL where there are none. */
  void *tracks_name, *tracks_now, *negated_name;
  /* Of PyTorch: an object, its attribute that says which level of forward-mode derivatives is open, and the
     attribute's value while none is. A call inside a level is left to the slower way. NULL where there are none. */
  void *level_owner, *level_name, *level_none;
  /* Of PyTorch: a function that counts the modes which see each operation, and the number 0. NULL where there are none. */
  void *modes_count, *modes_none;
} FtPythonReader;

typedef struct FtPythonDispatcher FtPythonDispatcher;

/* One prepared call. Inputs come first in `tensors`, then outputs; only types, shapes, strides and devices are
   read of them. */
typedef struct FtPythonPlan {
  size_t struct_size;
  FtEntry *entry;
  const FtTensor *const *tensors;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t library; /* of the first argument */
  /* For each output a function without arguments that makes its array; NULL where the caller gives outputs as
     further arguments. */
  void *const *makers;
  /* Whether the result is the one output itself, not a tuple. */
  int32_t single;
  /* Whether the work goes to the current stream of the first argument's library. */
  int32_t on_stream;
  /* Called with a stream's address when a call goes to another stream than the last one did, or after *epoch
     has changed; NULL: never. */
  void *note;
  const int64_t *epoch;
  /* Called with the status of a call that failed: raises, or returns to have the call repeated the slow way. */
  void *failed;
} FtPythonPlan;

/* Before all else, once for each process; later calls change nothing. */
FtStatus ft_python_start(const FtPythonApi *api);
/* Objects that are given stay referenced as long as the process lives (readers, element types) or until the
   plan is forgotten. */
FtStatus ft_python_reader_add(const FtPythonReader *reader);
/* An element type of NumPy: its dtype object, and DLPack's numbers for it. */
FtStatus ft_python_dtype_add(void *dtype, uint8_t code, uint8_t bits);
FtStatus ft_python_dispatcher_create(FtPythonDispatcher **dispatcher);
void ft_python_dispatcher_release(FtPythonDispatcher *dispatcher);
FtStatus ft_python_dispatcher_add(FtPythonDispatcher *dispatcher, const FtPythonPlan *plan);
/* Forgets all plans. */
void ft_python_dispatcher_clear(FtPythonDispatcher *dispatcher);

/* A PyCFunction (METH_FASTCALL) whose `self` is an int, the dispatcher's address. Gives the results, None where the
   call has to go the slow way, or NULL with an exception set. */
void *ft_python_call(void *self, void *const *arguments, ptrdiff_t count);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_PYTHON_H */

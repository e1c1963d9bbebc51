/*===- Compiler.h - from a program's text to code that runs, in C ---*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* Reads a program, prints it at any phase of its compilation, compiles it for  */
/* an engine, and loads the result as a module of ft-c/Runtime.h: a program that */
/* was compiled a moment ago is called by the same functions as one that comes  */
/* from a bundle's file.                                                        */
/*                                                                              */
/*   FtCompiler *compiler;                                                      */
/*   ft_compiler_create(NULL, &compiler);                                       */
/*   FtSource *source;                                                          */
/*   ft_source_parse(compiler, text, strlen(text), "rnn.mlir", &source);        */
/*   FtProgram *program;                                                        */
/*   ft_compile(source, NULL, &program);            // for this processor       */
/*   FtModule *module;                                                          */
/*   ft_program_load(program, NULL, &module);                                   */
/*   FtEntry *entry;                                                            */
/*   ft_module_entry(module, "stacked_rnn", &entry);                            */
/*   ft_call(entry, tensors, count, NULL);                                      */
/*                                                                              */
/* What holds for all of it:                                                    */
/* - Structs begin with their size, which the caller sets; zeroed fields, and   */
/*   those that an older caller does not know, mean what their comments call    */
/*   the default. Handles are opaque and are given back by their _release.      */
/* - A function that can fail returns an FtStatus; ft_last_error() then gives   */
/*   the message. A program that is wrong is FT_INVALID_PROGRAM; all that is    */
/*   wrong with it comes to the compiler's callback, each with its place.       */
/* - Nothing is written to stdout or stderr, whatever is asked.                 */
/* - Any number of compilers live in one process, and any number of threads use */
/*   them at once; calls on one FtSource take turns. There are no options of    */
/*   the process: every setting is a field of a struct.                         */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_COMPILER_H
#define FT_C_COMPILER_H

#include "ft-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FtCompiler FtCompiler; /* where diagnostics go, and what input may be */
typedef struct FtSource FtSource;     /* a program as it was written, checked */
typedef struct FtProgram FtProgram;   /* a program, compiled */

/*===-- diagnostics and remarks ---------------------------------------------===*/

typedef enum FtSeverity {
  FT_NOTE = 0,
  FT_WARNING = 1,
  FT_ERROR = 2,
  FT_REMARK = 3 /* what an optimisation did or could not do, and why */
} FtSeverity;

/* A place in a source file. Lines and columns count from 1; 0 is unknown. */
typedef struct FtPlace {
  const char *file;
  int32_t line;
  int32_t column;
} FtPlace;

/* All pointers live until the callback returns. */
typedef struct FtDiagnostic {
  size_t struct_size;
  int32_t severity; /* FtSeverity */
  const char *message;
  /* The place, then the places of the calls that led there, innermost first.
     There may be none. */
  const FtPlace *places;
  int32_t num_places;
  /* Other places that explain this one, as FT_NOTEs. */
  const struct FtDiagnostic *notes;
  int32_t num_notes;
  /* Of a remark, else "": its group ("coarsen", "cpu", ...), its rule's name
     ("merge", ...), and the function that it is about. */
  const char *category;
  const char *name;
  const char *function;
  int32_t remark_kind; /* FtRemarkKind */
} FtDiagnostic;

typedef enum FtRemarkKind {
  FT_REMARK_NONE = 0,    /* no remark */
  FT_REMARK_PASSED = 1,  /* an optimisation was applied */
  FT_REMARK_MISSED = 2,  /* it was possible and did not pay */
  FT_REMARK_FAILURE = 3, /* it was refused by a rule */
  FT_REMARK_ANALYSIS = 4 /* a finding */
} FtRemarkKind;

/* Called on the thread that called the compiler, while that call runs. It must
   not call the compiler itself. */
typedef void (*FtDiagnosticFn)(const FtDiagnostic *diagnostic, void *user);

/* Takes a piece of text; the next one continues it. */
typedef void (*FtTextFn)(const char *text, size_t size, void *user);

/*===-- compilers -----------------------------------------------------------===*/

typedef struct FtCompilerOptions {
  size_t struct_size;
  FtDiagnosticFn diagnostic; /* NULL: ft_last_error() alone has the first error */
  void *user;                /* goes to `diagnostic` as it is */
  int32_t remarks;           /* not 0: remarks come, too */
  int32_t max_nesting;       /* deepest nesting of brackets in a text; 0: 256 */
  uint64_t max_bytes;        /* longest text; 0: 256 MiB */
} FtCompilerOptions;

/* `options` may be NULL. */
FtStatus ft_compiler_create(const FtCompilerOptions *options, FtCompiler **compiler);
/* Sources and programs may outlive their compiler; its callback is not called
   any more. NULL is allowed. */
void ft_compiler_release(FtCompiler *compiler);

/* "0.1.0 (LLVM 22.1.8)": part of the key of the code that stores what was compiled. */
const char *ft_compiler_version(void);

/* The phases in their order ("input", "ft", "etdg", "coarsen", ...); NULL beyond
   the last. */
const char *ft_phase_name(int32_t index);
/* The targets that this build compiles for ("interpret", "cpu", a class of
   processors such as "x86-64-v3", "sm_90a", ...); NULL beyond the last. */
const char *ft_target_name(int32_t index);

/*===-- sources -------------------------------------------------------------===*/

/* Reads a program of the dialects ft, etdg, or upstream ones that are raised
   (linalg, tensor, scf), and verifies it. `name` stands for the file in places
   where the text has no loc(...) of its own; NULL is "-". The text may be freed
   afterwards. */
FtStatus ft_source_parse(FtCompiler *compiler, const char *text, size_t size, const char *name,
                         FtSource **source);
/* NULL is allowed. */
void ft_source_release(FtSource *source);

/* The functions and graphs that can be entries; NULL beyond the last. */
const char *ft_source_entry_name(const FtSource *source, int32_t index);

/*===-- running without compiling -------------------------------------------===*/

/* Takes a result: dense, on the host, living until the callback returns. */
typedef void (*FtArrayFn)(const FtTensor *array, void *user);

/* Runs a function by the reference interpreter: slow, for programs that no engine
   takes because shapes are data (ragged lists), and as the meaning of all others.
   Inputs are dense and on the host: the arguments in order, a ragged list as its
   elements one after the other; then the offsets of each ragged name (int64, one
   more than there are lists) in the order in which the names appear. Results come
   in the same form. `entry` may be NULL where there is one. */
FtStatus ft_evaluate(FtSource *source, const char *entry, const FtTensor *const *inputs, int32_t count,
                     FtArrayFn result, void *user);

/*===-- compiling -----------------------------------------------------------===*/

typedef struct FtLength {
  const char *name;
  int64_t value;
} FtLength;

/* How loops become kernels. Zeros choose what costs least on the machine. */
typedef struct FtScheduleOptions {
  size_t struct_size;
  /* GPU: whether nests run in steps of the whole grid: "always" (wherever it is
     possible), "never"; NULL or "choose": where it pays. */
  const char *gpu_steps;
  int32_t gpu_step_threads;  /* threads of a block there: a multiple of 32; 0: 256 */
  int64_t gpu_barrier_limit; /* looks at a grid barrier before a kernel gives up; 0: no end */
  int32_t variants;          /* not 0: every form of a kernel, to be tuned among */
  /* CPU: not 0 takes any legal arrangement of loops, by this seed. */
  uint64_t cpu_plan_seed;
  /* CPU: 1 + the rank of the order to take; 0: the cheapest. */
  int64_t cpu_candidate;
} FtScheduleOptions;

typedef struct FtCompileOptions {
  size_t struct_size;
  /* One of ft_target_name, or several with commas between. NULL: "cpu", which is
     this processor itself; code for others takes a class ("x86-64-v3"). */
  const char *target;
  /* The function to compile, with what it calls; NULL: all of them. */
  const char *entry;
  /* What is planned for: a machine by its name ("cpu", "a100", "h200") or file; NULL: the target's own. */
  const char *machine;
  /* Phases to leave out, with commas between: "coarsen,reorder". */
  const char *skip;
  /* The phase that graphs of the source have reached; NULL: "etdg" where there
     is no function left, else "input". */
  const char *from;
  /* Lengths to optimise for. Every program runs at all lengths. */
  const FtLength *lengths;
  int32_t num_lengths;
  /* Threads that a call will have, to optimise for; 0: those of the process. */
  int32_t threads;
  /* Not 0: what each phase made is not proved again, which is faster. */
  int32_t no_validation;
  const FtScheduleOptions *schedule; /* may be NULL */
  /* Set to a value other than 0 by any thread: the call ends between two passes
     with FT_CANCELLED and leaves nothing after. May be NULL. */
  const volatile int32_t *cancel;
  /* Of f16 and bf16, between the operations of a body: "excess" leaves what stands there f32, rounds what leaves
     the body, and errs no more; "exact" rounds after each, as the program is written. NULL: "excess".
     The interpreter always rounds. */
  const char *rounding;
} FtCompileOptions;

/* Prints the program as it is after a phase (one of ft_phase_name), or as code:
   "llvm" (for one target), "ptx" (for one GPU); or its graph as a drawing for
   Graphviz ("dot"), as data ("json") or as a page to look at ("html"). `options` may be NULL; what is
   printed at a phase is what ft_compile with the same options compiles. */
FtStatus ft_print(FtSource *source, const FtCompileOptions *options, const char *to, FtTextFn write,
                  void *user);

/* Prints the module with the derivative of one of its functions: the pass ft-differentiate, with the passes before it
   that it asks for. `options` are the pass's, as in a pipeline: "function=f mode=reverse wrt=0,2". A program without a
   derivative is FT_INVALID_PROGRAM, with a diagnostic at the operation. The source stays as it is. */
FtStatus ft_source_differentiate(FtSource *source, const char *options, FtTextFn write, void *user);

/* Compiles. `options` may be NULL. The source stays as it is. */
FtStatus ft_compile(FtSource *source, const FtCompileOptions *options, FtProgram **program);
/* NULL is allowed. Modules that were loaded from it stay. */
void ft_program_release(FtProgram *program);

/* ft_source_parse, ft_compile and ft_source_release. */
FtStatus ft_compile_text(FtCompiler *compiler, const char *text, size_t size, const char *name,
                         const FtCompileOptions *options, FtProgram **program);

/* Loads what was compiled into this process, or onto a device. `options` may be
   NULL: the device type follows from the target. */
FtStatus ft_program_load(FtProgram *program, const FtLoadOptions *options, FtModule **module);

/* The program as the bytes of a bundle, which live as long as the program: what
   ft_module_load_bytes takes in another process. FT_UNSUPPORTED_FORMAT for the
   target "interpret", which is no code. Code of the target "cpu" runs on
   processors like this one. */
FtStatus ft_program_bytes(FtProgram *program, const void **bytes, size_t *size);
/* Puts parameters into the program's bundle, the content of a safetensors file: a value for each
   argument that is held (ft.held), and no others. Modules are bound when they are loaded. */
FtStatus ft_program_hold(FtProgram *program, const void *safetensors, size_t size);
/* Writes them into a file that appears whole or not at all. */
FtStatus ft_program_export(FtProgram *program, const char *path);

/* A figure of the compilation: "seconds" (of the clock), "instructions",
   "code_bytes", "predicted_nanoseconds" of a call at the typical lengths.
   FT_NOT_FOUND where this target has none of that name. */
FtStatus ft_program_figure(const FtProgram *program, const char *name, double *value);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_COMPILER_H */

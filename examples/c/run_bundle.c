/*===- run_bundle.c - a compiled program, called from C ---------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/*   run_bundle FILE.ftb [--cuda] ENTRY SHAPE...                                */
/*                                                                              */
/* Calls an entry with f32 inputs 0, 1, 2, ... of the shapes given ("64x16x256"; */
/* "-" for a scalar) and prints the first elements of each output.              */
/*===------------------------------------------------------------------------===*/
#include "ft-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 16, MAX_ARGUMENTS = 64 };

static void check(FtStatus status) {
  if (status == FT_OK)
    return;
  fprintf(stderr, "error: %s: %s\n", ft_status_name(status), ft_last_error());
  exit(1);
}

static int fail(const char *message) {
  fprintf(stderr, "error: %s\n", message);
  return 1;
}

/* Reads "4x5"; gives the rank or -1. */
static int parse_shape(const char *text, int64_t *shape) {
  int rank = 0;
  if (strcmp(text, "-") == 0)
    return 0;
  for (;;) {
    char *end;
    long long extent = strtoll(text, &end, 10);
    if (end == text || extent < 0 || rank == MAX_RANK)
      return -1;
    shape[rank++] = extent;
    if (*end == '\0')
      return rank;
    if (*end != 'x')
      return -1;
    text = end + 1;
  }
}

static size_t count(const FtTensor *tensor) {
  size_t n = 1;
  for (int d = 0; d < tensor->ndim; ++d)
    n *= (size_t)tensor->shape[d];
  return n;
}

int main(int argc, char **argv) {
  static int64_t shapes[MAX_ARGUMENTS][MAX_RANK];
  FtTensor tensors[MAX_ARGUMENTS];
  const FtTensor *arguments[MAX_ARGUMENTS] = {0};
  FtLoadOptions options = {sizeof options, FT_CPU, 0};
  FtModule *module = NULL;
  FtEntry *entry = NULL;
  FtEntryInfo info = {sizeof info, NULL, 0, 0, NULL, NULL};
  int next = 2;

  if (next < argc && strcmp(argv[next], "--cuda") == 0) {
    options.device_type = FT_CUDA;
    ++next;
  }
  if (next >= argc)
    return fail("usage: run_bundle FILE.ftb [--cuda] ENTRY SHAPE...");
  check(ft_module_load(argv[1], &options, &module));
  check(ft_module_entry(module, argv[next++], &entry));
  check(ft_entry_info(entry, &info));
  if (info.num_arguments > MAX_ARGUMENTS)
    return fail("too many arguments");

  /* The inputs first: the outputs' shapes follow from theirs. */
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < info.num_arguments; ++i) {
      FtArgumentInfo a = {sizeof a, NULL, NULL, 0, 0, 0, 0};
      FtTensor *t = &tensors[i];
      check(ft_entry_argument(entry, i, &a));
      if (a.is_output != pass)
        continue;
      if (strcmp(a.dtype, "f32") != 0)
        return fail("this example handles f32 only");
      memset(t, 0, sizeof *t);
      t->device.type = options.device_type;
      t->dtype.code = 2;
      t->dtype.bits = 32;
      t->dtype.lanes = 1;
      t->shape = shapes[i];
      t->ndim = MAX_RANK;
      if (a.is_output)
        check(ft_output_shape(entry, arguments, info.num_arguments, i, t->shape, &t->ndim));
      else if (next == argc || (t->ndim = parse_shape(argv[next++], t->shape)) < 0)
        return fail("a shape for each input is needed");
      check(ft_module_alloc(module, count(t) * sizeof(float), &t->data));
      if (!a.is_output) {
        float *values = malloc(count(t) * sizeof(float) + 1);
        if (!values)
          return fail("out of memory");
        for (size_t k = 0; k < count(t); ++k)
          values[k] = (float)k;
        check(ft_module_copy_to(module, t->data, values, count(t) * sizeof(float)));
        free(values);
      }
      if (!a.is_output)
        arguments[i] = t;
    }
  for (int i = 0; i < info.num_arguments; ++i)
    arguments[i] = &tensors[i];

  check(ft_call(entry, arguments, info.num_arguments, NULL));
  check(ft_synchronize(module, NULL));

  printf("%s for %s\n", info.name, info.target);
  for (int i = 0; i < info.num_arguments; ++i) {
    FtArgumentInfo a = {sizeof a, NULL, NULL, 0, 0, 0, 0};
    float values[8];
    size_t n = count(&tensors[i]) < 8 ? count(&tensors[i]) : 8;
    check(ft_entry_argument(entry, i, &a));
    if (a.is_output) {
      check(ft_module_copy_from(module, values, tensors[i].data, n * sizeof(float)));
      printf("%s:", a.name);
      for (size_t k = 0; k < n; ++k)
        printf(" %g", values[k]);
      printf("\n");
    }
    ft_module_free(module, tensors[i].data);
  }
  ft_module_release(module);
  return 0;
}

//===- PortableApi.cpp - the table of all functions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/PortableApi.h"

const FtApi *ft_api(int32_t major_version) {
  static const FtApi api = {
      sizeof(FtApi), FT_API_VERSION_MAJOR, FT_API_VERSION_MINOR,
      ft_abi_version, ft_last_error, ft_set_last_error, ft_status_name, ft_device_count, ft_host_processor,
      ft_module_load, ft_module_load_bytes, ft_module_load_kernels, ft_module_release, ft_module_num_entries,
      ft_module_entry_name, ft_module_entry, ft_entry_info, ft_entry_argument, ft_entry_variant,
      ft_entry_select_variant, ft_output_shape, ft_workspace_bytes, ft_call, ft_synchronize, ft_module_alloc,
      ft_module_free, ft_module_copy_to, ft_module_copy_from, ft_compiler_create, ft_compiler_release,
      ft_compiler_version, ft_phase_name, ft_target_name, ft_source_parse, ft_source_release, ft_source_entry_name,
      ft_evaluate, ft_print, ft_compile, ft_program_release, ft_compile_text, ft_program_load, ft_program_bytes,
      ft_program_export, ft_program_figure, ft_ragged_longest, ft_ragged_fill,
      ft_source_differentiate,
      ft_module_num_held, ft_module_held, ft_module_bind, ft_module_bind_file, ft_program_hold,
      ft_call_traced,
  };
  return major_version == FT_API_VERSION_MAJOR ? &api : nullptr;
}

# The project's own wrappers. Every library of the compiler is an object
# library that ends in one shared libFractalTensor.so (see lib/CMakeLists.txt):
# tools, plugin and bindings link that one, because a process that holds a
# dialect twice aborts when the second copy registers itself.

# ft_add_library(<name> <sources>...)
function(ft_add_library name)
  add_library(${name} OBJECT ${ARGN})
  add_dependencies(${name} FTHeaders)
  if(FT_ENABLE_PCH)
    target_precompile_headers(${name} REUSE_FROM FTPrecompiledHeader)
  endif()
  set_property(GLOBAL APPEND PROPERTY FT_OBJECT_LIBRARIES ${name})
endfunction()

# ft_add_tool(<name> <sources>...): a thin main over the shared library.
function(ft_add_tool name)
  add_executable(${name} ${ARGN})
  add_dependencies(${name} FTHeaders)
  target_link_libraries(${name} PRIVATE FractalTensor MLIR LLVM)
  install(TARGETS ${name} EXPORT FractalTensorTargets RUNTIME DESTINATION bin)
endfunction()

# ft_tablegen(<file.td> <target> <gen> <out> [<gen> <out>]...)
function(ft_tablegen td target)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args gen out)
    string(REPLACE " " ";" flags "${gen}")
    mlir_tablegen(${out} ${flags})
  endwhile()
  add_public_tablegen_target(${target})
  add_dependencies(FTHeaders ${target})
endfunction()

# The project's own wrappers. Every library of the compiler is an object
# library that ends in one shared libFractalTensor.so (see lib/CMakeLists.txt):
# tools, plugin and bindings link that one, because a process that holds a
# dialect twice aborts when the second copy registers itself.

# ft_layer(<name> [DEPENDS <layers>...] [HEADERS <files or folders of include/>...])
#
# Says which layer the current folder of lib/ is, and whose headers it may
# include. Its public headers are those of the same folder of include/ft, and
# HEADERS. scripts/layers.py checks each build that the sources keep to it: what
# CMake links can't, as all ends in one library.
function(ft_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;HEADERS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ft_layer(${name}): unexpected '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  file(RELATIVE_PATH dir ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE ";" " " headers "${ARG_HEADERS}")
  string(REPLACE ";" " " depends "${ARG_DEPENDS}")
  set_property(GLOBAL APPEND_STRING PROPERTY FT_LAYERS "${name} | ${dir} | ${headers} | ${depends}\n")
endfunction()

# ft_precompile(<name> [ON <precompiled header>] HEADERS <headers>... [EXCLUDE_FROM_ALL])
#
# Headers that many files include, parsed once. With ON, those of another such
# header are part of it and are not parsed again: clang chains the two files, in
# seconds. (g++ can't; it takes the first of a chain.)
function(ft_precompile name)
  cmake_parse_arguments(ARG "EXCLUDE_FROM_ALL" "ON" "HEADERS" ${ARGN})
  # (Not written again: all objects depend on it.)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${ARG_EXCLUDE_FROM_ALL})
  # The header names those of the whole chain (for who compiles without it; clang passes over what it has).
  set(headers)
  if(ARG_ON)
    get_target_property(headers ${ARG_ON} PRECOMPILE_HEADERS)
  endif()
  target_precompile_headers(${name} PRIVATE ${headers} ${ARG_HEADERS})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.cxx)
  set_property(GLOBAL PROPERTY FT_PRECOMPILED_${name} ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch)
  if(ARG_ON)
    add_dependencies(${name} FTHeaders)
    get_property(base GLOBAL PROPERTY FT_PRECOMPILED_${ARG_ON})
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${base}
      COMPILE_OPTIONS "-Xclang;-include-pch;-Xclang;${base}")
  endif()
endfunction()

# ft_use_precompiled(<target> <layers>...): takes the precompiled header that holds the dialects among
# the layers, and no more, so that a change of one dialect compiles again what knows it.
function(ft_use_precompiled name)
  if(NOT FT_ENABLE_PCH)
    return()
  endif()
  set(header FTPrecompiledHeader)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    if("FTLoopsDialect" IN_LIST ARGN OR "FTTileDialect" IN_LIST ARGN)
      set(header FTPrecompiledLoops)
    elseif("FTETDGDialect" IN_LIST ARGN OR "FTFTDialect" IN_LIST ARGN)
      set(header FTPrecompiledGraph)
    endif()
  endif()
  target_precompile_headers(${name} REUSE_FROM ${header})
endfunction()

# ft_add_library(<name> <sources>... [STATIC] [DEPENDS <layers>...] [HEADERS ...])
#
# A part of libFractalTensor.so; with STATIC, a library of its own for programs
# that say so (tools, the fuzzer), which nothing who embeds the compiler gets.
function(ft_add_library name)
  cmake_parse_arguments(ARG "STATIC" "" "DEPENDS;HEADERS" ${ARGN})
  if(ARG_STATIC)
    add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  else()
    add_library(${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    set_property(GLOBAL APPEND PROPERTY FT_OBJECT_LIBRARIES ${name})
  endif()
  add_dependencies(${name} FTHeaders)
  ft_use_precompiled(${name} ${ARG_DEPENDS})
  ft_layer(${name} DEPENDS ${ARG_DEPENDS} HEADERS ${ARG_HEADERS})
endfunction()

# ft_exports(<target> <map>): what the shared library shows, by a file of cmake/exports.
function(ft_exports target map)
  set(file ${PROJECT_SOURCE_DIR}/cmake/exports/${map})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${file}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${file})
endfunction()

# ft_add_tool(<name> <sources>...): a thin main over the shared library.
function(ft_add_tool name)
  add_executable(${name} ${ARGN})
  add_dependencies(${name} FTHeaders)
  target_link_libraries(${name} PRIVATE FTTools FractalTensor FractalTensorRuntime MLIR LLVM)
  install(TARGETS ${name} EXPORT FractalTensorCXXTargets RUNTIME DESTINATION bin)
endfunction()

# ft_check_layers(): a target of each build that fails where a source includes
# what its layer may not.
function(ft_check_layers)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_property(layers GLOBAL PROPERTY FT_LAYERS)
  set(list ${PROJECT_BINARY_DIR}/layers.txt)
  file(CONFIGURE OUTPUT ${list} CONTENT "# layer | folder | more headers | may include\n${layers}" @ONLY)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.cpp ${PROJECT_SOURCE_DIR}/lib/*.h
    ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/unittests/*.cpp ${PROJECT_SOURCE_DIR}/unittests/*.h
    ${PROJECT_SOURCE_DIR}/unittests/*/CMakeLists.txt)
  set(script ${PROJECT_SOURCE_DIR}/scripts/layers.py)
  set(installed ${PROJECT_SOURCE_DIR}/include/installed.txt)
  set(stamp ${PROJECT_BINARY_DIR}/layers.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND Python3::Interpreter ${script} ${list} ${PROJECT_SOURCE_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${script} ${list} ${installed} ${sources} COMMENT "Checking layers" VERBATIM)
  add_custom_target(FTLayers ALL DEPENDS ${stamp})
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

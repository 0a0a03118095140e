# Helpers that give every target of the project the same warnings, language settings and link rules.

find_program(FLEET_CCACHE ccache)
if(FLEET_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${FLEET_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FLEET_CCACHE})
endif()

set(FLEET_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter)

if(FLEET_ENABLE_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# A static library of the compiler: fleet_add_library(Name sources... [DEPENDS tablegen targets] [LINK libraries]).
# It is compiled as LLVM is (no RTTI) and never links LLVM itself: executables link the shared libMLIR and libLLVM once,
# because a second static copy of an MLIR library registers every TypeID twice.
function(fleet_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${FLEET_WARNINGS} -fno-rtti)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# A tool of the compiler, linked against shared libMLIR and libLLVM.
function(fleet_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${FLEET_WARNINGS} -fno-rtti)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
endfunction()

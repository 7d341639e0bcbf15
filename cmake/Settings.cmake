# Compiler settings of our own code. There are warnings only if this is the top-level project, so that a project which embeds the
# library keeps its own flags.
option(ZKRECIPES_WARNINGS_ARE_ERRORS "Warnings are errors, if this is the top-level project" ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(ZKRECIPES_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND ZKRECIPES_CCACHE)
  # Without this sloppiness ccache never has a hit for a source that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${ZKRECIPES_CCACHE})
endif()

add_library(zkrecipes_settings INTERFACE)
target_compile_features(zkrecipes_settings INTERFACE cxx_std_20)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(zkrecipes_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                                                      $<$<BOOL:${ZKRECIPES_WARNINGS_ARE_ERRORS}>:-Werror>)
  # GCC 12 reports false positives from inside coroutine frames and inlined standard containers.
  set(false_positives -Wno-maybe-uninitialized -Wno-restrict -Wno-mismatched-new-delete -Wno-stringop-overflow
      -Wno-stringop-overread -Wno-array-bounds)
  set(unity_warnings -Wno-subobject-linkage)
  # ccache needs this option to preprocess a source that uses a precompiled header.
  set(cached -fpch-preprocess)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # these options, and `--param` in the presets, are GCC's
    set(false_positives -Wno-unused-command-line-argument)
    set(unity_warnings)
    set(cached)
  endif()
  target_compile_options(zkrecipes_settings INTERFACE ${false_positives})
  # A unity build (see the presets) compiles many sources as one: each sees the private names of the others.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(zkrecipes_settings INTERFACE ${unity_warnings} -Wno-shadow)
  endif()
  target_compile_options(zkrecipes_settings INTERFACE ${cached})
endif()
target_compile_definitions(zkrecipes_settings INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

set(ZKRECIPES_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (set by the presets)")
if(ZKRECIPES_SANITIZE)
  add_compile_options(-fsanitize=${ZKRECIPES_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZKRECIPES_SANITIZE})
  if(ZKRECIPES_SANITIZE MATCHES undefined)
    # Checks at every access to an object: a quarter of the time to compile. AddressSanitizer stops at a null pointer,
    # and at a pointer to freed memory, too; x86 allows unaligned access.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(ZKRECIPES_SANITIZE MATCHES thread)
    # ThreadSanitizer does not understand atomic fences. The first definition removes the fences around Asio's handlers:
    # Asio's locks already order the memory accesses. The second makes Asio count references without a fence, because
    # with a fence ThreadSanitizer reports a race at the last release.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK BOOST_ASIO_DISABLE_STD_ATOMIC)
  endif()
endif()

# tests/fuzz: libFuzzer counts which code an input has reached.
option(ZKRECIPES_FUZZ "Build the fuzzers, which needs Clang and ZKRECIPES_SANITIZE (set by the preset fuzz)" OFF)
if(ZKRECIPES_FUZZ)
  # Clang 14 can not assemble coroutines with the check of the types of called functions.
  add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=function)
endif()

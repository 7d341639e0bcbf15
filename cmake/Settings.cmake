# How our own code is compiled. Warnings are errors here only: a user who embeds the library keeps their own flags.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(ZKRECIPES_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND ZKRECIPES_CCACHE)
  # Without these it never serves a source that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${ZKRECIPES_CCACHE})
endif()

add_library(zkrecipes_settings INTERFACE)
target_compile_features(zkrecipes_settings INTERFACE cxx_std_20)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(zkrecipes_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
  # GCC 12 reports false positives from inside coroutine frames and inlined standard containers.
  set(false_positives -Wno-maybe-uninitialized -Wno-restrict -Wno-mismatched-new-delete -Wno-stringop-overflow
      -Wno-stringop-overread -Wno-array-bounds)
  set(unity_warnings -Wno-subobject-linkage)
  # A precompiled header and ccache agree only if the compiler may ignore time macros in it.
  set(cached -fpch-preprocess)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # these options, and one in the presets, are GCC's
    set(false_positives -Wno-unused-command-line-argument)
    set(unity_warnings)
    set(cached)
  endif()
  target_compile_options(zkrecipes_settings INTERFACE ${false_positives})
  if(CMAKE_UNITY_BUILD)  # see the presets: what is private to one source is seen by others
    target_compile_options(zkrecipes_settings INTERFACE ${unity_warnings} -Wno-shadow)
  endif()
  target_compile_options(zkrecipes_settings INTERFACE ${cached})
endif()
target_compile_definitions(zkrecipes_settings INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)

set(ZKRECIPES_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (set by the presets)")
if(ZKRECIPES_SANITIZE)
  add_compile_options(-fsanitize=${ZKRECIPES_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ZKRECIPES_SANITIZE})
  if(ZKRECIPES_SANITIZE MATCHES thread)
    # ThreadSanitizer does not understand fences. Asio's locks say enough without those of its handlers, and its
    # counts of references have a form without a fence; with one, the last release looks like a race.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK BOOST_ASIO_DISABLE_STD_ATOMIC)
  endif()
endif()

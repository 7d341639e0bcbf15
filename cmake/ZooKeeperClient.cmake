# Finds the single-threaded C client of ZooKeeper, and makes the target ZooKeeper::st of it: for the build, and, installed beside
# zkrecipesConfig.cmake, for programs that link the static library. One that is given by hand comes first:
#   ZOOKEEPER_ST_LIBRARY   a file or a list of files; a static client needs its libhashtable.a, too
#   ZOOKEEPER_INCLUDE_DIR  the folder of zookeeper/zookeeper.h, or that of zookeeper.h
# then the packages of vcpkg and of Conan, and at last libzookeeper_st. Sets
#   ZKRECIPES_ZOOKEEPER          what was found: a package, zookeeper_st, or files. If it is set before, only that is looked for
#   ZKRECIPES_ZOOKEEPER_PROBLEM  one line that says why there is none, or nothing
function(zkrecipes_find_zookeeper what)
  set(from_unofficial-zookeeper unofficial::zookeeper::zookeeper)
  set(from_zookeeper-client-c zookeeper-client-c::zookeeper-client-c)
  if(DEFINED "from_${what}")
    find_package(${what} CONFIG QUIET)
    if(TARGET ${from_${what}})
      add_library(ZooKeeper::st INTERFACE IMPORTED)
      target_link_libraries(ZooKeeper::st INTERFACE ${from_${what}})
      set(ZKRECIPES_ZOOKEEPER ${what} PARENT_SCOPE)
    endif()
    return()
  endif()
  if(NOT what STREQUAL zookeeper_st AND NOT ZOOKEEPER_ST_LIBRARY)
    set(ZOOKEEPER_ST_LIBRARY "${what}" CACHE STRING "The single-threaded C client of ZooKeeper")
  endif()
  find_library(ZOOKEEPER_ST_LIBRARY zookeeper_st)
  list(GET ZOOKEEPER_ST_LIBRARY 0 file)
  cmake_path(GET file PARENT_PATH folder)
  find_path(ZOOKEEPER_INCLUDE_DIR NAMES zookeeper/zookeeper.h zookeeper.h HINTS ${folder}/../include)
  mark_as_advanced(ZOOKEEPER_ST_LIBRARY ZOOKEEPER_INCLUDE_DIR)
  if(NOT EXISTS ${file} OR NOT (ZOOKEEPER_INCLUDE_DIR OR zkrecipes_DIR))  # with an installed library nobody needs the header
    return()
  endif()
  add_library(ZooKeeper::st INTERFACE IMPORTED)
  target_link_libraries(ZooKeeper::st INTERFACE ${ZOOKEEPER_ST_LIBRARY})
  if(ZOOKEEPER_INCLUDE_DIR)
    target_include_directories(ZooKeeper::st INTERFACE ${ZOOKEEPER_INCLUDE_DIR})
  endif()
  set(found "${ZOOKEEPER_ST_LIBRARY}")
  if(file MATCHES "/libzookeeper_st[^/]*$" AND folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    set(found zookeeper_st)  # each machine has it in a place of its own
  endif()
  set(ZKRECIPES_ZOOKEEPER "${found}" PARENT_SCOPE)
endfunction()

# Only the multi-threaded client has the calls that block. Files with the names of Debian need no such check.
function(zkrecipes_check_threads result)
  get_target_property(links ZooKeeper::st INTERFACE_LINK_LIBRARIES)
  unset(ZKRECIPES_ZOOKEEPER_THREADS CACHE)  # another client may have been given since
  if(NOT links MATCHES "zookeeper_[ms]t")
    include(CheckCXXSourceCompiles)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
    set(CMAKE_REQUIRED_LIBRARIES ZooKeeper::st)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles("extern \"C\" int zoo_create(); int main() { return zoo_create(); }" ZKRECIPES_ZOOKEEPER_THREADS)
  elseif(links MATCHES "zookeeper_mt")
    set(ZKRECIPES_ZOOKEEPER_THREADS TRUE)
  endif()
  set(${result} ${ZKRECIPES_ZOOKEEPER_THREADS} PARENT_SCOPE)
endfunction()

if(TARGET ZooKeeper::st)
elseif(ZOOKEEPER_ST_LIBRARY)
  zkrecipes_find_zookeeper("${ZOOKEEPER_ST_LIBRARY}")
elseif(ZKRECIPES_ZOOKEEPER)
  zkrecipes_find_zookeeper("${ZKRECIPES_ZOOKEEPER}")
else()
  foreach(each unofficial-zookeeper zookeeper-client-c zookeeper_st)
    if(NOT TARGET ZooKeeper::st)
      zkrecipes_find_zookeeper(${each})
    endif()
  endforeach()
endif()
set(ZKRECIPES_ZOOKEEPER_PROBLEM)
if(TARGET ZooKeeper::st)
  zkrecipes_check_threads(zkrecipes_threads)
  if(zkrecipes_threads)
    string(CONCAT ZKRECIPES_ZOOKEEPER_PROBLEM
      "zkrecipes needs the single-threaded ZooKeeper C client, because it drives the client from Asio, and this one has threads "
      "of its own: ${ZKRECIPES_ZOOKEEPER}. Give libzookeeper_st as ZOOKEEPER_ST_LIBRARY, or build that one with -DWANT_SYNCAPI=OFF "
      "(vcpkg: zookeeper without the feature sync)")
  endif()
else()
  string(CONCAT ZKRECIPES_ZOOKEEPER_PROBLEM
    "zkrecipes needs the single-threaded ZooKeeper C client. On Debian: apt-get install libzookeeper-st-dev "
    "(it conflicts with libzookeeper-mt-dev: remove that one first); elsewhere give ZOOKEEPER_ST_LIBRARY and ZOOKEEPER_INCLUDE_DIR")
endif()

# Reads the version from the header that states it, so that there is only one place to change.
#   ZKRECIPES_VERSION       0.1.0
#   ZKRECIPES_ABI_VERSION   0.1: before 1.0 every minor version may change the ABI
set(version_header ${CMAKE_CURRENT_LIST_DIR}/../recipes/include/zkrecipes/version.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_header})
set(numbers)
foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${version_header} line REGEX "^#define ZKRECIPES_VERSION_${part} [0-9]+$")
  if(NOT line)
    message(FATAL_ERROR "${version_header} does not define ZKRECIPES_VERSION_${part}")
  endif()
  string(REGEX REPLACE "^.* " "" number "${line}")
  list(APPEND numbers ${number})
endforeach()
list(JOIN numbers "." ZKRECIPES_VERSION)
string(REGEX REPLACE "\\.[0-9]+$" "" ZKRECIPES_ABI_VERSION ${ZKRECIPES_VERSION})

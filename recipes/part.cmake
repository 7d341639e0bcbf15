# A part of the library: a folder of src, a static or a shared library or both, the target zkrecipes::NAME, the component
# NAME of the CMake package, the pkg-config file zkrecipes-NAME, and a Debian package: see cmake/Packages.cmake.
#   zkrecipes_part(NAME FOLDERS folder... SEES folder... [NEEDS part...] [LINKS target...] [FLAGS flag...]
#                  [DESCRIPTION text] [STATIC])
#     FOLDERS      its sources, in src
#     SEES         the folders of src below which it may include sources: its own, and those of the parts that it may use
#     NEEDS        the parts that it uses
#     LINKS FLAGS  other libraries that it needs, as targets, and for pkg-config
#     DESCRIPTION  for pkg-config; a part without one is not installed
#     STATIC       there is no shared library of it
# What a program needs that includes the headers.
function(zkrecipes_requirements target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PUBLIC BOOST_ASIO_NO_DEPRECATED)
  target_link_libraries(${target} PUBLIC Boost::headers Threads::Threads)
endfunction()

function(zkrecipes_part name)
  cmake_parse_arguments(PARSE_ARGV 1 part "STATIC" "DESCRIPTION" "FOLDERS;SEES;NEEDS;LINKS;FLAGS")
  set(base zkrecipes_${name})
  if(name STREQUAL zkrecipes)
    set(base zkrecipes)
  endif()
  list(TRANSFORM part_FOLDERS REPLACE "(.+)" "src/\\1/*.cpp")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${part_FOLDERS})
  if(NOT ZKRECIPES_SPOOL)
    list(FILTER sources EXCLUDE REGEX "/src/rabbitmq/spooling/")  # puts messages of the spool
  endif()

  # The sources are compiled once, for all kinds of library.
  add_library(${base}_objects OBJECT ${sources})
  zkrecipes_requirements(${base}_objects)
  list(TRANSFORM part_SEES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/src/ OUTPUT_VARIABLE seen)
  target_include_directories(${base}_objects PRIVATE ${seen})
  target_link_libraries(${base}_objects PRIVATE ${part_LINKS} zkrecipes_settings)
  if(NOT name STREQUAL zkrecipes AND Boost::json IN_LIST part_LINKS)  # the same definitions
    target_precompile_headers(${base}_objects REUSE_FROM zkrecipes_objects)
  else()
    target_precompile_headers(${base}_objects PRIVATE src/precompiled.hpp)
  endif()
  # Symbols stay visible, only inline member functions do not: docs/install.md, "Versions and the ABI", says why.
  set_target_properties(${base}_objects PROPERTIES VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD_MODE GROUP)
  # A unity build makes objects of each folder, so a program links the recipes that it uses and no other.
  set(before)
  foreach(each IN LISTS sources)
    cmake_path(GET each PARENT_PATH folder)
    cmake_path(GET folder FILENAME group)
    if(NOT folder STREQUAL before)
      set(before ${folder})
      set(count 0)
    endif()
    math(EXPR batch "${count} / 12")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${each} PROPERTIES UNITY_GROUP ${group}_${batch})
  endforeach()

  set(part_kinds ${kinds})
  if(part_STATIC)
    set(part_kinds ${kind})
  endif()
  foreach(each IN LISTS part_kinds)
    set(suffix)  # the target `zkrecipes` is the library that programs of this project use
    if(NOT each STREQUAL kind)
      set(suffix _${each})
    endif()
    set(type ${each})
    if(part_STATIC)
      set(type static)
    endif()
    string(TOUPPER ${type} type)
    set(target ${base}${suffix})
    add_library(${target} ${type} $<TARGET_OBJECTS:${base}_objects>)
    target_link_libraries(${target} PRIVATE ${part_LINKS})
    zkrecipes_requirements(${target})
    foreach(other IN LISTS part_NEEDS)
      string(REPLACE zkrecipes_zkrecipes zkrecipes library zkrecipes_${other})
      if(part_STATIC)  # the package says which kind of the other one it is
        target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:${library}> $<INSTALL_INTERFACE:zkrecipes::${other}>)
      else()
        target_link_libraries(${target} PUBLIC ${library}${suffix})
      endif()
    endforeach()
    set(export_name ${name}_${each})
    if(part_STATIC)
      set(export_name ${name})
    else()
      add_library(zkrecipes::${name}_${each} ALIAS ${target})
      set_target_properties(${target} PROPERTIES VERSION ${ZKRECIPES_VERSION} SOVERSION ${ZKRECIPES_ABI_VERSION}
        INSTALL_RPATH "$ORIGIN;${CMAKE_INSTALL_RPATH}")  # from a prefix of its own, one part finds the next
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${base} EXPORT_NAME ${export_name} LINKER_LANGUAGE CXX)
  endforeach()
  add_library(zkrecipes::${name} ALIAS ${base})
  if(NOT (ZKRECIPES_INSTALL AND part_DESCRIPTION))
    return()
  endif()

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)
  set(component ${name})
  if(name STREQUAL zkrecipes)
    set(component dev)
    file(GLOB headers CONFIGURE_DEPENDS include/zkrecipes/*.hpp)
    foreach(header IN LISTS headers)  # one that has a folder beside it is that of another part
      cmake_path(GET header STEM stem)
      if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/zkrecipes/${stem})
        list(REMOVE_ITEM headers ${header})
      endif()
    endforeach()
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zkrecipes COMPONENT ${component})
    install(DIRECTORY include/zkrecipes/detail DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zkrecipes COMPONENT ${component})
  else()
    install(FILES include/zkrecipes/${name}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zkrecipes COMPONENT ${component})
    install(DIRECTORY include/zkrecipes/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/zkrecipes COMPONENT ${component})
  endif()
  # Each library has an export file of its own, so that the package also works where only one is installed.
  foreach(each IN LISTS part_kinds)
    set(suffix)
    if(NOT each STREQUAL kind)
      set(suffix _${each})
    endif()
    set(export ${base}_${each})
    if(part_STATIC)
      set(export ${base})
    endif()
    install(TARGETS ${base}${suffix} EXPORT ${export} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT ${component})
    install(EXPORT ${export} NAMESPACE zkrecipes:: DESTINATION ${package_dir} FILE ${export}.cmake COMPONENT ${component})
  endforeach()
  if(name STREQUAL zkrecipes)
    return()  # its pkg-config file is in install.cmake
  endif()
  set(part_name ${name})
  set(part_requires)
  foreach(each IN LISTS part_NEEDS)
    string(REPLACE zkrecipes-zkrecipes zkrecipes each zkrecipes-${each})
    list(APPEND part_requires "${each} = ${ZKRECIPES_VERSION}")
  endforeach()
  list(JOIN part_requires ", " part_requires)
  list(JOIN part_FLAGS " " part_flags)
  zkrecipes_install_pkgconfig(zkrecipes-${name} ${component} zkrecipes-part)
endfunction()

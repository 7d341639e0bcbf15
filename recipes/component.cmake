# A component: a static library of its own, so that nothing else needs what it needs. It is the target zkrecipes::NAME,
# the component NAME of the CMake package, the pkg-config file zkrecipes-NAME, and a Debian package: see
# cmake/Packages.cmake.
#   zkrecipes_component(NAME FOLDERS folder... DESCRIPTION text LINKS target... FLAGS flag... [NEEDS component...])
#     FOLDERS  its sources, in src
#     LINKS    what it needs, as targets
#     FLAGS    the same for pkg-config
#     NEEDS    the components that it needs
function(zkrecipes_component name)
  cmake_parse_arguments(PARSE_ARGV 1 component "" "DESCRIPTION" "FOLDERS;LINKS;FLAGS;NEEDS")
  set(target zkrecipes_${name})
  list(TRANSFORM component_FOLDERS REPLACE "(.+)" "src/\\1/*.cpp")
  file(GLOB component_sources CONFIGURE_DEPENDS ${component_FOLDERS})
  add_library(${target} STATIC ${component_sources})
  add_library(zkrecipes::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PRIVATE src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:zkrecipes> $<INSTALL_INTERFACE:zkrecipes::zkrecipes>
    PRIVATE ${component_LINKS} $<BUILD_INTERFACE:zkrecipes_settings>)
  target_precompile_headers(${target} PRIVATE src/precompiled.hpp)
  set(component_requires)
  foreach(each IN LISTS component_NEEDS)
    target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:zkrecipes_${each}> $<INSTALL_INTERFACE:zkrecipes::${each}>)
    string(APPEND component_requires "zkrecipes-${each} = ${ZKRECIPES_VERSION}, ")
  endforeach()
  if(NOT ZKRECIPES_INSTALL)
    return()
  endif()
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)  # beside the library's, whose zkrecipesConfig.cmake reads it
  install(TARGETS ${target} EXPORT ${target} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  # The exported target names zkrecipes::zkrecipes, which zkrecipesConfig.cmake makes, and not one of the two libraries.
  install(EXPORT ${target} NAMESPACE zkrecipes:: DESTINATION ${package_dir} FILE ${target}.cmake COMPONENT ${name})
  set(component_name ${name})
  list(JOIN component_FLAGS " " component_flags)
  zkrecipes_install_pkgconfig(zkrecipes-${name} ${name} zkrecipes-component)
endfunction()

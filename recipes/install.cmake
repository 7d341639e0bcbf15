# Headers, libraries, the CMake package and the pkg-config file. The components are packages: see cmake/Packages.cmake.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)
configure_package_config_file(zkrecipesConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake
                                 VERSION ${ZKRECIPES_VERSION} COMPATIBILITY SameMinorVersion)

# Each library has an export file of its own, so that the package also works where only one is installed.
foreach(each IN LISTS kinds)
  install(TARGETS ${target_of_${each}} EXPORT zkrecipes_${each}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
  install(EXPORT zkrecipes_${each} NAMESPACE zkrecipes:: DESTINATION ${package_dir} FILE zkrecipes_${each}.cmake
          COMPONENT dev)
endforeach()
install(DIRECTORY include/zkrecipes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# A static library does not bring along what it needs; the shared one does.
set(private_libs "-lzookeeper_st -lboost_json -lssl -lcrypto")
set(public_libs)
if(NOT "shared" IN_LIST kinds)
  set(public_libs " ${private_libs}")
  set(private_libs)
endif()
math(EXPR boost_series "${Boost_VERSION_MAJOR} * 1000 + ${Boost_VERSION_MINOR}")
zkrecipes_install_pkgconfig(zkrecipes dev)

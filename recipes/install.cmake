# The CMake package, and the pkg-config file of the core. Libraries and headers: see part.cmake.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)
configure_package_config_file(zkrecipesConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake
                                 VERSION ${ZKRECIPES_VERSION} COMPATIBILITY SameMinorVersion)

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

# The CMake package, and the pkg-config file of the core. Libraries and headers: see part.cmake.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)
configure_package_config_file(zkrecipesConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake
                                 VERSION ${ZKRECIPES_VERSION} COMPATIBILITY SameMinorVersion)

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/zkrecipesConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ZooKeeperClient.cmake
        DESTINATION ${package_dir} COMPONENT dev)

# A static library does not bring along what it needs; the shared one does.
set(zookeeper_libs "${ZKRECIPES_ZOOKEEPER}")
if(ZKRECIPES_ZOOKEEPER STREQUAL unofficial-zookeeper)
  set(zookeeper_libs -lzookeeper -lzookeeper_hashtable)
elseif(ZKRECIPES_ZOOKEEPER STREQUAL zookeeper-client-c)
  set(zookeeper_libs -lzookeeper -lhashtable)
endif()
list(TRANSFORM zookeeper_libs REPLACE "^([^-/].*)" "-l\\1")
list(JOIN zookeeper_libs " " zookeeper_libs)
set(private_libs "${zookeeper_libs} -lboost_json -lssl -lcrypto")
set(public_libs)
if(NOT "shared" IN_LIST kinds)
  set(public_libs " ${private_libs}")
  set(private_libs)
endif()
math(EXPR boost_series "${Boost_VERSION_MAJOR} * 1000 + ${Boost_VERSION_MINOR}")
zkrecipes_install_pkgconfig(zkrecipes dev)

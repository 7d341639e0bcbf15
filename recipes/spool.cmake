# The spooled producer: a static library of its own, so that nothing else needs SQLite.
file(GLOB spool_sources CONFIGURE_DEPENDS src/spool/*.cpp)
add_library(zkrecipes_spool STATIC ${spool_sources})
add_library(zkrecipes::spool ALIAS zkrecipes_spool)
set_target_properties(zkrecipes_spool PROPERTIES EXPORT_NAME spool)
target_include_directories(zkrecipes_spool PRIVATE src)
target_compile_features(zkrecipes_spool PUBLIC cxx_std_20)
target_link_libraries(zkrecipes_spool PUBLIC $<BUILD_INTERFACE:zkrecipes> $<INSTALL_INTERFACE:zkrecipes::zkrecipes>
  PRIVATE SQLite::SQLite3 $<BUILD_INTERFACE:zkrecipes_settings>)
target_precompile_headers(zkrecipes_spool PRIVATE src/precompiled.hpp)

if(ZKRECIPES_INSTALL)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)  # beside the library's, whose zkrecipesConfig.cmake reads it
  install(TARGETS zkrecipes_spool EXPORT zkrecipes_spool ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT spool)
  # The exported target names zkrecipes::zkrecipes, which zkrecipesConfig.cmake makes, and not one of the two libraries.
  install(EXPORT zkrecipes_spool NAMESPACE zkrecipes:: DESTINATION ${package_dir} FILE zkrecipes_spool.cmake
          COMPONENT spool)
  zkrecipes_install_pkgconfig(zkrecipes-spool spool)
endif()

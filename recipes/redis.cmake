# Redis streams: a static library of its own, so that nothing else needs hiredis.
file(GLOB redis_sources CONFIGURE_DEPENDS src/redis/*.cpp)
add_library(zkrecipes_redis STATIC ${redis_sources})
add_library(zkrecipes::redis ALIAS zkrecipes_redis)
set_target_properties(zkrecipes_redis PROPERTIES EXPORT_NAME redis)
target_include_directories(zkrecipes_redis PRIVATE src)
target_compile_features(zkrecipes_redis PUBLIC cxx_std_20)
target_link_libraries(zkrecipes_redis PUBLIC $<BUILD_INTERFACE:zkrecipes> $<INSTALL_INTERFACE:zkrecipes::zkrecipes>
  PRIVATE Hiredis::hiredis OpenSSL::SSL $<BUILD_INTERFACE:zkrecipes_settings>)
target_precompile_headers(zkrecipes_redis PRIVATE src/precompiled.hpp)

if(ZKRECIPES_INSTALL)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes)  # beside the library's, whose zkrecipesConfig.cmake reads it
  install(TARGETS zkrecipes_redis EXPORT zkrecipes_redis ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT redis)
  # The exported target names zkrecipes::zkrecipes, which zkrecipesConfig.cmake makes, and not one of the two libraries.
  install(EXPORT zkrecipes_redis NAMESPACE zkrecipes:: DESTINATION ${package_dir} FILE zkrecipes_redis.cmake
          COMPONENT redis)
  zkrecipes_install_pkgconfig(zkrecipes-redis redis)
endif()

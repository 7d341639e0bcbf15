# Java programs that use Curator as packaged by Debian, for benchmarks and for tests in which Curator shares our paths.
find_package(Java QUIET COMPONENTS Development)
set(ZKRECIPES_CURATOR_JARS /usr/share/java/curator-recipes.jar /usr/share/java/curator-x-discovery.jar)
set(ZKRECIPES_HAS_CURATOR ${Java_FOUND})
foreach(jar IN LISTS ZKRECIPES_CURATOR_JARS)
  if(NOT EXISTS ${jar})
    set(ZKRECIPES_HAS_CURATOR OFF)
  endif()
endforeach()

# Builds NAME.jar in the build folder from these sources and ObservedClient.java. Builds nothing if Curator is missing.
function(zkrecipes_add_curator_program name)
  if(ZKRECIPES_HAS_CURATOR)
    include(UseJava)
    add_jar(${name} SOURCES ${ARGN} ${PROJECT_SOURCE_DIR}/tests/peers/ObservedClient.java
            INCLUDE_JARS ${ZKRECIPES_CURATOR_JARS} OUTPUT_DIR ${PROJECT_BINARY_DIR})
  else()
    message(STATUS "${name} needs default-jdk-headless, libcurator-recipes-java and libcurator-discovery-java")
  endif()
endfunction()

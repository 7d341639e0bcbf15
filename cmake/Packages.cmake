# Debian packages by CPack: `cpack` in the build folder. The target package_source makes the source archive. Both have a file with
# their SHA-256 beside them. One component is one package:
#   runtime      libzkrecipes0.1            the shared libraries of all parts; the number changes with the ABI
#   dev          libzkrecipes-dev           the recipes: headers, static library, CMake package, pkg-config file
#   flow         libzkrecipes-flow-dev      limiters, gates and pacing: headers, static library
#   consumer     libzkrecipes-consumer-dev  coordinator, queue consumer, shard groups, topics: headers, static library
#   spool        libzkrecipes-spool-dev     the spooled producer: static library, which needs SQLite
#   redis        libzkrecipes-redis-dev     Redis streams as a source: static library, which needs hiredis
#   rabbitmq     libzkrecipes-rabbitmq-dev  RabbitMQ queues as a source: static library, which needs librabbitmq
#   service      libzkrecipes-service-dev   configuration, probes, metrics and log of a service; needs toml++
#   testcluster  zkrecipes-testcluster-dev  servers for tests: header, static library
#   tools        zkrecipes-tools            zkadmin and testcluster; they contain the static library
if(NOT (ZKRECIPES_INSTALL AND ZKRECIPES_BOTH_LIBRARIES AND ZKRECIPES_BUILD_TOOLS AND ZKRECIPES_SPOOL AND ZKRECIPES_SERVICE) OR
   BUILD_SHARED_LIBS)
  message(FATAL_ERROR "ZKRECIPES_PACKAGES needs ZKRECIPES_INSTALL, ZKRECIPES_BOTH_LIBRARIES, ZKRECIPES_BUILD_TOOLS, ZKRECIPES_SPOOL, ZKRECIPES_SERVICE, "
                      "and BUILD_SHARED_LIBS off: the tools contain the static library")
endif()

set(runtime_package libzkrecipes${ZKRECIPES_ABI_VERSION})
set(boost ${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR})

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime dev flow consumer spool service testcluster tools)
if(ZKRECIPES_REDIS)
  list(APPEND CPACK_COMPONENTS_ALL redis)
endif()
if(ZKRECIPES_RABBITMQ)
  list(APPEND CPACK_COMPONENTS_ALL rabbitmq)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME zkrecipes)
set(CPACK_PACKAGE_VENDOR "zkrecipes developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # else CPack puts it before the summary of each package
set(CPACK_PACKAGE_CONTACT "zkrecipes developers <zkrecipes@localhost>" CACHE STRING "Maintainer of the packages")
mark_as_advanced(CPACK_PACKAGE_CONTACT)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME zkrecipes-${ZKRECIPES_VERSION})
string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." top "${PROJECT_SOURCE_DIR}")  # of a folder c++, too, a pattern that matches it
set(CPACK_SOURCE_IGNORE_FILES ^${top}/[.]git/ ^${top}/[.]git$ ^${top}/build/
    ^${top}/debian/ /__pycache__/ [.]class$ /CMakeUserPresets[.]json$ /compile_commands[.]json$)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(same_version "(= ${ZKRECIPES_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - shared library
Locks, elections, queues, barriers, service discovery and more for programs in
C++20, and a coordinator that lets one of several replicas work.

This package contains the shared libraries of all parts.")

# The interface contains types of Asio, so a program has to be compiled with the Boost of the library.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libzkrecipes-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${runtime_package} ${same_version}, libboost${boost}-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libboost-json${boost}-dev, libssl-dev, libzookeeper-st-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - development files
Locks, elections, queues, barriers, service discovery and more for programs in
C++20, and a coordinator that lets one of several replicas work.

This package contains the headers, the static library, the CMake package and
the pkg-config file. The recommended packages are needed to link the static
library.")

set(CPACK_DEBIAN_FLOW_PACKAGE_NAME libzkrecipes-flow-dev)
set(CPACK_DEBIAN_FLOW_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_FLOW_PACKAGE_DEPENDS "libzkrecipes-dev ${same_version}")
set(CPACK_DEBIAN_FLOW_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - limiters, gates and pacing
A rate with a burst, suppression of duplicates, workers at the same pace: in
one process without ZooKeeper, and across processes.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_CONSUMER_PACKAGE_NAME libzkrecipes-consumer-dev)
set(CPACK_DEBIAN_CONSUMER_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CONSUMER_PACKAGE_DEPENDS "libzkrecipes-flow-dev ${same_version}")
set(CPACK_DEBIAN_CONSUMER_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - consumer coordinator
Of N replicas one works, and what is in hand is finished when leadership moves:
coordinator, queue consumer, shard groups, topics.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_SPOOL_PACKAGE_NAME libzkrecipes-spool-dev)
set(CPACK_DEBIAN_SPOOL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SPOOL_PACKAGE_DEPENDS "libzkrecipes-consumer-dev ${same_version}, libsqlite3-dev")
set(CPACK_DEBIAN_SPOOL_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - spooled producer
Puts messages into topics and queues by way of a file, so that what was
accepted outlives the process and outages of the ensemble.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_SERVICE_PACKAGE_NAME libzkrecipes-service-dev)
set(CPACK_DEBIAN_SERVICE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SERVICE_PACKAGE_DEPENDS
    "libzkrecipes-spool-dev ${same_version}, libtomlplusplus-dev, libboost-json${boost}-dev")
set(CPACK_DEBIAN_SERVICE_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - a service of several replicas
What such a program needs beside its work: configuration in TOML, messages over
HTTP, probes, metrics for Prometheus, a log in JSON, an orderly stop.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_REDIS_PACKAGE_NAME libzkrecipes-redis-dev)
set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "libzkrecipes-consumer-dev ${same_version}, libhiredis-dev")
set(CPACK_DEBIAN_REDIS_PACKAGE_SUGGESTS "redis-server")
set(CPACK_DEBIAN_REDIS_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - Redis streams
Consumers of Redis streams whose position is kept in ZooKeeper, in one
transaction with the effects, under the fence of their leader.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_RABBITMQ_PACKAGE_NAME libzkrecipes-rabbitmq-dev)
set(CPACK_DEBIAN_RABBITMQ_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RABBITMQ_PACKAGE_DEPENDS
    "libzkrecipes-consumer-dev ${same_version}, libzkrecipes-spool-dev ${same_version}, librabbitmq-dev")
set(CPACK_DEBIAN_RABBITMQ_PACKAGE_SUGGESTS "rabbitmq-server")
set(CPACK_DEBIAN_RABBITMQ_DESCRIPTION
"asynchronous ZooKeeper recipes on Boost.Asio - RabbitMQ queues
Consumers of RabbitMQ queues that note in ZooKeeper what they have settled, in
one transaction with the effects, under the fence of their leader.

This package contains the headers and the static library.")

set(CPACK_DEBIAN_TESTCLUSTER_PACKAGE_NAME zkrecipes-testcluster-dev)
set(CPACK_DEBIAN_TESTCLUSTER_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TESTCLUSTER_PACKAGE_DEPENDS "libzkrecipes-dev ${same_version}, libboost-json${boost}-dev, libssl-dev")
set(CPACK_DEBIAN_TESTCLUSTER_PACKAGE_RECOMMENDS "zookeeper, default-jre-headless, zkrecipes-tools")
set(CPACK_DEBIAN_TESTCLUSTER_DESCRIPTION
"ensembles of real ZooKeeper servers for tests - development files
A test starts real servers on its machine in seconds, without root and without
configuration. It can kill and pause them, end sessions, and put faults into
their connections.

This package contains the library, its headers with fixtures for Boost.Test,
and a function for CMake. The command of the same name, which that function
uses, is in zkrecipes-tools.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME zkrecipes-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "zookeeper, default-jre-headless")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
"tools for ZooKeeper ensembles and the zkrecipes library
zkadmin shows in a terminal the servers of an ensemble, which replicas lead
and wait, and how a hand-over proceeds. testcluster starts real servers for
tests, with faults on demand.")

# Each package contains its copyright file and its changelog.
find_program(ZKRECIPES_GZIP gzip REQUIRED)
mark_as_advanced(ZKRECIPES_GZIP)
string(TIMESTAMP date "%a, %d %b %Y 00:00:00 +0000" UTC)
set(changelog ${CMAKE_BINARY_DIR}/debian/changelog.Debian)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in ${changelog} @ONLY)
execute_process(COMMAND ${ZKRECIPES_GZIP} -9nfk ${changelog} COMMAND_ERROR_IS_FATAL ANY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright ${changelog}.gz
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
endforeach()

include(CPack)

# What the packages contain, without the tests.
add_custom_target(packaged)
foreach(each zkrecipes_consumer zkrecipes_consumer_shared zkrecipes_spool zkrecipes_redis zkrecipes_rabbitmq zkrecipes_service
             zkrecipes_testcluster zkadmin testcluster testbroker zkrecipes-guardian)
  if(TARGET ${each})
    add_dependencies(packaged ${each})
  endif()
endforeach()

# All dependencies are packages of Debian 12. A missing one is reported with the name of its package.
function(zkrecipes_need found what package)
  if(NOT ${found})
    message(FATAL_ERROR "zkrecipes needs ${what}. On Debian 12: apt-get install ${package}")
  endif()
endfunction()

# The single-threaded C client. Its -dev package conflicts with that of the multi-threaded client, so the message only
# names both: the user has to remove the other one.
find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZOOKEEPER_ST_LIBRARY zookeeper_st)
if(NOT ZOOKEEPER_INCLUDE_DIR OR NOT ZOOKEEPER_ST_LIBRARY)
  message(FATAL_ERROR "zkrecipes needs the single-threaded ZooKeeper C client. On Debian 12: apt-get install "
                      "libzookeeper-st-dev (it conflicts with libzookeeper-mt-dev: remove that one first)")
endif()
if(NOT TARGET ZooKeeper::st)
  add_library(ZooKeeper::st UNKNOWN IMPORTED)
  set_target_properties(ZooKeeper::st PROPERTIES IMPORTED_LOCATION ${ZOOKEEPER_ST_LIBRARY}
                                                 INTERFACE_INCLUDE_DIRECTORIES ${ZOOKEEPER_INCLUDE_DIR})
endif()

find_package(Boost 1.81 QUIET CONFIG COMPONENTS json)
zkrecipes_need(Boost_FOUND "Boost 1.81 with Boost.JSON" "libboost1.81-dev libboost-json1.81-dev")
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 QUIET)
zkrecipes_need(OpenSSL_FOUND "OpenSSL 3.0" "libssl-dev")

if(ZKRECIPES_SPOOL)
  find_package(SQLite3 3.40 QUIET)
  zkrecipes_need(SQLite3_FOUND "SQLite 3.40" "libsqlite3-dev")
endif()

# Without hiredis the rest is built and tested.
if(ZKRECIPES_REDIS)
  find_path(HIREDIS_INCLUDE_DIR hiredis/async.h)
  find_library(HIREDIS_LIBRARY hiredis)
  mark_as_advanced(HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY)
  if(NOT HIREDIS_INCLUDE_DIR OR NOT HIREDIS_LIBRARY)
    message(STATUS "Redis streams are left out. On Debian 12: apt-get install libhiredis-dev")
    set(ZKRECIPES_REDIS OFF)
  elseif(NOT TARGET Hiredis::hiredis)
    add_library(Hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(Hiredis::hiredis PROPERTIES IMPORTED_LOCATION ${HIREDIS_LIBRARY}
                                                      INTERFACE_INCLUDE_DIRECTORIES ${HIREDIS_INCLUDE_DIR})
  endif()
endif()

# Without librabbitmq, too. Its header is amqp.h in the versions that do not have the folder.
if(ZKRECIPES_RABBITMQ)
  find_path(RABBITMQ_INCLUDE_DIR NAMES rabbitmq-c/amqp.h amqp.h)
  find_library(RABBITMQ_LIBRARY rabbitmq)
  mark_as_advanced(RABBITMQ_INCLUDE_DIR RABBITMQ_LIBRARY)
  if(NOT RABBITMQ_INCLUDE_DIR OR NOT RABBITMQ_LIBRARY)
    message(STATUS "RabbitMQ queues are left out. On Debian 12: apt-get install librabbitmq-dev")
    set(ZKRECIPES_RABBITMQ OFF)
  elseif(NOT TARGET RabbitMQ::client)
    add_library(RabbitMQ::client UNKNOWN IMPORTED)
    set_target_properties(RabbitMQ::client PROPERTIES IMPORTED_LOCATION ${RABBITMQ_LIBRARY}
                                                      INTERFACE_INCLUDE_DIRECTORIES ${RABBITMQ_INCLUDE_DIR})
  endif()
endif()

if(ZKRECIPES_SERVICE)
  find_package(tomlplusplus QUIET)
  if(ZKRECIPES_BUILD_TOOLS)
    zkrecipes_need(tomlplusplus_FOUND "toml++" "libtomlplusplus-dev")
  elseif(NOT tomlplusplus_FOUND)
    message(STATUS "The part service is left out. On Debian 12: apt-get install libtomlplusplus-dev")
    set(ZKRECIPES_SERVICE OFF)
  endif()
endif()

if(ZKRECIPES_BUILD_TOOLS)
  find_package(Boost 1.81 QUIET CONFIG COMPONENTS json unit_test_framework filesystem)
  zkrecipes_need(Boost_FOUND "Boost.Test and Boost.Filesystem 1.81"
                 "libboost-test1.81-dev libboost-filesystem1.81-dev")
  find_package(CLI11 QUIET)
  zkrecipes_need(CLI11_FOUND "CLI11" "libcli11-dev")
  set(CURSES_NEED_WIDE TRUE)
  find_package(Curses QUIET)
  zkrecipes_need(CURSES_FOUND "ncurses (wide)" "libncurses-dev")
endif()

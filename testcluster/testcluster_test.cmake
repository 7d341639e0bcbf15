# A test of CTest that has a cluster of its own, started before the command and gone after it:
#
#   testcluster_test(NAME name COMMAND program [argument...]
#                    [SERVERS n] [OBSERVERS n] [PROXIES] [DELAY ms]
#                    [FILE cluster.toml] [SCHEDULE faults.toml] [OPTIONS option...]
#                    [WORKING_DIRECTORY folder] [TIMEOUT seconds] [LABELS label...])
#
# The command finds the servers by the environment variable TESTCLUSTER_HOSTS, and can call `testcluster kill 1` and the
# like: TESTCLUSTER_DIR names the cluster. Its first word may be a target. FILE and SCHEDULE are relative to the folder of
# the CMakeLists.txt. OPTIONS are further options of `testcluster exec`. The test needs the program `testcluster`
# (TESTCLUSTER_PROGRAM, Debian: zkrecipes-tools); without it CMake stops here.
function(testcluster_test)
  set(values NAME SERVERS OBSERVERS DELAY FILE SCHEDULE WORKING_DIRECTORY TIMEOUT)
  cmake_parse_arguments(PARSE_ARGV 0 given PROXIES "${values}" "COMMAND;OPTIONS;LABELS")
  if(given_UNPARSED_ARGUMENTS OR given_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "testcluster_test: unknown ${given_UNPARSED_ARGUMENTS}, or without a value: "
                        "${given_KEYWORDS_MISSING_VALUES}; known: ${values} COMMAND OPTIONS LABELS PROXIES")
  endif()
  if(NOT given_NAME OR NOT given_COMMAND)
    message(FATAL_ERROR "testcluster_test: NAME and COMMAND are needed")
  endif()
  if(NOT TESTCLUSTER_PROGRAM)
    message(FATAL_ERROR "testcluster_test: the program testcluster is missing (Debian: zkrecipes-tools); set "
                        "TESTCLUSTER_PROGRAM if it is elsewhere")
  endif()

  set(options ${given_OPTIONS})
  foreach(each SERVERS OBSERVERS DELAY)
    if(DEFINED given_${each})
      string(TOLOWER ${each} name)
      list(APPEND options --${name} ${given_${each}})
    endif()
  endforeach()
  foreach(each FILE SCHEDULE)
    if(DEFINED given_${each})
      string(TOLOWER ${each} name)
      get_filename_component(path ${given_${each}} ABSOLUTE)
      list(APPEND options --${name} ${path})
    endif()
  endforeach()
  if(given_PROXIES)
    list(APPEND options --proxies)
  endif()

  list(POP_FRONT given_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(folder)
  if(given_WORKING_DIRECTORY)
    set(folder WORKING_DIRECTORY ${given_WORKING_DIRECTORY})
  endif()
  add_test(NAME ${given_NAME} ${folder}
           COMMAND ${TESTCLUSTER_PROGRAM} exec ${options} -- ${program} ${given_COMMAND})
  if(given_TIMEOUT)
    set_tests_properties(${given_NAME} PROPERTIES TIMEOUT ${given_TIMEOUT})
  endif()
  if(given_LABELS)
    set_tests_properties(${given_NAME} PROPERTIES LABELS "${given_LABELS}")
  endif()
endfunction()

# Installs the pkg-config file NAME.pc, made from NAME.pc.in beside the CMakeLists.txt that calls this; a third argument
# names another file in place of NAME.pc.in, without its ending. The file finds its prefix by its own place, so that an
# installed tree can be moved.
function(zkrecipes_install_pkgconfig name component)
  set(template ${name})
  if(ARGC GREATER 2)
    set(template ${ARGV2})
  endif()
  file(RELATIVE_PATH prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" prefix "\${pcfiledir}/${prefix}")
  configure_file(${template}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT ${component})
endfunction()

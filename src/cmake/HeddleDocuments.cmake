# Man pages and completions of shells, which the command writes from its tables of options: the targets heddle_man and
# heddle_completions, and where they are installed. A build for another machine cannot run the command, and has none.
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Cross-compiling: no man pages and no completions of shells")
  return()
endif()
set(manual ${PROJECT_BINARY_DIR}/manual)
set(writer heddle_command)
if(HEDDLE_STUDIES AND NOT HEDDLE_FUZZ)
  set(writer heddle_study)
endif()
# Writes one format, once the command has changed.
function(heddle_manual format)
  add_custom_command(OUTPUT ${manual}/${format}.stamp
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0
            $<TARGET_FILE:${writer}> manual --format ${format} --output ${manual}/${format}
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/${format}.stamp
    DEPENDS ${writer} COMMENT "heddle manual --format ${format}" VERBATIM)
endfunction()
foreach(format man bash zsh)
  heddle_manual(${format})
endforeach()
add_custom_target(heddle_man ALL DEPENDS ${manual}/man.stamp)
add_custom_target(heddle_completions ALL DEPENDS ${manual}/bash.stamp ${manual}/zsh.stamp)

install(DIRECTORY ${manual}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${manual}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${manual}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples REGEX "/examples/CMakeLists.txt$" EXCLUDE)

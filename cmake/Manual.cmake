# Man pages and shell completion: man/*.1 and completion/{rarebit.bash,_rarebit} in RAREBIT_MANUAL_FOLDER, made by the
# built tool from its own tables. Where that cannot run, as when compiling for another machine, they are taken from
# RAREBIT_MANUAL, where `rarebit generate FOLDER` of the same version has put them; a source tarball has them in manual/.
if(NOT TARGET rarebit)
  return()
endif()
set(RAREBIT_MANUAL "" CACHE PATH "Folder with man pages and completion, in place of running the tool")
set(RAREBIT_MANUAL_FOLDER ${PROJECT_BINARY_DIR})
add_custom_target(rarebit_manual ALL)
if(RAREBIT_MANUAL)
  set(RAREBIT_MANUAL_FOLDER ${RAREBIT_MANUAL})
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(RAREBIT_MANUAL_FOLDER ${PROJECT_SOURCE_DIR}/manual)
else()
  set(stamp ${PROJECT_BINARY_DIR}/man/stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND sh -c "rm -f man/rarebit*.1" # those of commands that are no more
    COMMAND rarebit generate ${PROJECT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS rarebit
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    VERBATIM
    COMMENT "Making man pages and completion")
  add_custom_target(rarebit_manual_made DEPENDS ${stamp})
  add_dependencies(rarebit_manual rarebit_manual_made)
  return()
endif()
if(NOT EXISTS ${RAREBIT_MANUAL_FOLDER}/man/rarebit.1)
  message(STATUS "rarebit is built without man pages and completion: ${RAREBIT_MANUAL_FOLDER} has none. Give "
    "-DRAREBIT_MANUAL=FOLDER, where 'rarebit generate FOLDER' has put them.")
endif()

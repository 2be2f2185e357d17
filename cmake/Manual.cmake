# Man pages and shell completion, made by the built tool from its own tables.
# They end in ${PROJECT_BINARY_DIR}/man/*.1 and ${PROJECT_BINARY_DIR}/completion/{rarebit.bash,_rarebit}.
if(TARGET rarebit)
  set(RAREBIT_MANUAL_STAMP ${PROJECT_BINARY_DIR}/man/stamp)
  add_custom_command(OUTPUT ${RAREBIT_MANUAL_STAMP}
    COMMAND sh -c "rm -f man/rarebit*.1" # those of commands that are no more
    COMMAND rarebit generate ${PROJECT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${RAREBIT_MANUAL_STAMP}
    DEPENDS rarebit
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    VERBATIM
    COMMENT "Making man pages and completion")
  add_custom_target(rarebit_manual ALL DEPENDS ${RAREBIT_MANUAL_STAMP})
endif()

# What `cmake --install` puts where, by component: core, io, plot, nets, media (shared libraries); core-dev, io-dev... (static
# libraries, headers, and what CMake and pkg-config need to find them); tool (with man pages and completion).
# tests/install holds it to that.
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH RAREBIT_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  ${CMAKE_INSTALL_PREFIX})

# CMake: find_package(rarebit-io) gives rarebit::rarebit-io and rarebit::rarebit-io_static, of what is built.
#
# pkg-config: the prefix is relative to the file, so that an installed tree may be moved. What the static
# library needs is named by its flags: as packages they would add their headers' flags, which rarebit's
# own headers do not need, and OpenBLAS would ask for the Fortran library.
add_custom_target(rarebit_installed)
if(TARGET rarebit_cl)
  add_dependencies(rarebit_installed rarebit_cl)
endif()
foreach(library ${RAREBIT_LIBRARIES})
  set(below) # the next one down, which names those below it
  if(library STREQUAL io)
    set(below rarebit)
  elseif(RAREBIT_IO AND NOT library STREQUAL core)
    set(below rarebit-io)
  elseif(NOT library STREQUAL core)
    set(below rarebit)
  endif()
  set(name ${RAREBIT_${library}_NAME})
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  set(development COMPONENT ${library}-dev)
  if(TARGET rarebit_${library}_shared)
    add_dependencies(rarebit_installed rarebit_${library}_shared)
    set_target_properties(rarebit_${library}_shared PROPERTIES EXPORT_NAME ${name})
    install(TARGETS rarebit_${library}_shared EXPORT ${name}_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT ${library} NAMELINK_COMPONENT ${library}-dev)
    install(EXPORT ${name}_shared NAMESPACE rarebit:: FILE ${name}Shared.cmake DESTINATION ${folder} ${development})
  endif()
  if(TARGET rarebit_${library}_static)
    add_dependencies(rarebit_installed rarebit_${library}_static)
    set_target_properties(rarebit_${library}_static PROPERTIES EXPORT_NAME ${name}_static)
    install(TARGETS rarebit_${library}_static rarebit_${library}_dependencies EXPORT ${name}_static
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${development})
    install(EXPORT ${name}_static NAMESPACE rarebit:: FILE ${name}Static.cmake DESTINATION ${folder} ${development})
  endif()
  foreach(header ${RAREBIT_${library}_HEADERS})
    install(FILES include/rarebit/${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rarebit ${development})
  endforeach()
  set(RAREBIT_LIBRARY ${library})
  set(RAREBIT_BELOW ${below})
  configure_package_config_file(cmake/rarebitConfig.cmake.in ${PROJECT_BINARY_DIR}/${name}Config.cmake
    INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${name}ConfigVersion.cmake
    COMPATIBILITY ${RAREBIT_COMPATIBILITY})
  install(FILES ${PROJECT_BINARY_DIR}/${name}Config.cmake
    ${PROJECT_BINARY_DIR}/${name}ConfigVersion.cmake cmake/Dependencies.cmake
    DESTINATION ${folder} ${development})
  list(JOIN RAREBIT_${library}_LINK " " RAREBIT_LINK)
  list(JOIN below " " RAREBIT_REQUIRES)
  set(RAREBIT_SUMMARY "${RAREBIT_${library}_SUMMARY}")
  configure_file(rarebit.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${development})
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT core)

if(TARGET rarebit)
  add_dependencies(rarebit_installed rarebit rarebit_manual)
  install(TARGETS rarebit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  install(DIRECTORY ${RAREBIT_MANUAL_FOLDER}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT tool OPTIONAL FILES_MATCHING PATTERN "*.1")
  install(FILES ${RAREBIT_MANUAL_FOLDER}/completion/rarebit.bash RENAME rarebit
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool OPTIONAL)
  install(FILES ${RAREBIT_MANUAL_FOLDER}/completion/_rarebit
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool OPTIONAL)
endif()

if(RAREBIT_TOP)
  set(shared "${CMAKE_INSTALL_BINDIR}|${CMAKE_INSTALL_LIBDIR}|${CMAKE_INSTALL_INCLUDEDIR}|${CMAKE_INSTALL_DATADIR}|${CMAKE_INSTALL_MANDIR}")
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt "-DSHARED=${shared}"
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake VERBATIM)
endif()

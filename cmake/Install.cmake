# What `cmake --install` puts where: libraries, headers, the tool, its man pages and completion, and
# what CMake and pkg-config need to find them. tests/install holds it to that.
include(CMakePackageConfigHelpers)

install(TARGETS rarebit_shared EXPORT rarebit_shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS rarebit_static rarebit_dependencies EXPORT rarebit_static
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/rarebit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET rarebit)
  install(TARGETS rarebit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    OPTIONAL FILES_MATCHING PATTERN "*.1")
  install(FILES ${PROJECT_BINARY_DIR}/completion/rarebit.bash RENAME rarebit
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/completion/_rarebit
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# CMake: find_package(rarebit) gives rarebit::rarebit and rarebit::rarebit_static.
set(RAREBIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rarebit)
set_target_properties(rarebit_shared PROPERTIES EXPORT_NAME rarebit)
install(EXPORT rarebit_shared NAMESPACE rarebit:: FILE rarebitShared.cmake
  DESTINATION ${RAREBIT_CMAKE_DIR})
install(EXPORT rarebit_static NAMESPACE rarebit:: FILE rarebitStatic.cmake
  DESTINATION ${RAREBIT_CMAKE_DIR})
configure_package_config_file(cmake/rarebitConfig.cmake.in
  ${PROJECT_BINARY_DIR}/rarebitConfig.cmake INSTALL_DESTINATION ${RAREBIT_CMAKE_DIR}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rarebitConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rarebitConfig.cmake
  ${PROJECT_BINARY_DIR}/rarebitConfigVersion.cmake DESTINATION ${RAREBIT_CMAKE_DIR})
install(FILES cmake/Dependencies.cmake RENAME rarebitDependencies.cmake
  DESTINATION ${RAREBIT_CMAKE_DIR})

# pkg-config. The prefix is relative to the file, so that an installed tree may be moved. What the static
# library needs is named by its flags: as packages they would add their headers' flags, which rarebit's
# own headers do not need, and OpenBLAS would ask for the Fortran library.
set(RAREBIT_PRIVATE_LINK ${RAREBIT_OPENBLAS_LDFLAGS} ${RAREBIT_HDF5_LDFLAGS} ${RAREBIT_CAIRO_LDFLAGS}
  ${RAREBIT_JANSSON_LDFLAGS} ${RAREBIT_SNDFILE_LDFLAGS} ${RAREBIT_LZF_LDFLAGS} -lpng -lz)
list(JOIN RAREBIT_PRIVATE_LINK " " RAREBIT_PRIVATE_LINK)
file(RELATIVE_PATH RAREBIT_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
  ${CMAKE_INSTALL_PREFIX})
configure_file(rarebit.pc.in ${PROJECT_BINARY_DIR}/rarebit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rarebit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The libraries: librarebit (core), above it librarebit-io, and on that librarebit-plot, librarebit-nets and
# librarebit-media, side by side. Each is compiled once, for the static library, the shared one, and the tests
# that look inside.
#
# A shared library exports the functions of its public headers under the version RAREBIT_x.y, from 1.0 on RAREBIT_x, and what
# the libraries above it use of its inside under RAREBIT_PRIVATE_x.y.z: these belong together.
#
# Static and shared ones are built, and the tool links the static ones; BUILD_SHARED_LIBS leaves out static libraries
# where it is ON, shared ones where it is OFF.
#
# Libraries and tool have in the build tree the RUNPATH that they are installed with: CMake would end another one
# with an empty element, for which the loader takes the working directory.
set(RAREBIT_ORIGIN "$ORIGIN")
if(APPLE)
  set(RAREBIT_ORIGIN "@loader_path")
endif()
set(RAREBIT_VERSION_NODE ${PROJECT_VERSION_MAJOR})
set(RAREBIT_COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(RAREBIT_VERSION_NODE 0.${PROJECT_VERSION_MINOR})
  set(RAREBIT_COMPATIBILITY SameMinorVersion)
endif()
set(RAREBIT_core_NAME rarebit)
set(RAREBIT_core_SUMMARY "${PROJECT_DESCRIPTION}")
set(RAREBIT_io_NAME rarebit-io)
set(RAREBIT_io_SUMMARY "Files for rarebit: data, models, checkpoints")
set(RAREBIT_plot_NAME rarebit-plot)
set(RAREBIT_plot_SUMMARY "Plots for rarebit")
set(RAREBIT_nets_NAME rarebit-nets)
set(RAREBIT_nets_SUMMARY "Nets for rarebit: stacks, fine-tuning, autoencoders, Boltzmann machines")
set(RAREBIT_media_NAME rarebit-media)
set(RAREBIT_media_SUMMARY "Pictures and sounds for rarebit: patches, segments, denoising")
set(RAREBIT_io_HEADERS annotations checkpoint data io json model_file modules_file output report)
set(RAREBIT_plot_HEADERS plot)
set(RAREBIT_nets_HEADERS deep grid stack)
set(RAREBIT_media_HEADERS denoise patches segments)
set(RAREBIT_cl_HEADERS cl)
set(RAREBIT_mpi_HEADERS mpi)
file(GLOB RAREBIT_core_HEADERS CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include/rarebit
  include/rarebit/*.h)
list(TRANSFORM RAREBIT_core_HEADERS REPLACE "\\.h$" "")
list(REMOVE_ITEM RAREBIT_core_HEADERS ${RAREBIT_io_HEADERS} ${RAREBIT_plot_HEADERS} ${RAREBIT_nets_HEADERS}
  ${RAREBIT_media_HEADERS} ${RAREBIT_cl_HEADERS} ${RAREBIT_mpi_HEADERS})

# Every file of a room belongs to it: a new format, method or plot is a new file and nothing else.
file(GLOB_RECURSE RAREBIT_core_SOURCES CONFIGURE_DEPENDS src/*.c)
list(FILTER RAREBIT_core_SOURCES EXCLUDE REGEX "src/([a-z]+/isa|io|plot|nets|media|cl|mpi)/")
foreach(library io plot nets media)
  file(GLOB_RECURSE RAREBIT_${library}_SOURCES CONFIGURE_DEPENDS src/${library}/*.c)
endforeach()
include(cmake/Page.cmake)
list(APPEND RAREBIT_io_SOURCES ${RAREBIT_PAGE})

# A codec is src/<room>/<codec>.c; without it, src/<room>/without/<codec>.c says so to who needs it.
foreach(library io media)
  foreach(codec ${RAREBIT_${library}_CODECS})
    string(TOLOWER ${codec} file)
    if(RAREBIT_WITH_${codec})
      set(other "/without/${file}\\.c$")
    else()
      set(other "src/${library}/${file}\\.c$")
    endif()
    list(FILTER RAREBIT_${library}_SOURCES EXCLUDE REGEX ${other})
  endforeach()
endforeach()

# rarebit_library(LIBRARY [LIBRARY BELOW]...)
function(rarebit_library library)
  set(objects rarebit_${library}_objects)
  add_library(${objects} OBJECT ${RAREBIT_${library}_SOURCES})
  target_include_directories(${objects} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${objects} PRIVATE rarebit_flags rarebit_${library}_dependencies)
  set(objects $<TARGET_OBJECTS:${objects}>)
  if(library STREQUAL core)
    list(APPEND objects ${RAREBIT_KERNEL_OBJECTS})
  endif()
  set(below ${ARGN})
  foreach(kind ${RAREBIT_KINDS})
    string(TOUPPER ${kind} KIND)
    set(target rarebit_${library}_${kind})
    add_library(${target} ${KIND} ${objects})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${RAREBIT_${library}_NAME})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    list(TRANSFORM below REPLACE "(.+)" "rarebit_\\1_${kind}" OUTPUT_VARIABLE others)
    target_link_libraries(${target} PUBLIC ${others})
  endforeach()
  # As find_package has them.
  list(GET RAREBIT_KINDS 0 first)
  add_library(rarebit::${RAREBIT_${library}_NAME} ALIAS rarebit_${library}_${first})
  if(TARGET rarebit_${library}_static)
    add_library(rarebit::${RAREBIT_${library}_NAME}_static ALIAS rarebit_${library}_static)
    target_link_libraries(rarebit_${library}_static PUBLIC rarebit_${library}_dependencies)
  endif()
  if(TARGET rarebit_${library}_shared)
    rarebit_shared(${library})
  endif()
endfunction()

# What a shared library is besides its objects.
function(rarebit_shared library)
  target_link_libraries(rarebit_${library}_shared PRIVATE rarebit_${library}_dependencies)
  set_target_properties(rarebit_${library}_shared PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${RAREBIT_VERSION_NODE} INSTALL_RPATH "${RAREBIT_ORIGIN}" BUILD_WITH_INSTALL_RPATH ON)
  if(RAREBIT_SANITIZERS)
    target_link_options(rarebit_${library}_shared PRIVATE -fsanitize=${RAREBIT_SANITIZERS})
  endif()
endfunction()

# rarebit_exports(LIBRARY [LIBRARY ABOVE]...)
function(rarebit_exports library)
  if(NOT CMAKE_EXECUTABLE_FORMAT STREQUAL ELF OR NOT TARGET rarebit_${library}_shared)
    return()
  endif()
  set(map ${PROJECT_BINARY_DIR}/${RAREBIT_${library}_NAME}.map)
  list(TRANSFORM RAREBIT_${library}_HEADERS REPLACE "(.+)"
    "${PROJECT_SOURCE_DIR}/include/rarebit/\\1.h" OUTPUT_VARIABLE headers)
  set(users)
  foreach(above ${ARGN})
    list(APPEND users $<TARGET_OBJECTS:rarebit_${above}_objects>)
  endforeach()
  set(own $<TARGET_OBJECTS:rarebit_${library}_objects>)
  add_custom_command(OUTPUT ${map}
    COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/exports.sh ${map} ${CMAKE_NM} ${RAREBIT_VERSION_NODE}
      ${PROJECT_VERSION} ${headers} -- ${own} -- ${users}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.sh ${headers} ${own} ${users}
    COMMAND_EXPAND_LISTS VERBATIM COMMENT "Listing what lib${RAREBIT_${library}_NAME} exports")
  add_custom_target(rarebit_${library}_map DEPENDS ${map})
  foreach(other ${library} ${ARGN}) # Make knows objects of another target by its name alone
    add_dependencies(rarebit_${library}_map rarebit_${other}_objects)
  endforeach()
  add_dependencies(rarebit_${library}_shared rarebit_${library}_map)
  set_target_properties(rarebit_${library}_shared PROPERTIES LINK_DEPENDS ${map})
  target_link_options(rarebit_${library}_shared PRIVATE -Wl,--version-script=${map}
    -Wl,-Bsymbolic-functions)
endfunction()

set(RAREBIT_KINDS shared static)
if(DEFINED BUILD_SHARED_LIBS)
  set(RAREBIT_KINDS static)
  if(BUILD_SHARED_LIBS)
    set(RAREBIT_KINDS shared)
  endif()
endif()
list(GET RAREBIT_KINDS -1 RAREBIT_LINKED) # the kind that programs of this build link
rarebit_library(core)
set(RAREBIT_LIBRARIES core)
if(RAREBIT_IO)
  rarebit_library(io core)
  list(APPEND RAREBIT_LIBRARIES io)
endif()
set(RAREBIT_TOP_LIBRARIES) # which know nothing of each other
set(files io)
if(NOT RAREBIT_IO) # then nets have no layers in files
  set(files)
  list(FILTER RAREBIT_nets_SOURCES EXCLUDE REGEX "src/nets/files/")
endif()
foreach(library plot nets media)
  string(TOUPPER ${library} LIBRARY)
  if(RAREBIT_${LIBRARY})
    rarebit_library(${library} ${files} core)
    list(APPEND RAREBIT_TOP_LIBRARIES ${library})
  endif()
endforeach()
list(APPEND RAREBIT_LIBRARIES ${RAREBIT_TOP_LIBRARIES})
set(above ${RAREBIT_LIBRARIES})
foreach(library ${RAREBIT_LIBRARIES})
  if(library IN_LIST RAREBIT_TOP_LIBRARIES)
    set(above)
  else()
    list(REMOVE_ITEM above ${library})
  endif()
  rarebit_exports(${library} ${above})
endforeach()

# All of them, for what is built here.
add_library(rarebit_all INTERFACE)
foreach(library ${RAREBIT_LIBRARIES})
  target_link_libraries(rarebit_all INTERFACE rarebit_${library}_${RAREBIT_LINKED})
endforeach()

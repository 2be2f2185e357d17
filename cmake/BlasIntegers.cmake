# Refuses a BLAS or LAPACK with integers of 64 bits (ILP64): it links, and then computes nonsense. Where the
# program cannot be built or run, as when compiling for another machine, nothing is said.
string(MAKE_C_IDENTIFIER "RAREBIT_INTEGERS_${RAREBIT_BLAS}" integers)
if(NOT CMAKE_CROSSCOMPILING AND NOT DEFINED ${integers})
  list(TRANSFORM RAREBIT_core_LINK REPLACE "^-L(.+)" "-L\\1;-Wl,-rpath,\\1" OUTPUT_VARIABLE link)
  try_run(${integers} RAREBIT_INTEGERS_BUILT ${CMAKE_CURRENT_BINARY_DIR}
    ${CMAKE_CURRENT_LIST_DIR}/blas_integers.c LINK_LIBRARIES ${link})
endif()
if("${${integers}}" MATCHES "^(64|0)$") # the reference BLAS stops the program, with 0
  message(FATAL_ERROR "RAREBIT_BLAS is '${RAREBIT_BLAS}', which takes integers of 64 bits (ILP64), but "
    "rarebit needs one with 32: give another, such as -DRAREBIT_BLAS=openblas")
endif()

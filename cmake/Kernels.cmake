# src/*/isa/ are compiled once for each instruction set; src/linalg/kernels.c chooses among them when a
# context is made. -ffp-contract=fast lets the compiler use fused multiply-add where the
# instruction set has it; nothing here reorders a sum. -fno-math-errno: square roots by the processor.
set(RAREBIT_KERNELS ref)
set(RAREBIT_KERNEL_FLAGS_ref)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND RAREBIT_KERNELS avx2 avx512)
  set(RAREBIT_KERNEL_FLAGS_avx2 -mavx2 -mfma)
  set(RAREBIT_KERNEL_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma
    -mprefer-vector-width=512)
endif()

set(RAREBIT_KERNEL_OBJECTS)
foreach(name ${RAREBIT_KERNELS})
  add_library(rarebit_kernels_${name} OBJECT ${PROJECT_SOURCE_DIR}/src/linalg/isa/kernels_isa.c
    ${PROJECT_SOURCE_DIR}/src/et/isa/et_kernels.c)
  target_compile_definitions(rarebit_kernels_${name} PRIVATE RB_ISA=${name})
  target_compile_options(rarebit_kernels_${name} PRIVATE -O3 -ffp-contract=fast
    -fno-math-errno
    ${RAREBIT_KERNEL_FLAGS_${name}})
  target_include_directories(rarebit_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(rarebit_kernels_${name} PRIVATE rarebit_flags rarebit_core_dependencies)
  list(APPEND RAREBIT_KERNEL_OBJECTS $<TARGET_OBJECTS:rarebit_kernels_${name}>)
endforeach()

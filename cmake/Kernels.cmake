# src/linalg/isa/ is compiled once for each instruction set; src/linalg/kernels.c chooses among
# them when a context is made. -ffp-contract=fast lets the compiler use fused multiply-add where the
# instruction set has it; nothing here reorders a sum.
set(RAREBIT_KERNEL_OBJECTS)
function(rarebit_add_kernels name)
  add_library(rarebit_kernels_${name} OBJECT ${PROJECT_SOURCE_DIR}/src/linalg/isa/kernels_isa.c)
  target_compile_definitions(rarebit_kernels_${name} PRIVATE RB_ISA=${name})
  target_compile_options(rarebit_kernels_${name} PRIVATE -O3 -ffp-contract=fast ${ARGN})
  target_include_directories(rarebit_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(rarebit_kernels_${name} PRIVATE rarebit_flags rarebit_dependencies)
  set(RAREBIT_KERNEL_OBJECTS ${RAREBIT_KERNEL_OBJECTS} $<TARGET_OBJECTS:rarebit_kernels_${name}>
    PARENT_SCOPE)
endfunction()

rarebit_add_kernels(ref)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  rarebit_add_kernels(avx2 -mavx2 -mfma)
  rarebit_add_kernels(avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma
    -mprefer-vector-width=512)
endif()

# The libraries that rarebit stands on; docs/dependencies.md says why each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(BLAS REQUIRED IMPORTED_TARGET openblas)

add_library(rarebit_dependencies INTERFACE)
target_link_libraries(rarebit_dependencies INTERFACE PkgConfig::BLAS PkgConfig::HDF5
  PkgConfig::CAIRO PkgConfig::JANSSON PNG::PNG ZLIB::ZLIB Threads::Threads m)

# nix: pkgs/by-name/ra/rarebit/package.nix.
{ lib, stdenv, fetchurl, cmake, pkg-config, openblas, hdf5, zlib, libpng, cairo, jansson, liblzf, libsndfile }:

stdenv.mkDerivation rec {
  pname = "rarebit";
  version = "@VERSION@";

  src = fetchurl {
    url = "@URL@";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [ cmake pkg-config ];
  buildInputs = [ openblas hdf5 zlib libpng cairo jansson liblzf libsndfile ];
  cmakeFlags = [ "-DRAREBIT_TESTS=OFF" "-DRAREBIT_BENCH=OFF" ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/rarebit simulate bars --samples 50 -o bars.npy
    $out/bin/rarebit fit rfn bars.npy -k 4 --seed 1 -o model.h5
  '';

  meta = {
    description = "Finds the few hidden causes behind data";
    homepage = "@HOMEPAGE@";
    license = lib.licenses.bsd3;
    platforms = lib.platforms.unix;
  };
}

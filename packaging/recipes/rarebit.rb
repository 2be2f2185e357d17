# Homebrew: Formula/r/rarebit.rb.
class Rarebit < Formula
  desc "Finds the few hidden causes behind data"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "BSD-3-Clause"

  depends_on "cmake" => :build
  depends_on "pkg-config" => :build
  depends_on "cairo"
  depends_on "hdf5"
  depends_on "jansson"
  depends_on "liblzf"
  depends_on "libpng"
  depends_on "libsndfile"
  depends_on "openblas"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DRAREBIT_TESTS=OFF", "-DRAREBIT_BENCH=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"rarebit", "simulate", "bars", "--samples", "50", "-o", "bars.npy"
    system bin/"rarebit", "fit", "rfn", "bars.npy", "-k", "4", "--seed", "1", "-o", "model.h5"
    assert_predicate testpath/"model.h5", :exist?
  end
end

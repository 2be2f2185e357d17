# Spack: var/spack/repos/builtin/packages/rarebit/package.py.
from spack.package import *


class Rarebit(CMakePackage):
    """Finds the few hidden causes behind data: rectified factor networks."""

    homepage = "@HOMEPAGE@"
    url = "@URL@"

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@")

    variant("plot", default=True, description="Plots, by cairo")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("openblas")
    depends_on("hdf5")
    depends_on("zlib-api")
    depends_on("jansson")
    depends_on("libpng")
    depends_on("libsndfile")
    depends_on("cairo", when="+plot")

    def cmake_args(self):
        return [
            self.define("RAREBIT_TESTS", False),
            self.define("RAREBIT_BENCH", False),
            self.define_from_variant("RAREBIT_PLOT", "plot"),
        ]

"""Patches, segments, denoising and conversion: what the program makes."""

import wave

import numpy as np
import pandas as pd
import pytest
import rarebit


@pytest.fixture
def image():
    """Bars and noise."""
    random = np.random.default_rng(1)
    clean = np.zeros((40, 48))
    clean[::5], clean[:, ::7] = 1, 1
    return clean, (clean + 0.3 * random.normal(size=clean.shape)).astype(np.float32)


def test_patches_are_those_of_the_program(image, program, tmp_path):
    _, noisy = image
    np.save(tmp_path / "image.npy", noisy)
    program("patches", tmp_path / "image.npy", "--size", "6x5", "--count", 200, "--seed", 3, "--whiten",
            "zca", "-o", tmp_path / "p.npy", "-q")
    options = {"random_state": 3, "whiten": "zca"}
    found = rarebit.patches(tmp_path / "image.npy", "6x5", 200, **options,
                            whitening=tmp_path / "zca.npz")
    assert found.shape == (200, 30) and (found == np.load(tmp_path / "p.npy")).all()
    assert (rarebit.patches(noisy, "6x5", 200, **options) == found).all()
    assert np.load(tmp_path / "zca.npz")["matrix"].shape == (30, 30)
    with pytest.raises(ValueError, match="fewer|places"):
        rarebit.patches(noisy, "40x48", 2)


def test_denoising_takes_noise_away(image, program, tmp_path):
    clean, noisy = image
    fitted = rarebit.PCA(12, random_state=1).fit(rarebit.patches(noisy, "7x7", 1000, random_state=1))
    found = rarebit.denoise(fitted, noisy, "7x7")
    assert ((found - clean) ** 2).mean() < 0.5 * ((noisy - clean) ** 2).mean()
    np.save(tmp_path / "image.npy", noisy)
    fitted.save(tmp_path / "m.h5")
    program("denoise", tmp_path / "m.h5", tmp_path / "image.npy", "--size", "7x7", "-o",
            tmp_path / "clean.npy", "-q")
    assert (np.load(tmp_path / "clean.npy") == found).all()
    assert (rarebit.denoise(fitted.model_, tmp_path / "image.npy", "7x7", n_jobs=2) == found).all()
    colours = np.stack([noisy, 2 * noisy, noisy + 1], axis=2)
    fitted = rarebit.PCA(12, random_state=1).fit(rarebit.patches(colours, "7x7", 1000, random_state=1))
    assert np.abs(rarebit.denoise(fitted, colours, "7x7")[:, :, 1] - 2 * found).mean() < 0.1


def test_segments(tmp_path):
    samples = (3000 * np.sin(np.arange(800) / 5)).astype("<i2")
    with wave.open(str(tmp_path / "s.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(samples.tobytes())
    found = rarebit.segments(tmp_path / "s.wav", "100", step="50")
    assert found.shape == (15, 100)
    assert found[2] == pytest.approx(samples[100:200] / 32768, abs=1e-6)
    assert np.array_equal(rarebit.segments(tmp_path / "s.wav", 100, step=50), found)
    assert rarebit.segments([tmp_path / "s.wav"] * 2, "100", step="50").shape == (30, 100)


def test_conversion_keeps_values_and_names(X, tmp_path):
    table = pd.DataFrame(X, columns=list("abcdefghijkl"), index=[f"s{i}" for i in range(len(X))])
    rarebit.convert(table, tmp_path / "x.tsv")
    back = pd.read_csv(tmp_path / "x.tsv", sep="\t", index_col=0)
    assert list(back.index) == list(table.index) and back.to_numpy() == pytest.approx(X)
    rarebit.convert(tmp_path / "x.tsv", tmp_path / "t.npy", transpose=True)
    assert np.load(tmp_path / "t.npy") == pytest.approx(X.T)
    rarebit.convert(rarebit.stream(lambda first, n: X[first:first + n], *X.shape, dtype=float),
                    tmp_path / "x.npy")
    assert (np.load(tmp_path / "x.npy") == X).all()
    with pytest.raises(ValueError, match="transpose: options of reading"):
        rarebit.convert(X, tmp_path / "x.npy", transpose=True)
    with pytest.raises(ValueError, match="suffix|must end"):
        rarebit.convert(X, tmp_path / "x.doc")


def test_conversion_of_anndata_keeps_all(X, tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X.astype("float32"), layers={"twice": 2 * X.astype("float32")})
    adata.obs["batch"] = np.arange(len(X)) % 2
    adata.write(tmp_path / "a.h5ad")
    rarebit.convert(tmp_path / "a.h5ad", tmp_path / "b.h5ad", dataset="layers/twice")
    made = anndata.read_h5ad(tmp_path / "b.h5ad")
    assert (made.X == 2 * adata.X).all() and list(made.obs["batch"]) == list(adata.obs["batch"])

"""Patches of images, segments of sounds, and images without their noise. They need
librarebit-media."""

from __future__ import annotations

import os
import tempfile
from ctypes import byref, c_char_p, c_void_p, sizeof
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from ._context import Context
from ._estimators import Estimator, _model_of, _seed, _threads
from ._library import CDenoising, core, media
from ._model import Array, Model
from ._options import Options
from ._sources import is_path, read

__all__ = ["denoise", "patches", "segments"]


def patches(paths: Any, size: str = "10x10", count: int = 40000, *, random_state: Any = None,
            whitening: Optional[Any] = None, **options: Any) -> Array:
    """Patches cut out of images at random places, no place twice: count x features of float32.

    Parameters
    ----------
    paths : names of files, PNG, PGM, PPM or .npy; or one array of height x width (x channels)
    size : height x width of a patch
    count : how many
    random_state : int, Generator, RandomState or None
    whitening : a file for what contrast and whiten did, .npz
    options : scale ("0:10"), pictures, channels, contrast, whiten, epsilon

    Examples
    --------
    >>> X = rarebit.patches("grass.pgm", "8x8", 10000, random_state=1)
    """
    if hasattr(paths, "ndim"):
        with tempfile.TemporaryDirectory() as folder:
            return patches(_as_file(paths, folder), size, count, random_state=random_state,
                           whitening=whitening, **options)
    source, done = c_void_p(), c_void_p()
    chosen = {"size": size, "count": count, "random_state": _seed(random_state), **options}
    with Context() as context, Options(context, group=media().rb_patches_group()) as handle:
        handle.set_all(chosen)
        try:
            context.run(media().rb_patches_whitened, *_names(paths), handle.pointer, byref(source),
                        byref(done))
            if whitening is not None:
                context.run(media().rb_whitening_write, done, os.fsencode(whitening))
            return _read(context, source)
        finally:
            media().rb_whitening_free(done)


def segments(paths: Any, length: Union[int, str, None] = None, *,
             step: Union[int, str, None] = None, **options: Any) -> Array:
    """Overlapping pieces of sounds: segments x values of float32, recording by recording.

    Parameters
    ----------
    paths : names of files, WAV, AIFF, AU, FLAC and what else libsndfile reads
    length, step : of a segment, and from one to the next: "12.5ms", "0.1s", or a number of values
    options : peak, trim_silence, spectrogram, window, hop, bands

    Examples
    --------
    >>> X = rarebit.segments("song.flac", "0.1s", step="0.1s")
    """
    source = c_void_p()
    with Context() as context, Options(context, group=media().rb_segments_group()) as handle:
        handle.set_all({"length": length, "step": step, **options})
        context.run(media().rb_segments, *_names(paths), handle.pointer, byref(source))
        return _read(context, source)


def denoise(fitted: Union[Estimator, Model], image: Any, size: str = "10x10", *,
            n_jobs: Optional[int] = None, **options: Any) -> Array:
    """An image without its noise: every patch rebuilt by a model of patches, and those that
    overlap averaged. An array of height x width (x channels), on the scale of the image.

    Parameters
    ----------
    fitted : a fitted estimator, or a Model, of patches
    image : an array of height x width (x channels), or a file
    size : height x width of the patches that the model was fitted to
    options : scale, as for the patches of the fit

    Examples
    --------
    >>> rfn = rarebit.RFN(64, random_state=1).fit(rarebit.patches(image, "8x8", 10000))
    >>> clean = rarebit.denoise(rfn, image, "8x8")
    """
    model = _model_of(fitted)
    with tempfile.TemporaryDirectory() as folder:
        path = image if is_path(image) else _as_file(image, folder)
        clean = Path(folder) / "clean.npy"
        with Context(_threads(n_jobs)) as context, \
                Options(context, group=media().rb_denoise_group()) as handle:
            handle.set_all({"size": size, **options})
            done = CDenoising(sizeof(CDenoising))
            context.run(media().rb_denoise, model._pointer, os.fsencode(path), handle.pointer,
                        os.fsencode(clean), byref(done))
        rows = np.asarray(np.load(clean))
    return rows.reshape(done.height, done.width, -1) if done.channels > 1 else rows


def _as_file(image: Any, folder: str) -> Path:
    """The library reads images from files."""
    path = Path(folder) / "image.npy"
    np.save(path, np.asarray(image))
    return path


def _names(paths: Any) -> tuple[Any, int]:
    names = [os.fsencode(path) for path in ([paths] if is_path(paths) else paths)]
    return (c_char_p * len(names))(*names), len(names)


def _read(context: Context, source: c_void_p) -> Array:
    try:
        return np.asarray(read(context, source, np.float32))
    finally:
        core.rb_source_free(source)

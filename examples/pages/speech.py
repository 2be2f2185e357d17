"""Who speaks, and which digit: speech.py SEGMENTS RECORDINGS LINCA RFN K

SEGMENTS: segments (.npy); RECORDINGS: of each of them digit_speaker_number; LINCA, RFN: codes (.npy).
Each recording gets the means of the sizes of its segments' codes; of each speaker and each digit that
component counts which marks the recordings best (area under the ROC curve, either sign). The same
with K components of scikit-learn's NMF (of segments less their least value), FastICA and k-means, and
with the power in each band of the segments' spectra.
"""

import sys
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA

from peers import best_areas


def main(segments, recordings, linca, rfn, k):
    x = np.load(segments).astype(float)
    with open(recordings) as file:
        owners = np.array(file.read().split())
    names = np.unique(owners)
    speakers = np.array([name.split("_")[1] for name in names])
    digits = np.array([name.split("_")[0] for name in names])

    def tell(name, codes):
        means = np.array([np.abs(codes[owners == name]).mean(0) for name in names])
        both = np.hstack([means, -means])
        print(f"{name}, speaker\t{best_areas(both, speakers):.3f}")
        print(f"{name}, digit\t{best_areas(both, digits):.3f}")

    tell("linca", np.load(linca))
    tell("rfn", np.load(rfn))
    tell("nmf", NMF(k, init="nndsvda", max_iter=200, random_state=0).fit_transform(x - x.min()))
    tell("ica", FastICA(k, whiten="unit-variance", max_iter=100, random_state=0).fit_transform(x))
    tell("k-means", np.eye(k)[KMeans(k, n_init=1, random_state=0).fit_predict(x)])
    tell("spectrum", np.abs(np.fft.rfft(x * np.hanning(x.shape[1]), axis=1)) ** 2)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")  # of iterations that end before they converge
    main(*sys.argv[1:5], int(sys.argv[5]))

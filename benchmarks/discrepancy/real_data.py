"""Does reweighting help?  Root mean squared errors on real targets, whichever way they fall.

    python benchmarks/discrepancy/real_data.py air   [--draws 20] [--kernel rbf --gamma 0.03]
    python benchmarks/discrepancy/real_data.py books [--draws 10] [--data FOLDER]

air     summer and 60 winter days at six stations -> winter at six others (the demonstration, with more draws)
books   star ratings: 100 reviews of books and 50 of kitchen goods -> kitchen goods; 150 target reviews without
        labels; the 500 most common words and bigrams, mean 0 and variance 1 over source and target

All models are the same ridge regression; "target labels" is trained on labels that adaptation does without:
100 more winter days for air, the 150 target reviews themselves for books. Pin one thread: OPENBLAS_NUM_THREADS=1.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matrixlearn_discrepancy import Discrepancy, DiscrepancyRegressor, effective_sample_size
from matrixlearn_discrepancy.demo import study
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

import matrixlearn as ml
from benchmarks._data import DATA
from benchmarks.engines.large import distinct

CAPS = (None, 2.0, 3.0)
FEATURES = 500


def table(models, errors, effective):
    """Mean, standard error, and how often a model beats uniform weights."""
    print(f"{'model':>16}{'RMSE':>9}{'s.e.':>8}{'vs uniform':>12}{'wins':>8}{'eff. size':>11}")
    for k, name in enumerate(models):
        mean, error = errors[:, k].mean(), errors[:, k].std(ddof=1) / np.sqrt(len(errors))
        change = mean / errors[:, 0].mean() - 1
        wins = f"{np.sum(errors[:, k] < errors[:, 0])}/{len(errors)}"
        print(f"{name:>16}{mean:>9.4f}{error:>8.4f}{change:>+12.1%}{wins:>8}{effective[:, k].mean():>11.1f}")


def air(draws, alphas, kernel, gamma):
    for alpha in alphas:
        began = time.perf_counter()
        parameters = {"kernel": kernel, **({} if gamma is None else {"gamma": gamma})}
        result = study(draws, CAPS, alpha, **parameters)
        print(
            f"\nair, {kernel} kernel {gamma or ''}, alpha {alpha:g}, {draws} draws, {time.perf_counter() - began:.0f} s"
        )
        table(result.models, result.errors, result.effective)


def reviews(path):
    """Counts of the most common features and star ratings, repeated reviews left out."""
    with np.load(path) as data:
        X = sp.csr_matrix((data["data"], data["indices"].astype(np.int64), data["indptr"]), shape=data["shape"])
        rating = data["rating"].astype(float)
    first = distinct(X)
    return X[first, :FEATURES].toarray().astype(float), rating[first]


def books(draws, alphas, folder):
    domains = {name: reviews(Path(folder) / f"{name}.npz") for name in ("books", "kitchen")}
    models = ("uniform", "exact", "cap 2", "cap 3", "target labels")
    errors, effective = np.empty((len(alphas), draws, 5)), np.empty((draws, 5))
    norms, gaps, seconds = [], [], []
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        from_books = rng.permutation(len(domains["books"][1]))[:100]
        order = rng.permutation(len(domains["kitchen"][1]))
        labelled, target, test = order[:50], order[50:200], order[200:]
        (B, stars_b), (K, stars_k) = domains["books"], domains["kitchen"]
        X, y = np.concatenate([B[from_books], K[labelled]]), np.concatenate([stars_b[from_books], stars_k[labelled]])
        seen = np.concatenate([X, K[target]])
        mean, std = seen.mean(axis=0), seen.std(axis=0)
        std[std == 0] = 1.0  # a word that none of them has
        X, T, E = ((part - mean) / std for part in (X, K[target], K[test]))
        weights = [np.full(150, 1 / 150)]
        for cap in CAPS:
            solution = ml.solve(Discrepancy(X, T, max_weight=cap), tol=1e-3)
            gaps.append(solution.gap)
            seconds.append(solution.seconds)
            weights.append(solution.y)
        norms.append([Discrepancy(X, T).game.upper(z) for z in weights])
        fits = [(X, y, z) for z in weights] + [(T, stars_k[target], np.full(150, 1 / 150))]
        for a, alpha in enumerate(alphas):
            for k, (P, label, z) in enumerate(fits):
                model = Ridge(alpha=alpha).fit(P, label, sample_weight=150 * z)
                errors[a, draw, k] = np.sqrt(np.mean((model.predict(E) - stars_k[test]) ** 2))
        effective[draw] = [effective_sample_size(z) for _, _, z in fits]
    print(f"\nbooks -> kitchen: {draws} draws; {len(gaps)} solves, largest certified gap {max(gaps):.1e},")
    print(f"median {np.median(seconds):.2f} s, slowest {max(seconds):.2f} s")
    print("||M(z)||_2, mean:", ", ".join(f"{n} {v:.2f}" for n, v in zip(models, np.mean(norms, axis=0), strict=False)))
    print(f"standard deviation of the ratings on the target: {domains['kitchen'][1].std():.3f}")
    for a, alpha in enumerate(alphas):
        print(f"alpha {alpha:g}")
        table(models, errors[a], effective)
    check_the_estimator(X, y, T, E, alphas[0])


def check_the_estimator(X, y, T, E, alpha):
    """Ridge with the certified weights is what DiscrepancyRegressor fits."""
    ours = DiscrepancyRegressor(alpha=alpha, tol=1e-3).fit(X, y, X_target=T)
    z = ml.solve(Discrepancy(X, T, max_weight=2.0), tol=1e-3).y
    np.testing.assert_allclose(
        ours.predict(E), Ridge(alpha=alpha).fit(X, y, sample_weight=150 * z).predict(E), rtol=1e-6
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["air", "books"])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--alpha", type=float, nargs="+")
    parser.add_argument("--kernel", default="linear")
    parser.add_argument("--gamma", type=float)
    parser.add_argument("--data", default=DATA / "sentiment")
    given = parser.parse_args()
    warnings.simplefilter("error", ConvergenceWarning)  # no number from an uncertified answer
    if given.study == "air":
        air(given.draws, given.alpha or [1.0, 10.0], given.kernel, given.gamma)
    else:
        books(given.draws, given.alpha or [100.0, 1000.0, 10000.0], given.data)

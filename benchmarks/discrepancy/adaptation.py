"""When does it help?  Ours and the usual peers on all sets at hand, paired over draws, against uniform weights.

    python benchmarks/discrepancy/adaptation.py [--draws 20] [--first 100] [--only air Jura] [--classes] [--out FILE]

uniform         the same ridge regression, unweighted; ridge by generalized cross-validation on the source
default         DiscrepancyRegressor(): ridge 1, cap 2;   plain: the same ridge, unweighted
CV              DiscrepancyRegressorCV(): all chosen without labels of the target;   CV, ridge: its ridge, unweighted
KMM             kernel mean matching (Huang et al., 2007; skada's, Gaussian kernel), density ratio (logistic
                regression, skada's reweighting by discriminator): ridge as for uniform
target          trained on at most 100 labelled target rows, ridge by generalized cross-validation on them

Sets: _domains.py. Data: --data or MATRIXLEARN_DATA. Means of RMSE over draws, change against uniform in percent
with the standard error of the paired difference, draws won. Seeds 0 to 7 served to choose the rule; here are others.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import (
    DiscrepancyBound,
    DiscrepancyRegressor,
    DiscrepancyRegressorCV,
    ImportanceWeighted,
)
from matrixlearn_discrepancy.selection import density_ratio

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.discrepancy._domains import classifications, regressions


def kmm(X, T):
    """skada's weights of kernel mean matching, or None where skada is not installed."""
    try:
        from skada import KMMReweightAdapter
    except ImportError:
        return None
    sample = np.concatenate([X, T])
    side = np.repeat([1, -2], [len(X), len(T)])
    adapter = KMMReweightAdapter(gamma=1.0 / X.shape[1])
    adapter.fit(sample, sample_domain=side)
    w = np.maximum(np.asarray(adapter.source_weights_).ravel(), 0)
    return w / w.sum()


def study(setting, seed):
    """RMSE of each model on one draw."""
    d = setting.draw(seed)
    own = {"kernel": setting.kernel}
    grid = {} if setting.gamma is None else {"gammas": [setting.gamma]}
    fixed = {} if setting.gamma is None else {"gamma": setting.gamma}
    fits = {"uniform": DiscrepancyRegressorCV(**own, **grid).fit(d.X, d.y)}
    alpha, m = fits["uniform"].alpha_, len(d.X)
    seconds = time.process_time()
    fits["CV"] = DiscrepancyRegressorCV(**own, **grid).fit(d.X, d.y, X_target=d.T)
    seconds = time.process_time() - seconds
    trials, path = fits["CV"].trials_, fits["CV"]

    def chosen(rule):
        k = rule.choose(trials).number
        return weighted(trials.smoothers[k].weights)

    def weighted(z):
        return DiscrepancyRegressor(alpha=alpha, **own, **fixed).fit(d.X, d.y, sample_weight=m * z)

    fits["CV, ridge"] = DiscrepancyRegressor(alpha=path.alpha_, **own, **fixed).fit(d.X, d.y)
    fits["iw"], fits["bound"] = chosen(ImportanceWeighted()), chosen(DiscrepancyBound())
    fits["plain"] = DiscrepancyRegressor(**own, **fixed).fit(d.X, d.y)
    fits["default"] = DiscrepancyRegressor(**own, **fixed, tol=1e-2).fit(d.X, d.y, X_target=d.T)
    fits["density ratio"] = weighted(density_ratio(d.X, d.T))
    z = kmm(d.X, d.T)
    if z is not None:
        fits["KMM"] = weighted(z)
    fits["target"] = DiscrepancyRegressorCV(**own, **grid).fit(d.L, d.y_L)
    out = {name: float(np.sqrt(np.mean((fit.predict(d.E) - d.y_E) ** 2))) for name, fit in fits.items()}
    return out | {"reweighted": int(path.choice_.number > 0), "seconds": seconds}


def classify(setting, seed):
    """Error rate of each model on one draw; C by cross-validation on the source."""
    from matrixlearn_discrepancy import DiscrepancyClassifier
    from sklearn.linear_model import LogisticRegressionCV

    d = setting.draw(seed)

    def strength(X, y):
        return float(
            LogisticRegressionCV(
                Cs=10.0 ** np.arange(-4, 1.1), cv=3, max_iter=200, l1_ratios=(0.0,), use_legacy_attributes=False
            )
            .fit(X, y)
            .C_
        )

    alpha = 1 / strength(d.X, d.y)
    m = len(d.X)
    fits = {"uniform": DiscrepancyClassifier(alpha=alpha).fit(d.X, d.y)}
    fits["default"] = DiscrepancyClassifier(alpha=alpha, tol=1e-2, uniform_share=0.0).fit(d.X, d.y, X_target=d.T)
    fits["half"] = DiscrepancyClassifier(alpha=alpha, tol=1e-2).fit(d.X, d.y, X_target=d.T)
    fits["density ratio"] = DiscrepancyClassifier(alpha=alpha).fit(d.X, d.y, sample_weight=m * density_ratio(d.X, d.T))
    z = kmm(d.X, d.T)
    if z is not None:
        fits["KMM"] = DiscrepancyClassifier(alpha=alpha).fit(d.X, d.y, sample_weight=m * z)
    if len(np.unique(d.y_L)) > 1:
        fits["target"] = DiscrepancyClassifier(alpha=1 / strength(d.L, d.y_L)).fit(d.L, d.y_L)
    return {name: float(np.mean(fit.predict(d.E) != d.y_E)) for name, fit in fits.items()}


def row(name, results):
    """One line: mean of uniform, and for each model the change in percent, its standard error, and draws won."""
    base = np.array([r["uniform"] for r in results])
    cells = []
    for model in [key for key in results[0] if key not in ("uniform", "reweighted", "seconds")]:
        error = np.array([r.get(model, np.nan) for r in results])
        apart = 100 * (error - base) / base.mean()
        se = apart.std(ddof=1) / np.sqrt(len(apart))
        cells.append(f"{model} {apart.mean():+.1f}±{se:.1f} ({int(np.sum(error < base))})")
    return f"{name:22} {base.mean():.3f}  " + "  ".join(cells)


def picture(results, file):
    """Dots for each set: the change of three models against uniform weights, with standard errors."""
    from matplotlib.figure import Figure

    limit = 13.0
    figure = Figure(figsize=(9, 0.27 * len(results) + 1.3), layout="constrained")
    axes = figure.subplots()
    for k, (model, color) in enumerate((("default", "C3"), ("density ratio", "C1"), ("CV", "C0"))):
        for at, each in enumerate(results):
            base, error = (np.array([r[name] for r in each["results"]]) for name in ("uniform", model))
            apart = 100 * (error - base) / base.mean()
            mean, se = apart.mean(), apart.std(ddof=1) / np.sqrt(len(apart))
            place = at + 0.22 * (k - 1)
            label = {"CV": "DiscrepancyRegressorCV", "default": "ridge 1, cap 2"}.get(model, model) if at == 0 else None
            marker = "o" if abs(mean) <= limit else "<" if mean < 0 else ">"
            axes.plot(np.clip(mean, -limit, limit), place, marker, color=color, ms=4, label=label)
            axes.plot(np.clip([mean - se, mean + se], -limit, limit), [place] * 2, color=color, lw=1)
    axes.axvline(0, color="0.6", lw=1)
    axes.set_yticks(range(len(results)), [each["set"].replace("->", "\u2192") for each in results], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(-limit - 0.5, limit + 0.5), xlabel="change of the error on the target, % (left of 0 is better)")
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+", help="parts of the names of sets")
    parser.add_argument("--but", nargs="+", default=[], help="parts of the names of sets to leave out")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--out", type=Path, help="JSON lines of all results, added to")
    parser.add_argument("--picture", type=Path, help="draw the results kept in --out, and measure nothing")
    given = parser.parse_args()
    if given.picture:
        kept = [json.loads(line) for line in given.out.read_text().splitlines()]
        picture([each for each in kept if not each["classes"]], given.picture)
        return
    warnings.simplefilter("ignore")
    header(f"adaptation, {given.draws} draws from seed {given.first}")
    for setting in (classifications if given.classes else regressions)(given.data):
        if given.only and not any(part in setting.name for part in given.only):
            continue
        if any(part in setting.name for part in given.but):
            continue
        one = classify if given.classes else study
        results = [one(setting, given.first + k) for k in range(given.draws)]
        print(row(setting.name, results), flush=True)
        if given.out:
            with given.out.open("a") as file:
                file.write(json.dumps({"set": setting.name, "classes": given.classes, "results": results}) + "\n")


if __name__ == "__main__":
    main()

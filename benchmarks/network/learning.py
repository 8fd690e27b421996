"""Does a graph help?  Errors on real data beside what one tries first: each task alone, pooled, near the mean of all.

    python benchmarks/network/learning.py [colorado|landmine|beijing|sweden] [--draws 4] [--data FOLDER]

All choose eta and tau on validation rows that are the same for all; errors are those of the test rows.

colorado   square root of the month's precipitation at 125 stations from 18 regional means of the others' anomalies;
           each learns from 12, 36 or 120 months of its own of the first 240, 24 others validate, all later ones test
landmine   29 fields, logistic; 40 or 160 rows of each, by class; a third of the rest validates. Two cliques: soils
beijing    the next day's log PM2.5 at 12 stations from 11 variables; 40 days learn, 60 validate, days 900 to 1460 test
sweden     the next day's temperature in 45 towns; 20 days learn
"""

import numpy as np
from matrixlearn_network import Graph, GraphMultitask, complete, neighbours, variogram
from matrixlearn_network.data import load_sweden

import matrixlearn as ml
from benchmarks.network._tables import report, run_named

ETAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
TAUS = tuple(10.0**k for k in np.arange(-3, 1.5, 0.5))


def choose(data, graphs, error, etas=ETAS, taus=TAUS, loss="square"):
    """Name -> test error at the eta and tau of the least validation error; ``error(W)`` gives (validation, test)."""
    X, y, task = data
    m = len(np.unique(task))
    best = {}
    for name, graph in {"alone": complete(m), **graphs}.items():
        problem, found = GraphMultitask(X, y, graph, 1.0, 0.0, loss, task), []
        for eta in etas:
            for tau in (0.0,) if name == "alone" else taus:
                W = ml.solve(problem.with_prior(eta, tau), tol=1e-5, max_iter=500).matrix
                found.append((*error(W), eta, tau))
        best[name] = min(found)
    pooled, found = GraphMultitask(X, y, None, 1.0, 0.0, loss, np.zeros(len(y), int)), []
    for eta in etas:
        W = ml.solve(pooled.with_prior(eta, 0.0), tol=1e-5, max_iter=500).matrix
        found.append((*error(np.repeat(W, m, axis=1)), eta, np.inf))
    return {"pooled": min(found)} | best


# -- Colorado ---------------------------------------------------------------------------------------


def colorado(folder):
    """Anomalies of sqrt(ppt) by station and month, predictors, places."""
    with np.load(folder / "colorado_climate" / "colorado_monthly.npz") as data:
        year = data["year"]
        fields = [data[name][year >= 1960].astype(float) for name in ("tmax", "tmin", "ppt")]
        place, height = data["lon_lat"].astype(float), data["elev_m"].astype(float)
    known = [np.mean(~np.isnan(field.reshape(-1, field.shape[2])), axis=0) for field in fields]
    kept = np.all(np.array(known) > 0.9, axis=0)
    fields[2] = np.sqrt(np.maximum(fields[2], 0))
    anomalies = [f[:, :, kept] - np.nanmean(f[:, :, kept], axis=0) for f in fields]
    anomalies = [a.reshape(-1, a.shape[2]) for a in anomalies]
    place, height = place[kept], height[kept]
    east = np.digitize(place[:, 0], np.quantile(place[:, 0], [1 / 3, 2 / 3]))
    north = (place[:, 1] > np.median(place[:, 1])).astype(int)
    box, m = 2 * east + north, int(kept.sum())
    columns = []
    for a in anomalies:
        there, filled = (~np.isnan(a)).astype(float), np.nan_to_num(a)
        for b in range(6):
            mine = box == b
            total, count = filled[:, mine].sum(axis=1), there[:, mine].sum(axis=1)
            others = (total[:, None] - filled * mine) / np.maximum(count[:, None] - there * mine, 1)  # without itself
            columns.append(others / np.std(others))
    F = np.stack([*columns, np.ones_like(columns[0])], axis=2)
    where = np.column_stack([85 * place[:, 0], 111 * place[:, 1], height / 20])
    return anomalies[2], F, where, m


def run_colorado(folder, draws):
    Y, F, where, m = colorado(folder)
    graphs = {"mean-regularised": complete(m), "graph": neighbours(where, 4)}
    print(f"Colorado: {m} stations, {len(Y)} months, {graphs['graph'].edges} edges")
    later = np.arange(240, len(Y))
    variance = np.nanvar(Y[later])
    for months in (12, 36, 120):
        rows = []
        for seed in range(draws):
            rng, train, held = np.random.default_rng(seed), np.zeros(Y.shape, bool), np.zeros(Y.shape, bool)
            for k in range(m):
                order = rng.permutation(np.flatnonzero(~np.isnan(Y[:240, k])))
                train[order[:months], k], held[order[months : months + 24], k] = True, True
            t, s = np.nonzero(train)

            def error(W, held=held):
                off = (np.einsum("tmd,dm->tm", F, W) - Y) ** 2
                return np.mean(off[held]), np.nanmean(off[later]) / variance

            rows.append(choose((F[t, s], Y[t, s], s), graphs, error))
        report(f"{months} months", rows)


# -- landmine ---------------------------------------------------------------------------------------


def auc(score, label):
    """The chance that a positive scores above a negative."""
    from scipy.stats import rankdata

    positive = label > 0
    n = np.count_nonzero(positive)
    return (rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * (len(label) - n))


def run_landmine(folder, draws):
    with np.load(folder / "landmine" / "landmine.npz") as data:
        X, y, task = data["X"].astype(float), np.where(data["y"] > 0, 1.0, -1.0), data["task"].astype(int) - 1
    X = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    soils = np.kron(np.eye(2), np.ones((15, 15)))[:29, :29]
    graphs = {"mean-regularised": complete(29), "graph": Graph(soils - np.eye(29)).scaled()}
    for number in (40, 160):
        rows = []
        for seed in range(draws):
            rng, part = np.random.default_rng(seed), np.empty(len(y), int)
            for k in range(29):
                for sign in (-1, 1):
                    mine = rng.permutation(np.flatnonzero((task == k) & (y == sign)))
                    share = max(round(number * len(mine) / np.count_nonzero(task == k)), 1)
                    rest = np.arange(len(mine) - share)
                    part[mine] = np.concatenate([np.zeros(share, int), np.where(rest % 3 == 0, 1, 2)])

            def error(W, part=part):
                score = np.einsum("nd,nd->n", X, W.T[task])
                found = [
                    np.mean([auc(score[rows], y[rows]) for k in range(29) for rows in [(task == k) & (part == which)]])
                    for which in (1, 2)
                ]
                return -found[0], found[1]

            train = part == 0
            data = X[train], y[train], task[train]
            rows.append(choose(data, graphs, error, (1e-3, 1e-2, 1e-1), TAUS[2:], "logistic"))
        report(f"landmine AUC, {number} rows", rows)


# -- where a graph does not help --------------------------------------------------------------------


def next_day(Y, F, days, graphs, draws, train_pool, learn, validate, test):
    """Y (times, m), F (times, m, d): learn from some times, validate on others."""
    rows = []
    variance = np.nanmean((Y[test] - np.nanmean(Y[test], axis=0)) ** 2)
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(train_pool)
        train, held = order[:learn], order[learn : learn + validate]
        fine = ~np.isnan(Y[train]) & ~np.isnan(F[train]).any(axis=2)
        t, s = np.nonzero(fine)

        def error(W, held=held):
            off = (np.einsum("tmd,dm->tm", F, W) - Y) ** 2
            return np.nanmean(off[held]), np.nanmean(off[test]) / variance

        rows.append(choose((F[train[t], s], Y[train[t], s], s), graphs, error))
    return rows


def run_beijing(folder, draws):
    with np.load(folder / "beijing_air" / "daily.npz") as data:
        A = data["X"].astype(float).transpose(1, 0, 2)  # days, stations, variables
    A[:, :, :6] = np.log(np.maximum(A[:, :, :6], 1e-3))
    A[:, :, 9] = np.log1p(A[:, :, 9])
    Y, F = A[1:, :, 0], A[:-1]
    F = (F - np.nanmean(F[:900], axis=(0, 1))) / np.nanstd(F[:900], axis=(0, 1))
    F = np.concatenate([F, np.ones((*F.shape[:2], 1))], axis=2)
    Y = Y - np.nanmean(Y[:900])
    graphs = {"mean-regularised": complete(12), "variogram": variogram(Y[:900])}
    report("Beijing, 40 days", next_day(Y, F, len(Y), graphs, draws, 900, 40, 60, np.arange(900, len(Y))))


def run_sweden(_, draws):
    towns = load_sweden()
    T = towns.temperature.T
    F = np.concatenate([T[:-1, :, None], towns.regions().transpose(1, 0, 2)[:-1], np.ones((len(T) - 1, 45, 1))], axis=2)
    Y = T[1:] - T[:30].mean()
    F[:, :, :4] = (F[:, :, :4] - T[:30].mean()) / T[:30].std()
    graphs = {"mean-regularised": complete(45), "graph": neighbours(towns.kilometres, 4)}
    report("Sweden, next day, 20", next_day(Y, F, len(Y), graphs, draws, 30, 20, 10, np.arange(30, len(Y))))


def main() -> None:
    runs = {"colorado": run_colorado, "landmine": run_landmine, "beijing": run_beijing, "sweden": run_sweden}
    run_named(runs, "a graph of tasks beside the first baselines, mean of draws (standard deviation)", 4)


if __name__ == "__main__":
    main()

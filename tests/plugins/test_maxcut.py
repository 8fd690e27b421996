import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([MaxCut])
def test_maxcut(check):
    check()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_every_trial_of_a_rounding_is_improved_until_no_single_move_adds(form, monkeypatch):
    rng = np.random.default_rng(3)
    W = np.triu((rng.random((60, 60)) < 0.1) * rng.standard_normal((60, 60)), 1)
    W = W + W.T
    problem = MaxCut(form(W))
    solution = ml.solve(problem, tol=1e-2)
    improved, improve = [], MaxCut._improve

    def recorded(self, side):
        before = self.cut_weight(side)
        improved.append(improve(self, side))
        assert improved[-1].weight >= before - 1e-12
        return improved[-1]

    monkeypatch.setattr(MaxCut, "_improve", recorded)
    cut = problem.round(solution, trials=100)
    assert len(improved) == 100 and cut.weight == max(each.weight for each in improved)
    for each in improved:
        assert np.max(each.side * (W @ each.side)) <= 1e-9
        assert each.weight == pytest.approx(np.sum(W[each.side[:, None] != each.side]) / 2)

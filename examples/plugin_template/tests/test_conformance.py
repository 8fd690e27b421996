from matrixlearn_template_design import EOptimalDesign

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([EOptimalDesign])
def test_e_optimal_design(check):
    check()

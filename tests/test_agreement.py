import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from rge.agreement import cohen_kappa, difference, gwet_ac, krippendorff_alpha
from rge.errors import UsageError


def ratings(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array(table)
    rows, columns = np.indices(counts.shape)
    return np.repeat(rows.ravel(), counts.ravel()), np.repeat(columns.ravel(), counts.ravel())


# Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, table 18.1:
# 100 diagnoses by two raters, kappa 0.68.
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]


def test_kappa_is_the_textbook_example():
    found = cohen_kappa(*ratings(DIAGNOSES))
    assert found.value == pytest.approx(0.6765, abs=5e-5)
    assert (found.n, found.raw) == (100, pytest.approx(0.89))


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_and_its_interval_agree_with_statsmodels(weights):
    """statsmodels tests its large-sample errors against SAS."""
    found = cohen_kappa(*ratings(DIAGNOSES), weights=weights)
    theirs = cohens_kappa(np.array(DIAGNOSES), wt=weights)
    assert found.value == pytest.approx(theirs.kappa)
    assert (found.low, found.high) == pytest.approx((theirs.kappa_low, theirs.kappa_upp))


def test_labels_that_do_not_occur_still_set_the_weights():
    """Scores 0 and 2 are two steps apart whether or not anybody gives a 1."""
    a, b = [0, 0, 2, 2, 2, 0], [0, 2, 2, 2, 0, 0]
    ours = cohen_kappa(a, b, weights="linear", labels=(0, 1, 2)).value
    assert ours == pytest.approx(cohen_kappa_score(a, b, weights="linear", labels=[0, 1, 2]))


def test_one_constant_rater_has_no_kappa_although_raw_agreement_is_high():
    found = cohen_kappa([2] * 50, [2] * 45 + [1] * 5)
    assert found.value is None
    assert "2 throughout: kappa is 0 whatever" in found.reason
    assert found.raw == pytest.approx(0.9)


def test_two_constant_raters_have_no_kappa():
    assert cohen_kappa([2] * 5, [2] * 5).reason == "both raters are constant (2 and 2)"


def test_no_units_no_kappa():
    assert cohen_kappa([], []).reason == "no unit is rated"


def test_perfect_agreement_has_a_value_and_no_interval():
    found = cohen_kappa([0, 1, 2, 2], [0, 1, 2, 2])
    assert found.value == pytest.approx(1.0)
    assert (found.low, found.high) == (None, None)
    assert "no width" in found.reason


def test_the_kappa_paradox_is_visible_beside_ac1():
    """46 of 50 agree, the 4 misses split evenly: kappa below 0, AC1 above 0.9."""
    a, b = [2] * 46 + [2, 2, 0, 0], [2] * 46 + [0, 0, 2, 2]
    assert cohen_kappa(a, b, labels=(0, 2)).value == pytest.approx(-0.0417, abs=1e-4)
    assert gwet_ac(a, b, labels=(0, 2)).value == pytest.approx(0.9133, abs=1e-4)


def test_ac1_is_gwets_example():
    """Gwet (2008): 118 yes-yes, 5 yes-no, 2 no-yes, 0 no-no: AC1 0.9408, kappa -0.0234."""
    a, b = ratings([[118, 5], [2, 0]])
    assert gwet_ac(a, b, labels=(0, 1)).value == pytest.approx(0.9408, abs=5e-5)
    assert cohen_kappa(a, b, labels=(0, 1)).value == pytest.approx(-0.0234, abs=5e-5)


def test_ac2_by_its_definition():
    a, b = ratings(DIAGNOSES)
    weight = 1 - np.subtract.outer(range(3), range(3)) ** 2 / 4
    table = np.array(DIAGNOSES) / 100
    share = (table.sum(0) + table.sum(1)) / 2
    chance = weight.sum() / 6 * np.sum(share * (1 - share))
    expected = (np.sum(weight * table) - chance) / (1 - chance)
    assert gwet_ac(a, b, weights="quadratic").value == pytest.approx(expected)


# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example with four observers,
# twelve units and missing data.
N = np.nan
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_krippendorffs_example(level, alpha):
    found = krippendorff_alpha(OBSERVERS, labels=(1, 2, 3, 4, 5), level=level)
    assert found.value == pytest.approx(alpha, abs=5e-4)


def test_alpha_of_equal_or_unpaired_ratings_is_undefined():
    assert krippendorff_alpha([[2, 2], [2, 2]]).reason == "all ratings are equal"
    assert krippendorff_alpha([[2, N], [N, 2]]).reason == "no unit has two ratings"


@pytest.mark.parametrize("coefficient", [cohen_kappa, gwet_ac])
@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_swapping_raters_and_reversing_scores_change_nothing(coefficient, weights):
    a, b = ratings(DIAGNOSES)
    first = coefficient(a, b, weights=weights)
    for x, y in ((b, a), (2 - a, 2 - b)):
        turned = coefficient(x, y, weights=weights)
        assert (turned.value, turned.low) == pytest.approx((first.value, first.low))


@pytest.mark.parametrize("coefficient", [cohen_kappa, gwet_ac])
def test_the_large_sample_interval_agrees_with_the_bootstrap(coefficient):
    a, b = (np.tile(x, 4) for x in ratings(DIAGNOSES))
    large = coefficient(a, b)
    resampled = coefficient(a, b, clusters=np.arange(400), rng=np.random.default_rng(0))
    assert (resampled.low, resampled.high) == pytest.approx((large.low, large.high), abs=0.02)


def test_copying_every_unit_within_its_cluster_does_not_narrow_the_interval():
    a, b = ratings(DIAGNOSES)
    units = np.arange(100)
    once = cohen_kappa(a, b, clusters=units, rng=np.random.default_rng(1))
    copied = cohen_kappa(
        np.repeat(a, 3), np.repeat(b, 3), clusters=np.repeat(units, 3), rng=np.random.default_rng(1)
    )
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))
    assert cohen_kappa(np.repeat(a, 3), np.repeat(b, 3)).low > once.low


def test_the_large_sample_interval_covers_at_its_level():
    joint = np.array([[0.25, 0.05, 0.0], [0.05, 0.25, 0.05], [0.0, 0.05, 0.3]])
    rows, columns = joint.sum(1), joint.sum(0)
    truth = (np.trace(joint) - rows @ columns) / (1 - rows @ columns)
    rng, hits = np.random.default_rng(2), 0
    for _ in range(500):
        found = cohen_kappa(*ratings(rng.multinomial(150, joint.ravel()).reshape(3, 3)))
        hits += found.low <= truth <= found.high
    assert 0.92 <= hits / 500 <= 0.98


def test_the_difference_of_two_agreements_joins_their_intervals():
    low, high = cohen_kappa(*ratings(DIAGNOSES)), cohen_kappa([0, 1, 2] * 9, [0, 1, 1] * 9)
    value, below, above, reason = difference(low, high)
    assert value == pytest.approx(low.value - high.value)
    assert below == pytest.approx(value - np.hypot(low.value - low.low, high.high - high.value))
    assert below < value < above
    assert reason == ""
    assert difference(low, cohen_kappa([], []))[3] == "no unit is rated"


def test_an_unscored_or_unknown_score_is_refused():
    with pytest.raises(UsageError, match="missing or not among the labels; one of 0, 1, 2"):
        cohen_kappa([0, np.nan], [0, 1])
    with pytest.raises(UsageError, match="missing or not among the labels"):
        cohen_kappa([0, 3], [0, 1])

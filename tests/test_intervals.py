import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri
from statsmodels.stats.proportion import proportion_confint

from rge.errors import UsageError
from rge.intervals import mean_interval, mean_intervals, rate_interval


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def slow_bca(
    values: list[float], clusters: list[str], n_resamples: int, seed: int
) -> tuple[float, float]:
    """BCa as in Efron (1987), one loop at a time, on the draws the generator would make."""
    groups = {
        c: sorted(v for v, k in zip(values, clusters, strict=True) if k == c) for c in clusters
    }
    ordered = sorted(groups.values(), key=lambda g: (len(g), sum(g)))

    def mean(chosen: list[list[float]]) -> float:
        return sum(map(sum, chosen)) / sum(map(len, chosen))

    rng, n = generator(seed), len(ordered)
    draws = rng.integers(0, n, size=(n_resamples, n))
    resampled = [mean([ordered[i] for i in row]) for row in draws]
    estimate = mean(ordered)
    below = sum(m < estimate - 1e-12 for m in resampled) / n_resamples
    equal = sum(abs(m - estimate) <= 1e-12 for m in resampled) / n_resamples
    bias = ndtri(below + equal / 2)
    left_out = [mean(ordered[:i] + ordered[i + 1 :]) for i in range(n)]
    centre = sum(left_out) / n
    cubes = sum((centre - m) ** 3 for m in left_out)
    squares = sum((centre - m) ** 2 for m in left_out)
    acceleration = cubes / (6 * squares**1.5)
    levels = []
    for z in (ndtri(0.025), ndtri(0.975)):
        shifted = bias + z
        levels.append(ndtr(bias + shifted / (1 - acceleration * shifted)))
    low, high = np.quantile(resampled, levels)
    return float(low), float(high)


def test_bca_equals_a_slow_reimplementation_on_the_same_resamples():
    rng = generator(1)
    values = rng.exponential(size=60).tolist()
    clusters = [f"d{i % 17}" for i in range(60)]
    fast = mean_interval(values, clusters, n_resamples=400, rng=generator(3))
    assert (fast.low, fast.high) == pytest.approx(slow_bca(values, clusters, 400, 3), abs=1e-12)
    assert fast.method == "bca"


def test_bca_agrees_with_scipy_within_monte_carlo_error():
    values = generator(2).exponential(size=80)
    ours = mean_interval(values, n_resamples=40_000, rng=generator())
    theirs = stats.bootstrap((values,), np.mean, n_resamples=40_000, rng=generator())
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)


@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
def test_row_order_and_cluster_names_change_no_digit(method):
    rng = generator(4)
    values, clusters = rng.random(50), np.repeat(np.arange(10), 5)
    shuffled = rng.permutation(50)
    renamed = np.array([f"z{9 - c}" for c in clusters])
    first = mean_interval(values, clusters, method=method, rng=generator())
    second = mean_interval(values[shuffled], renamed[shuffled], method=method, rng=generator())
    assert first == second


def test_row_order_changes_no_digit_without_clusters():
    values = generator(5).random(30)
    assert mean_interval(values, rng=generator()) == mean_interval(values[::-1], rng=generator())


def test_copying_every_run_does_not_narrow_the_interval():
    """Ten identical runs per question carry no more evidence than one."""
    values = np.round(generator(6).random(40), 2)
    questions = np.arange(40)
    once = mean_interval(values, questions, rng=generator())
    copied = mean_interval(np.repeat(values, 10), np.repeat(questions, 10), rng=generator())
    assert (copied.value, copied.low, copied.high) == pytest.approx(
        (once.value, once.low, once.high), abs=1e-9
    )
    assert copied.n_questions == 40
    assert copied.n_responses == 400


def test_t_without_clusters_is_the_textbook_interval():
    values = generator(8).normal(size=25)
    found = mean_interval(values, method="t")
    textbook = stats.t.interval(0.95, 24, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(textbook)


def test_clustered_t_is_millers_formula():
    rng = generator(9)
    clusters = np.repeat(np.arange(8), [3, 5, 2, 7, 4, 4, 6, 1])
    values = rng.normal(size=len(clusters)) + clusters
    n, g, mean = len(values), 8, values.mean()
    square = sum(np.sum(values[clusters == c] - mean) ** 2 for c in range(g))
    error = np.sqrt(g / (g - 1) * square) / n
    found = mean_interval(values, clusters, method="t")
    assert found.high - mean == pytest.approx(stats.t.ppf(0.975, g - 1) * error)


@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1 + 0.2, 1 / 3])
def test_a_constant_cell_has_a_value_and_no_interval(method, value):
    found = mean_interval([value] * 9, method=method, rng=generator())
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == (None, None)
    assert found.method.startswith("undefined: all 9 values equal")


def test_equal_cluster_means_have_no_interval():
    found = mean_interval([0, 1, 0, 1, 0, 1], ["a", "a", "b", "b", "c", "c"], rng=generator())
    assert found.low is None
    assert "cluster means" in found.method


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_nothing_scored_is_undefined_with_a_reason_and_a_count(values):
    found = mean_interval(values, rng=generator())
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.method == "undefined: no scored value"
    assert found.n_unscored == len(values)


def test_one_cluster_has_no_interval():
    found = mean_interval([0.0, 1.0], ["a", "a"], rng=generator())
    assert found.value == 0.5
    assert found.method == "undefined: one cluster says nothing about the spread"


def test_unscored_values_are_counted_and_left_out():
    found = mean_interval([0.0, np.nan, 1.0, 1.0, np.nan, 0.0], rng=generator())
    assert (found.value, found.n_responses, found.n_unscored) == (0.5, 4, 2)


def test_where_bca_is_undefined_the_fallback_is_named():
    """Two resamples that both lie above the estimate leave no bias to correct."""
    for seed in range(200):
        found = mean_interval([0, 0, 0, 0, 0, 0, 0, 1], n_resamples=2, rng=generator(seed))
        assert found.low is None or found.low < found.high
        if "bca undefined" in found.method:
            assert found.method.startswith(("percentile (bca undefined: ", "undefined: "))
            break
    else:
        pytest.fail("no seed made BCa undefined")


def test_no_cell_of_small_scores_gives_nan_or_a_zero_width_interval():
    rng = generator(10)
    for _ in range(300):
        values = rng.choice([0.0, 0.5, 1.0], size=rng.integers(0, 6), p=[0.7, 0.1, 0.2])
        found = mean_interval(values, n_resamples=50, rng=rng)
        assert (found.low is None) == (found.high is None)
        if found.low is not None:
            assert found.low < found.high
        else:
            assert "undefined" in found.method


def test_columns_with_the_same_gaps_get_the_interval_each_has_alone():
    """A single column is the same problem; only the order of draws may differ."""
    rng = generator(11)
    table = rng.random((40, 3))
    table[3, 2] = np.nan
    found = mean_intervals(table, names=("a", "b", "c"), rng=generator())
    for column, estimate in enumerate(found):
        alone = mean_interval(table[:, column], n_resamples=40_000, rng=generator(12))
        assert estimate.value == pytest.approx(alone.value)
        assert estimate.low == pytest.approx(alone.low, abs=0.01)
    assert [e.n_unscored for e in found] == [0, 0, 1]


def test_memory_stays_bounded_by_working_in_blocks(monkeypatch):
    values = generator(13).random(30)
    whole = mean_interval(values, n_resamples=999, rng=generator())
    monkeypatch.setattr("rge.bootstrap.WEIGHTS_AT_ONCE", 100)
    assert mean_interval(values, n_resamples=999, rng=generator()) == whole


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1.0, np.inf]}, "an infinite value"),
        ({"values": [1.0, 2.0], "clusters": ["a"]}, "1 labels for 2 values"),
        ({"values": [1.0, 2.0], "clusters": ["a", None]}, "a missing label"),
        ({"values": [1.0, 2.0], "method": "magic"}, "method 'magic'; one of bca"),
        ({"values": [1.0, 2.0], "confidence_level": 95}, "a number between 0 and 1"),
        ({"values": [1.0, 2.0], "n_resamples": 0}, "at least one resample"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(arguments, message):
    with pytest.raises(UsageError, match=message):
        mean_interval(**{"rng": generator(), **arguments})


def coverage(simulate, *, method="bca", n=400, truth=0.0) -> float:
    rng, hits = generator(14), 0
    for _ in range(n):
        values, clusters = simulate(rng)
        found = mean_interval(values, clusters, method=method, n_resamples=600, rng=rng)
        hits += found.low is not None and found.low <= truth <= found.high
    return hits / n


def runs_of_questions(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    questions = np.repeat(rng.normal(size=200), 3)
    return questions + rng.normal(scale=0.3, size=600), np.repeat(np.arange(200), 3)


def questions_of_documents(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    documents = np.repeat(rng.normal(scale=0.5, size=20), 10)
    return documents + rng.normal(size=200), np.repeat(np.arange(20), 10)


def test_intervals_over_questions_cover_at_their_level():
    """200 questions, 3 runs: 95 % nominal within simulation error of 400 draws."""
    assert 0.92 <= coverage(runs_of_questions) <= 0.98


def test_ignoring_the_questions_covers_too_rarely():
    """The check above can fail: rows taken as independent do."""
    assert coverage(lambda rng: (runs_of_questions(rng)[0], None)) < 0.85


def test_clustered_t_covers_at_its_level_with_twenty_documents():
    assert 0.92 <= coverage(questions_of_documents, method="t") <= 0.98


# Brown, Cai and DasGupta (2001) and the binomial table of Newcombe (1998), Statistics in
# Medicine 17, 857-872, table I: 81/263, 15/148, 0/20, 1/29.
@pytest.mark.parametrize(
    ("k", "n", "method", "low", "high"),
    [
        (81, 263, "wilson", 0.2553, 0.3662),
        (15, 148, "wilson", 0.0624, 0.1605),
        (0, 20, "wilson", 0.0, 0.1611),
        (1, 29, "wilson", 0.0061, 0.1718),
        (81, 263, "clopper-pearson", 0.2527, 0.3676),
        (15, 148, "clopper-pearson", 0.0578, 0.1617),
        (0, 20, "clopper-pearson", 0.0, 0.1684),
        (1, 29, "clopper-pearson", 0.0009, 0.1776),
        (11, 11, "clopper-pearson", 0.7151, 1.0),
    ],
)
def test_rate_intervals_are_the_published_ones(k, n, method, low, high):
    found = rate_interval(k, n, method=method)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(
    ("method", "name"),
    [("wilson", "wilson"), ("jeffreys", "jeffreys"), ("clopper-pearson", "beta")],
)
def test_rate_intervals_agree_with_statsmodels_inside(method, name):
    for k in range(1, 30):
        found = rate_interval(k, 30, method=method, confidence_level=0.9)
        expected = proportion_confint(k, 30, alpha=0.1, method=name)
        assert (found.low, found.high) == pytest.approx(expected)


@pytest.mark.parametrize("method", ["wilson", "jeffreys", "clopper-pearson"])
def test_rate_intervals_mirror_and_close_at_the_ends(method):
    none, every = rate_interval(0, 11, method=method), rate_interval(11, 11, method=method)
    assert (none.low, every.high) == (0.0, 1.0)
    assert none.high == pytest.approx(1 - every.low)
    assert none.high > 0.1


def test_a_rate_without_trials_is_undefined():
    found = rate_interval(0, 0)
    assert (found.value, found.low, found.method) == (None, None, "undefined: no trials")


def test_more_successes_than_trials_are_refused():
    with pytest.raises(UsageError, match="k = 3 of n = 2; 0 <= k <= n"):
        rate_interval(3, 2)

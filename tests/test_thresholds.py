import json
from pathlib import Path

import numpy as np
import pytest

from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import Chunk
from rge.specs import SubjectSpec
from rge.subjects.readers import LexicalScorer
from rge.thresholds import Case, choose, choose_for, thresholds_path, with_threshold


def spec(**options: object) -> SubjectSpec:
    return SubjectSpec(
        name="lexical", kind="reader-lexical", family="lexical", runs=1, options=options
    )


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    return Profile(
        name="test",
        run_id="test-1",
        seed=1,
        corpus={"kind": "invented", "folder": tmp_path},
        chunking={"encoding": "cl100k_base", "size": 200, "overlap": 25},
        retrieval={"embedder": "all-MiniLM-L6-v2", "top_k": 5},
        subjects=[],
        judges=[],
        analysis={"n_resamples": 100, "confidence_level": 0.95},
        root=tmp_path,
        results_folder=tmp_path / "results",
        source=tmp_path / "test.yaml",
    )


def test_separable_scores_are_cut_in_the_middle_of_their_gap():
    choice = choose([0.1, 0.2, 0.6, 0.9], [False, False, True, True])
    assert choice.threshold == pytest.approx(0.4)
    assert choice.balanced_accuracy == 1.0
    assert (choice.n_answerable, choice.n_unanswerable) == (2, 2)


def test_the_two_sorts_weigh_the_same_however_many_there_are():
    """One unanswerable at 0.5 against nine answerables, eight above it: cut above 0.5."""
    scores = [0.5, 0.4, *np.linspace(0.6, 0.9, 8)]
    choice = choose(scores, [False] + [True] * 9)
    assert choice.threshold == pytest.approx(0.55)
    assert choice.balanced_accuracy == pytest.approx((8 / 9 + 1) / 2)


def test_of_equal_cuts_the_widest_gap_is_taken():
    # 0.15 misplaces one unanswerable of two, 0.55 one answerable of two.
    choice = choose([0.1, 0.2, 0.3, 0.8], [False, True, False, True])
    assert choice.threshold == pytest.approx(0.55)


def test_no_threshold_does_better_than_the_chosen_one():
    rng = np.random.default_rng(5)
    for _ in range(30):
        scores, answerable = rng.random(12), rng.random(12) < 0.6
        if answerable.all() or not answerable.any():
            continue
        choice = choose(scores, answerable)
        for cut in np.linspace(-0.1, 1.1, 400):
            answered = scores >= cut
            accuracy = (answered[answerable].mean() + (~answered[~answerable]).mean()) / 2
            assert accuracy <= choice.balanced_accuracy + 1e-12


def test_order_of_the_questions_does_not_matter():
    rng = np.random.default_rng(6)
    scores, answerable = rng.random(20), rng.random(20) < 0.5
    order = rng.permutation(20)
    assert choose(scores, answerable) == choose(scores[order], answerable[order])


def test_the_curve_runs_from_answering_all_to_answering_none():
    curve = choose([0.1, 0.2, 0.6], [False, True, True]).curve
    assert (curve[0].answered_rate, curve[0].abstained_rate) == (1.0, 0.0)
    assert (curve[-1].answered_rate, curve[-1].abstained_rate) == (0.0, 1.0)
    assert [point.threshold for point in curve] == sorted(point.threshold for point in curve)


@pytest.mark.parametrize("answerable", [[True, True], [False, False]])
def test_one_sort_of_question_is_not_enough(answerable: list[bool]):
    with pytest.raises(RgeError, match=r"held-out questions: .* at least one of each sort"):
        choose([0.1, 0.2], answerable)


def test_the_readers_own_scores_are_what_is_weighed():
    passage = Chunk(
        chunk_id="acme-FY24-00000001",
        company="acme",
        fy="FY24",
        doc_id="acme-FY24",
        page_start=1,
        page_end=1,
        heading="",
        text="Revenue was ₹ 9 crore. The Board met nine times.",
        n_tokens=9,
    )
    cases = [
        Case("What was revenue?", (passage,), True),
        Case("How large was the green hydrogen subsidy?", (passage,), False),
    ]
    choice = choose_for(LexicalScorer(), cases)
    assert choice.balanced_accuracy == 1.0
    assert 0 < choice.threshold < 1


def test_a_given_threshold_is_kept(profile: Profile):
    assert with_threshold(profile, spec(threshold=0.3), "0" * 64) == spec(threshold=0.3)
    assert not thresholds_path(profile).exists()


def test_a_stored_choice_is_taken_without_index_while_its_inputs_are_the_same(
    profile: Profile, tmp_path: Path
):
    held_out = tmp_path / "held_out.jsonl"
    held_out.write_text("{}\n", encoding="utf-8")
    profile = profile.model_copy(update={"held_out": held_out})
    passage = Chunk.model_validate_json(
        '{"chunk_id": "a-FY24-00000001", "company": "a", "fy": "FY24", "doc_id": "d",'
        ' "page_start": 1, "page_end": 1, "heading": "", "text": "Revenue rose.", "n_tokens": 3}'
    )
    cases = [Case("Revenue?", (passage,), True), Case("Hydrogen?", (passage,), False)]
    asked: list[str] = []

    def held_out_cases(profile: Profile) -> list[Case]:
        asked.append(profile.name)
        return cases

    first = with_threshold(profile, spec(), "0" * 64, held_out_cases)
    again = with_threshold(profile, spec(), "0" * 64, held_out_cases)
    assert first == again
    assert len(asked) == 1
    stored = json.loads(thresholds_path(profile).read_text(encoding="utf-8"))["lexical"]
    assert stored["threshold"] == first.options["threshold"]
    assert len(stored["curve"]) == 3
    with_threshold(profile, spec(), "1" * 64, held_out_cases)
    held_out.write_text("{} \n", encoding="utf-8")
    with_threshold(profile, spec(), "1" * 64, held_out_cases)
    assert len(asked) == 3


def test_a_threshold_can_come_from_another_run_if_the_scorer_is_the_same(
    profile: Profile, tmp_path: Path
):
    entry = {"scorer": LexicalScorer().params, "threshold": 0.37}
    (tmp_path / "chosen.json").write_text(json.dumps({"x": entry}), encoding="utf-8")
    resolved = with_threshold(profile, spec(threshold_from="chosen.json"), "0" * 64)
    assert resolved.options["threshold"] == 0.37
    entry["scorer"] = {"scorer": "another"}
    (tmp_path / "chosen.json").write_text(json.dumps({"x": entry}), encoding="utf-8")
    with pytest.raises(RgeError, match=r"chosen\.json: no threshold for the scorer of lexical"):
        with_threshold(profile, spec(threshold_from="chosen.json"), "0" * 64)


def test_without_held_out_questions_a_threshold_is_asked_for(profile: Profile):
    with pytest.raises(UsageError, match=r"test\.yaml: .*no held-out questions"):
        with_threshold(profile, spec(), "0" * 64)

import pytest

from rge.corpus.pagetext import numbers_kept, problems, table_shape, tidy

PROSE = "The company opened forty new stores and closed three during the financial year. " * 4
ROWS = "\n".join(
    f"Expense of kind {chr(97 + i)} {i + 1},0{i % 10}3 {i + 2},117 (4{i})" for i in range(20)
)
CELLS = ROWS.replace(" ", "\n")


def test_tidy_text_has_plain_letters_and_single_spaces():
    assert tidy("pro\ufb01t\u00a0 and  lo\u00adss\n\n \x07 a\u200bble") == "profit and loss\nable"


def test_tidy_text_can_always_be_stored_as_utf8():
    assert tidy("broken \ud83d half").encode("utf-8").decode("utf-8") == "broken \ufffd half"


def test_a_line_printed_over_itself_is_read_once():
    assert tidy("STANDARD SHOE SOLESTANDARD SHOE SOLESTANDARD SHOE SOLE") == "STANDARD SHOE SOLE"
    assert tidy("1,000 1,000 1,000") == "1,000 1,000 1,000"


def test_usable_prose_and_tables_have_no_problems():
    assert problems(PROSE) == ()
    assert problems(ROWS) == ()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("no text", " \n . "),
        ("glyph codes", "/g12/g4/g7/g12/g9/g13 /g11/g5/g7" * 3),
        ("glyph codes", "(cid:12)(cid:4)(cid:7)(cid:12) (cid:9)(cid:13)" * 3),
        ("unmapped characters", "Revenue \ue001\ue002\ue003\ue004\ue005 of the year"),
        ("mojibake", "the companyâ€™s profit, the yearâ€™s revenue, the groupâ€™s plan"),
        ("spaces missing", PROSE.replace(" ", "")),
        ("doubled characters", "TToottaall iinnccoommee ooff tthhee yyeeaarr"),
    ],
)
def test_each_kind_of_damage_is_named(kind, text):
    assert kind in problems(text)


def test_a_table_read_cell_by_cell_has_broken_rows_and_one_read_by_rows_has_not():
    assert table_shape(ROWS).labelled_rate == 1
    assert table_shape(ROWS).is_table_heavy and not table_shape(ROWS).has_broken_rows
    assert table_shape(CELLS).n_numbers == table_shape(ROWS).n_numbers
    assert table_shape(CELLS).has_broken_rows


def test_numbers_that_stand_before_the_label_of_the_next_row_have_no_label():
    shifted = "\n".join(f"{i + 1},003 {i + 2},117 Expense of kind {chr(98 + i)}" for i in range(20))
    assert table_shape(shifted).has_broken_rows


def test_prose_with_years_is_no_table():
    assert not table_shape(PROSE + " in 2023 and 2024").is_table_heavy


def test_numbers_kept_counts_repeats_and_forgives_a_torn_off_bracket():
    assert numbers_kept("12 12 (7)", "12 12 (7\n)") == 1
    assert numbers_kept("12 (7)", "12 12 (7)") == pytest.approx(2 / 3)
    assert numbers_kept("none here", "none") == 1


def test_leader_dots_become_one_ellipsis_and_other_dots_stay():
    assert tidy("Notes ........................ 104") == "Notes … 104"
    assert tidy("Notes . . . . . . . . 104") == "Notes … 104"
    assert tidy("Wait... Rs. 4.5 etc. and 1.2.3.4 too.") == "Wait... Rs. 4.5 etc. and 1.2.3.4 too."

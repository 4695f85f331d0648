import pytest

from rge.corpus.headings import find_headings, looks_like_heading

BELOW = ["The year was good for ports.", "Cargo rose.", "Costs fell."]


@pytest.mark.parametrize(
    "line",
    [
        "MANAGEMENT DISCUSSION AND ANALYSIS",
        "Note 12 Revenue from operations",
        "3.2 Revenue from operations",
        "Item 7. Management's Discussion and Analysis",
        "Segment Review",
        "Report of the Board for 2023-24",
    ],
)
def test_headings_are_recognised(line):
    assert looks_like_heading(line, after=BELOW)


@pytest.mark.parametrize(
    "line",
    [
        "Revenue from operations 1,08,532.45 98,110.02",
        "The company opened forty new stores.",
        "of the Board and its committees",
        "Total",
        "12",
        "January January January",
        "Ltd",
        "Attributable to",
    ],
)
def test_table_rows_and_sentences_are_no_headings(line):
    assert not looks_like_heading(line, after=BELOW)


def test_a_title_case_line_inside_a_sentence_is_no_heading():
    before, line = (
        "handed the award for safety at work to the team of the",
        "Northern Port Terminal",
    )
    assert looks_like_heading(line, after=BELOW)
    assert not looks_like_heading(line, [before], ["in March", *BELOW])


def test_the_name_under_a_letter_is_no_heading():
    assert not looks_like_heading("Captain Emmanuel Rodrigo", ["is ₹3.80."], ["Executive Chairman"])


def test_a_line_that_the_running_head_repeats_is_a_heading():
    page = "ACME LIMITED From the Chairman, at anchor\nFrom the Chairman, at anchor\nShareholders,"
    assert [h for _, _, h in find_headings([page])][-1] == "From the Chairman, at anchor"


def test_a_running_head_names_no_section():
    pages = [f"ACME LIMITED ANNUAL REPORT\nSECTION {word}\ntext" for word in ("ONE", "TWO", "SIX")]
    assert [heading for _, _, heading in find_headings(pages)] == [
        "SECTION ONE",
        "SECTION TWO",
        "SECTION SIX",
    ]


def test_the_offset_points_at_the_heading():
    page = "some text before it\nRISK FACTORS\nmore"
    ((index, offset, heading),) = find_headings([page])
    assert (index, page[offset : offset + len(heading)]) == (0, "RISK FACTORS")


@pytest.mark.parametrize(
    "line",
    [
        "Managing Director and Chief Executive Officer",
        "Company Secretary",
        "1 Mr. Bal Das Member (Independent Director)",
        "Nandivilla Share Registry Private Limited",
    ],
)
def test_offices_people_and_companies_are_no_headings(line):
    assert not looks_like_heading(line, after=BELOW)


@pytest.mark.parametrize(
    "line", ["CHAIRMAN'S ADDRESS", "Directors and managers", "DIRECTORS’ REPORT"]
)
def test_a_section_that_begins_with_an_office_is_a_heading(line):
    assert looks_like_heading(line.upper(), after=BELOW)


def test_the_name_above_an_office_is_no_heading_however_much_stands_below():
    after = ["Chairman", "1 Provisional, under review.", "Membership 4711", "2"]
    assert not looks_like_heading("Dinshaw Rathavar-Patel", ["the day after."], after)


def test_the_last_line_of_a_page_is_no_heading():
    assert find_headings(["text of the page\nRISK FACTORS"]) == []


def test_a_running_head_that_names_its_section_gives_way_to_the_heading():
    page = "ACME LIMITED Letter from the Chairman\nLetter from the Chairman\nDear members,"
    assert [heading for _, _, heading in find_headings([page])] == ["Letter from the Chairman"]

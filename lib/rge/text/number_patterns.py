"""Patterns and word lists by which numbers, their units and what only looks like one are seen."""

from __future__ import annotations

import re

# By the singular; a plural s is cut off before looking up.
SCALES = {"hundred": 1e2, "thousand": 1e3, "k": 1e3, "lakh": 1e5, "lac": 1e5, "million": 1e6}
SCALES |= {"mn": 1e6, "mln": 1e6, "mm": 1e6, "m": 1e6, "crore": 1e7, "cr": 1e7, "billion": 1e9}
SCALES |= {"bn": 1e9, "b": 1e9, "trillion": 1e12, "tn": 1e12}
SHORT_SCALES = ("k", "m", "b")  # 3M is a company; $3M is three million dollars
CURRENCIES = {"₹": "INR", "₨": "INR", "`": "INR", "$": "USD", "€": "EUR", "£": "GBP"}
CURRENCY_WORDS = {"rs": "INR", "re": "INR", "inr": "INR", "rupee": "INR", "us": "USD"}
CURRENCY_WORDS |= {"usd": "USD", "dollar": "USD", "eur": "EUR", "euro": "EUR", "gbp": "GBP"}
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_ONES += " fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = {word: number for number, word in enumerate(_ONES.split())}
TENS = {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
WORD_NUMBER = rf"(?:(?:{'|'.join(TENS)})(?:[- ](?:{'|'.join(list(ONES)[1:10])}))?|{'|'.join(ONES)})"
DIGITS = r"\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
SCALE = (
    r"(?:(?:hundred|thousand|lakh|lac|million)s?[ -]?)?"
    r"(?:hundred|thousands?|lakhs?|lacs?|millions?|mn|mln|mm|crores?|crs?|billions?|bn|trillion|tn)"
)
NUMBER = re.compile(
    rf"""(?P<open>\(\s?)?(?P<sign>[-−–+]\s?)?
    (?P<currency>(?:us\s?)?[$₹₨€£`]|\b(?:rs|re|inr|usd|eur|gbp)(?:\.|\b|(?=\d)))?\s?(?P<sign2>[-−]\s?)?
    (?P<open2>\(\s?)?
    (?:(?P<digits>(?<![\w.,])(?:{DIGITS})|(?<=[$₹₨€£`])(?:{DIGITS})|(?<=rs)(?:{DIGITS})
      |(?<=rs\.)(?:{DIGITS})|(?<=inr)(?:{DIGITS}))|\b(?P<word>{WORD_NUMBER})\b)
    (?P<close>\s?\))?
    (?P<scale>[\s-]?{SCALE}\b\.?|[kmb]\b)?
    (?P<close2>\s?\))?
    (?P<unit>\s?(?:%|percent\b|per\ cent\b|pct\b)(?P<points>\s?(?:age)?[\s-]?points?\b)?
      |[\s-]?percentage[\s-]points?\b|\s?(?:pp|ppts?|ppt)\b|\s?(?:bps|bp|basis[\s-]points?)\b
      |\s(?:rupees|dollars?|euros?)\b|\s?(?:inr|usd|eur|gbp)\b|\s?(?-i:x|×)(?![\w])|\stimes\b)?
    (?P<close3>\s?\))?""",
    re.IGNORECASE | re.VERBOSE,
)
DIGIT = re.compile(r"\d")
# A text without either holds no number, year or date.
MAY_COUNT = re.compile(rf"\d|\b{WORD_NUMBER}\b", re.IGNORECASE)
CURRENCY_BEFORE = re.compile(r"(?:₹|rs\.?|\$)\s?$", re.IGNORECASE)
CELL_NEXT = re.compile(r"[^\S\n]*(?:$|[\d(₹$|-])", re.MULTILINE)
BARE_AFTER = re.compile(r"[\w]|[-–][a-z]|\.\d", re.IGNORECASE)
PER = re.compile(
    r"\s?(?:/|(?:per|a|each) )(?:equity |ordinary |common )?"
    r"(share|unit|month|employee|tonne|kg|user)",
    re.IGNORECASE,
)
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
DATES = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}(?:,?\s+\d{{4}})?\b"
    rf"|\b{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?(?![\d,.]*\d)\b"
    rf"|\b{MONTH}[\s,'’-]+\d{{2,4}}\b|\b\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b"
    rf"|\b\d{{4}}-\d\d-\d\d\b",
    re.IGNORECASE,
)
YEARS = re.compile(
    r"\b(?:FY|CY|AY)\s?['’]?\d{2,4}(?:\s?[-–/]\s?\d{2,4})?\b|\bQ[1-4]\s?(?:FY)?\s?['’]?\d{0,4}\b"
    r"|\b(?:19|20)\d\d\s?[-–/]\s?(?:\d\d|(?:19|20)\d\d)\b(?!\s?(?:%|per|crore|lakh|million"
    r"|billion))"
    r"|\b[1-4]?H[12]\s?(?:FY)?\s?\d{0,4}\b(?!,\d)|['’]\d\d\b",
    re.IGNORECASE,
)
REFERENCES = re.compile(
    r"\b(?:pages?|pp?\.|notes?(?: no\.?)?|section|sections|schedule|clause|rule|item|table|figure"
    r"|fig\."
    r"|chapter|annexure|appendix|article|ind as|ias|ifrs|as|form|exhibit|step|no\.|nos\."
    r"|regulation|part"
    r"|scope|tier|phase|bs|level|stage|version|isin|cin|din|question|passage|chunk|source)"
    r"[\s-]?#?\d+(?:[.,]\d+)*(?:\([\w]+\))*(?:\s?(?:-|–|to|and|,)\s?\d+\b(?![.,]\d|\s?(?:%|crore"
    r"|lakh)))*"
    r"|(?<=[a-z])\s\(\d\)(?=\s[a-z])"
    r"|^[^\S\n]*\(?\d{1,2}[.)](?=\s)(?!\s?(?:%|crore|lakh|million|billion|per))|\b\d+(?:st|nd|rd|th)\b"
    r"|#\s?\d+|\bcovid-19\b|\b(?:s&p|nifty|bse"
    r"|nse) \d+\b"
    r"|\[\d{1,3}\]|\b\d{1,2}:\d\d\b",
    re.IGNORECASE | re.MULTILINE,
)
CHUNK_ID = re.compile(r"[^\W_][\w.&-]{0,80}-[0-9a-f]{8}(?![\w-])", re.IGNORECASE)
DOWN_BEFORE = re.compile(
    r"\b(?:loss(?:es)?|negative|minus|declin\w+|decreas\w+|fell|fall(?:ing|s|en)?|dropp?\w*|down"
    r"|lower"
    r"|reduc\w+|shr[aiu]nk\w*|contract(?:ed|ion)|outflow|deficit|slipp?ed)\b[^.;,%]{0,40}$",
    re.IGNORECASE,
)
DOWN_AFTER = re.compile(
    r"^\s?(?:\w+\s){0,2}(?:declin\w+|decreas\w+|drop|reduction|loss|fall|contraction|lower|down"
    r"|outflow)\b",
    re.IGNORECASE,
)
UP_BEFORE = re.compile(
    r"\b(?:increas\w+|ros[ei]\w*|grow\w*|grew|up|gain\w*|improv\w+|higher|expan\w+"
    r"|climb\w+)\b[^.;,%]{0,40}$",
    re.IGNORECASE,
)
UP_AFTER = re.compile(
    r"^\s?(?:\w+\s){0,2}(?:increase|rise|growth|gain|improvement|higher|jump|expansion)\b", re.I
)
APPROXIMATE = re.compile(
    r"(?:~|≈|\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|close to"
    r"|some))\s*$",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"\s(?:(?!was\b|is\b|as\b|has\b|its\b|this\b|plus\b|less\b|across\b|versus\b|vs\b"
    r"|thus\b)[a-z-]+s"
    r"|people|staff|mw|gw|mmt|mtpa|km|kg|acres?|sq)\b",
    re.IGNORECASE,
)
LEVEL = re.compile(
    r"\b(?:to|from|at|than|and|between|in|with)\s*(?:about|around|approximately)?\s*$", re.I
)
JOINT = re.compile(r"\s?(?:-|–|—|to|and|or|/)\s?", re.IGNORECASE)
YEAR_ALONE = re.compile(
    r"(?<![\w.,₹$€£`-])(?:19|20)\d\d"
    r"(?![\w%]|,\d|\.\d|\s?(?:crore|lakh|million|billion|thousand|%|per|pct|pp|bps|bp|basis|times"
    r"|x\b))"
)

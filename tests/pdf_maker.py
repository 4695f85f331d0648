"""Small PDF files for tests: text placed line by line, as simple as the format allows."""

from __future__ import annotations

from pathlib import Path

Line = tuple[float, float, str]


def make_pdf(path: Path, pages: list[list[Line]]) -> Path:
    """A PDF whose pages draw the given (x, y, text) lines in that order; text in Latin-1."""
    return make_drawn_pdf(path, ["".join(show(*line) for line in lines) for lines in pages])


def show(x: float, y: float, text: str, *, font: str = "F1", turn: str = "1 0 0 1") -> str:
    """The operators that draw `text` at a place; `turn` begins the text matrix."""
    return f"BT /{font} 9 Tf {turn} {x} {y} Tm ({_escaped(text)}) Tj ET\n"


def make_drawn_pdf(
    path: Path,
    pages: list[str],
    *,
    box: str = "0 0 595 842",
    rotate: int = 0,
    fonts: dict[str, str] | None = None,
    image: bool = False,
) -> Path:
    """A PDF of content streams.

    Parameters
    ----------
    pages
        Operators of each page.
    box, rotate
        MediaBox and rotation of every page.
    fonts
        Font dictionaries beside F1 (Helvetica), by name.
    image
        Whether a picture of one pixel fills every page.
    """
    n = len(pages)
    more = "".join(f"/{name}<<{entries}>>" for name, entries in (fonts or {}).items())
    pixel = f"/XObject<</Im {4 + 2 * n} 0 R>>" if image else ""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(n))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {n}/Kids[{kids}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for i, drawn in enumerate(pages):
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Rotate {rotate}/Contents {5 + 2 * i} 0 R"
            f"/Resources<</Font<</F1 3 0 R{more}>>{pixel}>>>>"
        )
        if image:
            drawn += "q 595 0 0 842 0 0 cm /Im Do Q\n"
        objects.append(f"<</Length {len(drawn.encode('latin-1'))}>>stream\n{drawn}endstream")
    if image:
        objects.append(
            "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray"
            "/BitsPerComponent 8/Length 1>>stream\n0\nendstream"
        )
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + end.encode("latin-1"))
    return path


def column(text: str, *, x: float = 60, top: float = 780, width: int = 80) -> list[Line]:
    """`text` wrapped at `width` characters, one line under the other; newlines are kept."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip()
        lines.append(line)
    return [(x, top - 12 * i, line) for i, line in enumerate(lines)]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")

"""Which promise a test proves: ids of the specification, the threat model and the bug lists."""

import re

import pytest

SHAPES = (
    r"S[12]-\d{3}",  # a statement of the first or second published page
    r"CARD-\d{3}",  # a statement of the brief
    r"REQ-[SF]\d{1,3}",  # a requirement or a fault of the threat model
    r"BUG-[A-Z]\d{1,3}",  # a row of the bug reports
    r"J-\d{1,3}",  # a bug that the reference once had
)
_ID = re.compile("|".join(SHAPES))


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test with what it proves. Raises ValueError for an id that no list could hold."""
    wrong = [id_ for id_ in ids if not _ID.fullmatch(id_)]
    if wrong or not ids:
        raise ValueError(
            f"{', '.join(wrong) or 'No id'}: write S1-036, S2-064, CARD-012, REQ-S64, REQ-F30, "
            "BUG-E15 or J-17."
        )
    return pytest.mark.requirement(*ids)

"""The first edit of a robot that gough new wrote: a payload, below or above the legs."""

import pytest

import gough
from gough.description.drafts import FAMILIES, Answers, draft

PAYLOAD = "[[platform.payload]]\nmass = 20\ncenter_of_mass = [0, 0, 0.1]\n"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_payload_is_added_to_the_mass_of_the_platform(family, tmp_path):
    text = draft(family, "mine", Answers({}))
    bare = gough.Robot.from_text(text)
    assert "[[platform.payload]] with mass" in text
    for loaded in (text.replace("\n[legs]", f"\n{PAYLOAD}\n[legs]"), f"{text}\n{PAYLOAD}"):
        heavy = gough.Robot.from_text(loaded)
        assert heavy.platform.mass == pytest.approx(bare.platform.mass + 20, rel=1e-12)

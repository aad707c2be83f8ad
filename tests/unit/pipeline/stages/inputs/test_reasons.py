"""Why inputs gave nothing, in one line."""

from __future__ import annotations

import pytest

from pipeline.model.measured.reading import ReadReport
from pipeline.stages.inputs.reasons import why_nothing


@pytest.mark.parametrize(
    ("n", "files"), [(1, "0.json"), (2, "0.json and 1 more file"), (3, "0.json and 2 more files")]
)
def test_other_files_are_counted(n, files):
    reports = [ReadReport(f"{i}.json", "atlas") for i in range(n)]
    assert why_nothing(reports).startswith(f"{files}: contains no traces")

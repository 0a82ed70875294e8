"""The JSON Schemas of the files that this package writes, for those who read or write them without it."""

from __future__ import annotations

import json

from steelyard.session.export_record import EXPORT, ExportRecord
from steelyard.session.schema import Entry, ResultFile, SessionFile

FILES: dict[str, type[Entry]] = {"session.json": SessionFile, "result.json": ResultFile, EXPORT: ExportRecord}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """For each file its JSON Schema as text; docs/schemas holds them under the same names."""
    return {
        name: json.dumps({"$schema": _DIALECT, **model.model_json_schema(by_alias=True)}, indent=2) + "\n"
        for name, model in FILES.items()
    }

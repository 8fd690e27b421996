"""Results kept as JSON lines, so that an interrupted study goes on where it was."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
"""Not under version control."""


class Kept:
    """What has been computed for a key, from a file and into it; a line that was cut off is computed again."""

    def __init__(self, path: Path):
        self.path = path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.found: dict[str, Any] = {}
        lines = path.read_text().splitlines() if path.exists() else []
        for line in lines:
            try:
                key, value = json.loads(line)
            except ValueError:
                continue
            self.found[json.dumps(key)] = value

    def __call__(self, key: list, compute: Callable[[], Any]) -> Any:
        """The value for a key, of what JSON holds: numbers, words, lists and dictionaries of them."""
        name = json.dumps(key)
        if name not in self.found:
            self.found[name] = compute()
            with self.path.open("a") as file:
                file.write(f"\n{json.dumps([key, self.found[name]])}")
        return self.found[name]

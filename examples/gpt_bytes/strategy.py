"""Writes a strategy file from key=value words: strategy.py OUT.json mp_degree=2 pp_configs.accumulate_steps=4 ...

The degrees and the keys of pipelines may be written short; any other key is its full path with dots.
"""

import json
import sys
from pathlib import Path

SHORT = {
    **dict.fromkeys(("dp_degree", "mp_degree", "pp_degree", "sharding_degree"), "hybrid_configs"),
    **dict.fromkeys(("accumulate_steps", "micro_batch_size", "schedule_mode"), "hybrid_configs.pp_configs"),
}


def value_of(text):
    """Numbers, true, false and lists are JSON; anything else is a string."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def main():
    strategy = {}
    for word in sys.argv[2:]:
        key, equals, text = word.partition("=")
        if not equals:
            print(f"strategy: '{word}' is not key=value", file=sys.stderr)
            return 1
        path = (f"{SHORT[key]}.{key}" if key in SHORT else key).split(".")
        place = strategy
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value_of(text)
    Path(sys.argv[1]).write_text(json.dumps(strategy, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

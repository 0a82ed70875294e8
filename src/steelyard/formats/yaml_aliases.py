"""Aliases in YAML: a page of them stands for more values than any memory holds, and no motion needs one."""

from __future__ import annotations


def has_aliases(text: str) -> bool:
    """Whether a YAML text refers to a value by an alias.

    Raises:
        YAMLError: the text is no YAML (of ruamel).
        ValueError, RecursionError: the same, from deeper in its parser.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent

    if "*" not in text:
        return False
    return any(isinstance(event, AliasEvent) for event in YAML(typ="safe", pure=True).parse(text))

"""Asking a term for its columns and its block: the border to code that users write themselves.

Whatever goes wrong in there, even leaving the program, comes back as one error that names the term.
"""

from __future__ import annotations

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import SteelyardError, StudyError
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, Term


def columns_of(term: Term, robot: Robot) -> tuple[Column, ...]:
    """The columns of a term.

    Raises:
        StudyError: the term failed, or returned something else.
    """
    try:
        columns = term.columns(robot)
    except SteelyardError:
        raise
    except (Exception, SystemExit) as error:  # a stranger's code may raise anything
        raise _failed(term, "columns", error) from error
    if not isinstance(columns, tuple | list) or not all(isinstance(column, Column) for column in columns):
        raise StudyError("columns(robot) must return Column values", where=_name(term), value=repr(columns)[:200])
    return tuple(columns)


def block_of(term: Term, robot: Robot, trajectory: Trajectory, columns: int) -> Array:
    """The block of a term, (T, k) or (T, n, k), finite.

    Raises:
        StudyError: the term failed, or returned other shapes, other than real numbers, or numbers that are not finite.
    """
    try:
        block = term.block(robot, trajectory)
    except SteelyardError:
        raise
    except (Exception, SystemExit) as error:  # as above
        raise _failed(term, "block", error) from error
    T, n = len(trajectory), len(robot.row_names)
    if not isinstance(block, np.ndarray) or block.dtype.kind not in "fiub":
        raise StudyError("block must return an array of real numbers", where=_name(term), value=type(block).__name__)
    if block.shape not in ((T, columns), (T, n, columns)):
        raise StudyError(
            f"block must return ({T}, {columns}) or ({T}, {n}, {columns}) numbers", where=_name(term), value=block.shape
        )
    if not np.isfinite(block).all():
        raise StudyError("block returned a number that is not finite", where=_name(term))
    return block


def _name(term: Term) -> str:
    return f"term {type(term).__name__}"


def _failed(term: Term, method: str, error: BaseException) -> StudyError:
    return StudyError(
        f"{method} failed: {type(error).__name__}: {error}",
        where=_name(term),
        cure="steelyard.testing.check_term(term, robot) tells what a term must keep to",
    )

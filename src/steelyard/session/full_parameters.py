"""A consistent full set as it stands in result.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.estimate.consistent_result import Consistent
from steelyard.terms.rigid_body import QUANTITIES

_POSITIVE = ("mass", "inertia_xx", "inertia_yy", "inertia_zz")


def full_parameter_entries(found: Consistent, *, reach: float) -> tuple[dict[str, Any], ...]:
    """Entries of `full_parameters`: ten of every moving link with mass about its own origin, then the other columns.

    Args:
        found: the full set.
        reach: half the 95 % interval, in deviations; what cannot be negative has one that ends at zero.
    """
    scalars = found.links.scalars
    units = [unit for _ in found.links.links for _, unit in QUANTITIES] + [c.unit for c in scalars]
    signed = [name not in _POSITIVE for _ in found.links.links for name, _ in QUANTITIES]
    signed += [not c.nonnegative for c in scalars]
    standing = found.standing
    entries = []
    columns = (found.full_names, found.full.tolist(), found.deviation.tolist(), units, signed)
    told = (found.partners, found.prior_share.tolist())
    for name, value, deviation, unit, free, partner, share in zip(*columns, *told, strict=True):
        bounded = bool(np.isfinite(deviation))
        low = value - reach * deviation if free else max(0.0, value - reach * deviation)
        entries.append(
            {
                "name": name,
                "value": value,
                "unit": unit,
                "deviation": deviation if bounded else None,
                "interval_95": (low, value + reach * deviation) if bounded else None,
                "class": standing[name],
                "correlated_with": partner,
                "prior_share": share if np.isfinite(share) else None,
            }
        )
    return tuple(entries)


def consistent_entry(found: Consistent) -> dict[str, Any]:
    """Entry `consistent`: how the full set was found and how it fits."""
    least = found.least_eigenvalue
    return {
        "solver": found.solver,
        "residual_ratio": float(found.ratio),
        "kkt_residual": float(found.kkt),
        "least_eigenvalue": least if np.isfinite(least) else None,
        "total_mass_kg": found.total_mass,
        "prior_weight": float(found.gamma),
        "at_limit": found.active,
        "at_edge": found.edges,
    }


def prior_in_words(found: Consistent) -> str:
    """What the full set was held to where the data are silent."""
    factor = float(np.exp(0.5 / np.sqrt(found.belief)))
    return f"every link of the model file is right to a factor of {factor:.3g} (log-det divergence of pseudo-inertias)"

"""How new rows differ from those of training, as a page."""

from __future__ import annotations

from typing import Any

from linnaeus import __version__
from linnaeus.report.page import environment


def monitor_page(found: dict[str, Any], model: str, data: str) -> str:
    """What `linnaeus monitor --json` prints, as HTML.

    Parameters
    ----------
    found : dict
        What was found.
    model : str
        Where the model is.
    data : str
        Where the new rows are.

    Returns
    -------
    str
    """
    template = environment().get_template("monitor.html")
    page: str = template.render(found=found, model=model, data=data, version=__version__)
    return page

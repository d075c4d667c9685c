"""The ranks of all methods and the recommendations, as a section of the page and as plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linnaeus.reproduction.matrix import results
from linnaeus.reproduction.rank_plot import draw_ranks
from linnaeus.reproduction.rankings import rankings
from linnaeus.reproduction.ranks import Ranking
from linnaeus.reproduction.recommend import recommend
from linnaeus.reproduction.tables import Outcomes


def image_name(ranking: Ranking) -> str:
    """The file of a plot.

    >>> from linnaeus.reproduction.ranks import Friedman
    >>> image_name(Ranking("several labels, trees", (), (), (), Friedman(0.0, 1.0), 1.0))
    'ranks_several-labels-trees.svg'
    """
    return f"ranks_{ranking.name.replace(',', '').replace(' ', '-')}.svg"


def draw_all(outcomes: Outcomes, folder: str | Path) -> list[Path]:
    """Write a plot for every ranking of the matrix."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    found = rankings(results(outcomes))
    paths = [Path(folder) / image_name(ranking) for ranking in found]
    for ranking, path in zip(found, paths, strict=True):
        draw_ranks(ranking, path)
    return paths


def rank_section(outcomes: Outcomes, images: str = "images") -> list[str]:
    """Lines of markdown: a paragraph and a plot for every ranking, then the recommendations.

    images : the folder of the plots, as seen from the page
    """
    found = rankings(results(outcomes))
    if not found:
        return []
    lines = [
        "## Ranks\n",
        "Mean ranks in micro F1 over the collections of the matrix, 1 being the best. A method "
        "that does not apply to all collections of a group is left out of it, one that did not "
        "finish is last. Bars join methods that Nemenyi's test cannot tell apart.\n",
    ]
    for ranking in found:
        lines += [f"### Ranks, {ranking.name}\n", _sentence(ranking) + "\n"]
        lines += [f"![Mean ranks, {ranking.name}]({images}/{image_name(ranking)})\n"]
    return lines + _recommended(recommend(results(outcomes)))


def _sentence(ranking: Ranking) -> str:
    statistic, p = ranking.friedman
    return (
        f"{len(ranking.methods)} methods on {', '.join(ranking.collections)}. Friedman's test: "
        f"chi2 {statistic:.1f}, p {p:.2g}; critical difference {ranking.difference:.2f} at 5 %."
    )


def _recommended(found: dict[str, Any]) -> list[str]:
    rows = [
        [f"all with {labels} label(s) a row", entry] for labels, entry in found["general"].items()
    ]
    rows += [
        [
            f"{group['labels']} label(s), {group['shape']}, {group['rows']} rows, "
            f"{group['classes']} classes",
            group,
        ]
        for group in found["groups"]
    ]
    many = found["many"]
    lines = [
        "### What linnaeus train takes when no method is named\n",
        "The method with the best mean rank of those that finished on all collections with such "
        f"labels and taxonomies. Many are {many['rows']:,} rows or {many['classes']} classes and "
        "more. A kind of data with fewer than two collections gets the general choice.\n",
        "| data | method | mean rank | of | CPU s to train | collections |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for kind, entry in rows:
        lines.append(
            f"| {kind} | {entry['method']} | {entry['rank']:.2f} | {entry['of']} "
            f"| {entry['train_seconds']:.1f} | {', '.join(entry['collections'])} |"
        )
    return [*lines, ""]

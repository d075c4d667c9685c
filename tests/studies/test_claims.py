"""Verdicts follow the data: turned data turn the verdict, none give none."""

import numpy as np
import pytest

from linnaeus.metrics import wilcoxon_test
from studies import claims_gopal
from studies.claims import CLAIMS
from studies.judging import FAILS, HOLDS, NO_DATA, OPEN, Results, decide
from studies.packing import pack
from studies.registry import TABLES
from studies.results import Outcome
from studies.store import Store

BY_NAME = {claim.name: claim for claim in CLAIMS}


class Made(Results):
    """Outcomes from memory."""

    def __init__(self, outcomes):
        super().__init__(Store("nowhere"), TABLES)
        self._outcomes = {name: {} for name in TABLES} | outcomes


def judged(name, **outcomes):
    """The verdict on a claim, outcomes by tables with _ for -."""
    return BY_NAME[name].judge(Made({key.replace("_", "-"): o for key, o in outcomes.items()}))


def run_of(wrong, f1, seconds=1.0, rows=200):
    """A method of [GopalYang2015] on two levels, with these wrong rows and F1 of its classes."""
    n = len(f1)
    return Outcome(
        facts={
            "wrong": pack(sorted(wrong)), "micro_f1": 1 - len(wrong) / rows,
            "macro_f1": float(np.mean(f1)), "class_f1": list(f1), "class_train": [5] * n,
            "node_f1": [0.5, *f1], "node_level": [1] + [2] * n, "fit_seconds": seconds,
        }
    )  # fmt: skip


def a_pair(better, worse, turned=False):
    """A good and a bad method, or the other way round."""
    good = run_of(range(20), np.linspace(0.5, 0.9, 20))
    bad = run_of(range(60), np.linspace(0.3, 0.8, 20))
    first, second = (bad, good) if turned else (good, bad)
    return {better: first, worse: second}


@pytest.mark.parametrize(
    ("name", "table", "better", "worse"),
    [
        ("rr-micro", "gopal_2", "RR-SVM", "BSVM"),
        ("rr-macro", "gopal_2", "RR-LR", "BLR"),
        ("rr-deep", "gopal_2", "RR-SVM", "BSVM"),
        ("rr-small", "gopal_2", "RR-SVM", "BSVM"),
        ("over-td", "gopal_2", "RR-LR", "TD"),
        ("hblr-best", "gopal_2", "HBLR", "MSVM"),
        ("m3-m1", "gopal_6", "M3-map", "M1-map"),
        ("m1-m2", "gopal_6", "M1-map", "M2-map"),
        ("priors", "gopal_6", "M3-var", "M3-flat"),
    ],
)
def test_claims_about_two_methods_turn_with_the_data(name, table, better, worse):
    names = [f"ImCLEF07A: {method}" for method in (better, worse)]
    holds = judged(name, **{table: a_pair(*names)})
    fails = judged(name, **{table: a_pair(*names, turned=True)})
    same = judged(name, **{table: dict.fromkeys(names, run_of([1, 2], [0.5, 0.6]))})
    assert (holds.holds, fails.holds, same.holds) == (HOLDS, FAILS, OPEN)
    assert holds.pvalue == pytest.approx(fails.pvalue) and holds.pvalue < 0.001
    assert judged(name).holds == NO_DATA


def test_pairs_on_the_same_rows_count_once():
    """Two methods that win the same decisions are no more evidence than one."""
    good, bad = run_of(range(10), [0.5] * 8), run_of(range(16), [0.4] * 8)
    one = {"news20: RR-SVM": good, "news20: BSVM": bad}
    two = one | {"news20: RR-LR": good, "news20: BLR": bad}
    for name in ("rr-micro", "rr-macro"):
        assert judged(name, gopal_2=one).pvalue == judged(name, gopal_2=two).pvalue


def test_collections_are_pooled():
    good, bad = run_of(range(10), [0.5] * 4), run_of(range(15), [0.4] * 4)
    one = {"news20: RR-SVM": good, "news20: BSVM": bad}
    more = {name.replace("news20", "ImCLEF07A"): out for name, out in one.items()}
    assert judged("rr-micro", gopal_2=one).pvalue == pytest.approx(2 / 2**5)
    assert judged("rr-micro", gopal_2=one | more).pvalue == pytest.approx(2 / 2**10)
    assert "Apart" not in judged("rr-micro", gopal_2=one).evidence
    turned = {"ImCLEF07A: RR-SVM": bad, "ImCLEF07A: BSVM": good}
    for name, p in (("rr-micro", 2 / 2**5), ("rr-macro", wilcoxon_test([0.1] * 4).pvalue)):
        apart = judged(name, gopal_2=one | turned).evidence
        told = f"Apart: ImCLEF07A worse (p {p:.2g}), news20 better (p {p:.2g})"
        assert told in apart and judged(name, gopal_2=one | turned).holds == OPEN


@pytest.mark.parametrize(("times", "verdict"), [(2.0, HOLDS), (8.0, FAILS), (0.5, FAILS)])
def test_cost_is_judged_by_a_range(times, verdict):
    outcomes = {
        f"{collection}: {method}": run_of([1], [0.5], seconds)
        for collection in ("news20", "ImCLEF07A")
        for method, seconds in (("BSVM", 3.0), ("RR-SVM", 3.0 * times))
    }
    found = judged("rr-cost", gopal_2=outcomes)
    assert (found.holds, found.pvalue) == (verdict, None)
    assert f"{times:.1f} times" in found.evidence
    one = {name: out for name, out in outcomes.items() if name.startswith("news20")}
    assert judged("rr-cost", gopal_2=one).holds == OPEN


def ranking_run(mean, n=10, seed=0, **more):
    """A method of [Cai2008] with values around a mean; losses are turned by the caller."""
    noise = 0.1 * np.random.default_rng(seed).standard_normal(n)
    names = ("acc", "prec", "top loss", "max loss", "rloss", "pacc")
    return Outcome(facts={"values": {name: (mean + noise).tolist() for name in names}, **more})


@pytest.mark.parametrize(
    ("name", "table", "first", "second", "sign"),
    [
        ("hierarchical-loss", "cai-7.10", "H-SVM", "F-SVM", -1),
        ("hierarchical-parent", "cai-7.13", "H-SVM", "F-SVM", 1),
        ("hierarchical-ranking", "cai-7.20", "HaPERC", "FaPERC", 1),
        ("online", "cai-7.21", "HoHieron", "FoHieron", 1),
        ("learned", "cai-7.24", "HaPERCa", "FaPERC", 1),
        ("true-random", "cai-7.18", "H-SVM", "H-SVM rand1", 1),
    ],
)
def test_claims_about_rankings_turn_with_the_data(name, table, first, second, sign):
    def verdict(gain):
        outcomes = {
            f"all: {first}": ranking_run(50 + sign * gain),
            f"all: {second}": ranking_run(50, seed=1),
        }
        return judged(name, **{table: outcomes})

    assert [verdict(gain).holds for gain in (1, -1)] == [HOLDS, FAILS]
    assert verdict(1).pvalue == pytest.approx(2 / 2**10)
    assert judged(name).holds == NO_DATA


def test_few_examples():
    def verdict(gains):
        outcomes = {}
        for i, (condition, gain) in enumerate(zip(("t = 5", "t = 20", "all"), gains, strict=True)):
            outcomes[f"{condition}: H-SVM"] = ranking_run(50 + gain, seed=2 * i)
            outcomes[f"{condition}: F-SVM"] = ranking_run(50, seed=2 * i + 1)
        return judged("few-examples", **{"cai-7.10": outcomes})

    assert [verdict(g).holds for g in ((3, 1, 0), (0, 1, 3))] == [HOLDS, FAILS]
    assert judged("few-examples").holds == NO_DATA


def test_random_hierarchies_help_only_with_a_significant_gain():
    def verdict(gain):
        outcomes = {f"all: H-SVM rand{k}": ranking_run(50 + gain, seed=k) for k in (1, 2, 3)}
        outcomes["all: F-SVM"] = ranking_run(50, seed=9)
        return judged("random", **{"cai-7.18": outcomes})

    assert [verdict(gain).holds for gain in (-1, 0, 1)] == [HOLDS, HOLDS, FAILS]


def label_set_run(loss, hits, n=20, seed=0):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(n)
    values = {"0/1 %": loss + noise, "delta": loss + noise}
    values |= {f"hits at level {k}": hits + noise for k in range(4)}
    return Outcome(facts={"values": {k: v.tolist() for k, v in values.items()}, "levels": [0] * 4})


@pytest.mark.parametrize("name", ["hm3-zero-one", "hm3-recall", "hm3-delta"])
def test_claims_about_label_sets_turn_with_the_data(name):
    def verdict(better):
        markov = label_set_run(30 - better, 0.5 + better, seed=1)
        outcomes = {
            "rcv1-ccat, H-M3, subtree": markov,
            "rcv1-ccat, H-M3, delta": label_set_run(30 - better, 0.5, seed=2),
            "rcv1-ccat, SVM": label_set_run(30, 0.5, seed=3),
        }
        return judged(name, rousu_2=outcomes)

    assert [verdict(better).holds for better in (1, -1)] == [HOLDS, FAILS]
    assert judged(name).holds == NO_DATA


def test_every_claim_has_a_name_of_its_own_and_a_verdict_without_data():
    assert len(BY_NAME) == len(CLAIMS) >= 14
    for claim in CLAIMS:
        verdict = claim.judge(Made({}))
        assert verdict.holds == NO_DATA and "python -m studies run" in verdict.evidence


def test_no_difference_is_no_decision():
    assert decide(0.0, 0.0, "").holds == OPEN
    assert claims_gopal.SMALL == 10


def test_what_was_not_run_is_told():
    pair = a_pair("ImCLEF07A: RR-SVM", "ImCLEF07A: BSVM")
    found = judged("rr-micro", gopal_2=pair)
    assert "Not compared yet: ImCLEF07A RR-LR, news20 RR-SVM" in found.evidence

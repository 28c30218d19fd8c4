"""In a notebook: answers show as tables, and the schedule is a DataFrame where pandas is there."""
import html.parser
import re
import sys
import xml.etree.ElementTree

import pytest

import treeline


class Cells(html.parser.HTMLParser):
    """The texts of a page, and whether its tags are closed as they were opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.rows = [], [], 0
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_recommendation_shows_what_is_recommended_beside_plain_decoding(examples):
    answer = treeline.recommend(examples / "starter.json")
    shown = Cells(answer._repr_html_())
    assert answer.sentence in "".join(shown.texts)
    assert {"plain", "recommended", "tokens_per_s_device", "draft_tokens"} <= set(shown.texts)
    assert shown.rows == 3 + 1 + len(answer["schedule"].entries)


def test_one_that_nothing_meets_shows_its_sentence(examples, loaded):
    workload = loaded(examples / "starter.json")
    workload["limits"] = {"tpot_ms": 1e-3}
    answer = treeline.recommend(workload)
    assert answer.recommendation is None
    assert answer.sentence in "".join(Cells(answer._repr_html_()).texts)
    assert len(answer.schedule) == 0


def test_the_schedule_is_a_frame_where_pandas_is_there(examples):
    pandas = pytest.importorskip("pandas")
    answer = treeline.recommend(examples / "starter.json")
    assert isinstance(answer.schedule, pandas.DataFrame)
    assert list(answer.schedule["draft_tokens"]) == [entry.draft_tokens for entry in answer["schedule"].entries]


def test_and_a_list_where_it_is_not(examples, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # importing it then fails
    answer = treeline.recommend(examples / "starter.json")
    assert answer.schedule == answer["schedule"].entries


def drawings(text):
    """The plots of a page: their names, and what is drawn in each, by tag."""
    found = {}
    for drawing in re.findall("<svg.*?</svg>", text):
        tree = xml.etree.ElementTree.fromstring(drawing)
        found[tree.get("aria-label")] = lambda tag, tree=tree: tree.findall(f"{{http://www.w3.org/2000/svg}}{tag}")
    return found


def test_the_schedule_is_drawn_from_plain_decoding_on(examples):
    texts = [text.text for text in drawings(treeline.recommend(examples / "starter.json")._repr_html_())["Draft tokens by batch"]("text")]
    assert "1" in texts  # a tick of the axis of speed-ups, whatever the lowest is


def test_the_hardware_shows_as_tables():
    hardware = treeline.hardware()
    shown = Cells(hardware._repr_html_())
    assert {"devices", "stacks", "boards", "designs"} <= set(shown.texts)
    assert {rows[0].name for rows in hardware.values() if rows} <= set(shown.texts)


@pytest.mark.parametrize("parents", [[0], [0, 0, 1, 1, 3], [0] * 300, list(range(100))])
def test_a_tree_is_drawn_node_by_node(parents):
    (name, drawn), = drawings(treeline.Tree(parents)._repr_html_()).items()
    assert name == f"Draft tree of {len(parents)} nodes"
    places = [(float(node.get("cx")), float(node.get("cy"))) for node in drawn("circle")]
    assert len(set(places)) == len(places) == len(parents) + 1
    assert all(0 < x < 480 for x, _ in places)
    assert all(places[node + 1][1] > places[parent][1] for node, parent in enumerate(parents))  # below its parent


def test_plots_hold_what_the_answer_holds(examples):
    answer = treeline.recommend(examples / "starter.json")
    plots = drawings(answer._repr_html_())
    assert list(plots) == ["Draft tokens by batch", "Pareto set"]
    assert len(plots["Draft tokens by batch"]("rect")) == len(answer["schedule"].entries)
    assert len(plots["Pareto set"]("circle")) == len(answer.pareto)
    estimate = treeline.estimate(examples / "estimate-mamba2-2.7b.json")
    parts = drawings(estimate._repr_html_())["Parts of a round"]
    assert f"{estimate.round_ms.verify:.3g} ms" in [text.text for text in parts("text")]
    drawn = [name for name, time in estimate.round_ms.items() if name != "total" and time > 0]
    assert len(parts("rect")) == len(drawn)


def test_larger_numbers_are_drawn_farther_right_and_higher():
    rows = [{"tokens_per_s_user": 10.0 * 3**i, "tokens_per_s_device": 100.0 + 40 * i} for i in range(5)]
    dots = drawings(treeline._plots.front(rows))["Pareto set"]("circle")
    places = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in dots]
    # The abscissa spans a factor of 81, so that equal factors are equal distances; the ordinate one of 2.6, with equal differences.
    for before, now, after in zip(places, places[1:], places[2:]):
        assert now[0] - before[0] == pytest.approx(after[0] - now[0], abs=0.11) and now[0] > before[0]
        assert now[1] - before[1] == pytest.approx(after[1] - now[1], abs=0.11) and now[1] < before[1]


def test_one_point_is_drawn_and_nothing_is_not():
    entry = {"batch_from": 1, "batch_to": 1, "least_speedup": 1.5, "greatest_speedup": 1.5, "draft_tokens": 3}
    assert len(drawings(treeline._plots.schedule([entry]))["Draft tokens by batch"]("rect")) == 1
    assert treeline._plots.schedule([]) == treeline._plots.front([]) == treeline._plots.bars([("draft", 0)], "Parts", "ms") == ""


def test_other_answers_show_their_lines(examples):
    estimate = treeline.estimate(examples / "estimate-mamba2-2.7b.json")
    assert Cells(estimate._repr_html_()).rows > 5
    models = treeline.models()
    shown = Cells(models._repr_html_())
    assert shown.rows == 22 and f"and {len(models) - 20} more" in shown.texts
    assert models[0].name in shown.texts
    assert Cells(treeline.hardware().devices._repr_html_()).rows == 22
    sweep = treeline.sweep({"axes": {"target": ["llama-3-8b"], "device": ["h100-sxm"], "drafter": [{"kind": "ngram", "acceptance": {"rate": 0.5}}], "draft_tokens": [2], "batch": [1, 2], "context": [1000]}})
    assert "2 points" in Cells(sweep._repr_html_()).texts


def test_names_are_shown_as_text():
    rows = treeline._answers.Listing([{"name": "<script>alert(1)</script>", "share": 0.25, "count": 1234, "none": None}])
    text = rows._repr_html_()
    assert "<script>" not in text
    assert {"<script>alert(1)</script>", "0.25", "1,234"} <= set(Cells(text).texts)

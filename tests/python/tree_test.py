import numpy
import pytest

import treeline
from treeline import Tree


def test_a_tree_by_hand():
    # Root 0; children 1 and 2; token 3 below 1. With ranks 0.6 and 0.2: 1 + 0.6 + 0.2 + 0.6 * 0.6.
    tree = Tree([0, 0, 1])
    assert (tree.nodes, tree.depth, tree.leaves, tree.level_widths, tree.verified_tokens) == (3, 2, 2, [2, 1], 4)
    assert tree.unrolled_tokens == 5  # 0-1-3 and 0-2
    assert tree.accept_length([0.6, 0.2]) == pytest.approx(2.16)
    mask = tree.mask()
    assert mask.dtype == bool
    assert mask.astype(int).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]


def test_shapes():
    assert Tree.from_shape("chain:3") == Tree([0, 1, 2])
    assert Tree.from_shape({"branching": [2, 1]}) == Tree([0, 0, 1, 2])
    assert Tree.from_shape("sglang:5,4,32", [0.6, 0.2]).nodes == 31  # SGLang counts the root
    best = Tree.from_shape("optimal:8,4", [0.6, 0.2])
    chain = Tree.from_shape("chain:4")
    assert best.nodes <= 8 and best.depth <= 4
    assert best.accept_length([0.6, 0.2]) > chain.accept_length([0.6, 0.2])
    assert hash(chain) == hash(Tree([0, 1, 2, 3])) and repr(chain) == "Tree([0, 1, 2, 3])"


def test_a_mask_is_that_of_its_ancestors():
    tree = Tree.from_shape("stree-mil")
    parents = [-1, *tree.parents]
    for token, row in enumerate(tree.mask()):
        ancestors = {token}
        while parents[token] >= 0:
            token = parents[token]
            ancestors.add(token)
        assert set(numpy.flatnonzero(row)) == ancestors


def test_bad_trees():
    with pytest.raises(treeline.InputError):
        Tree([5])
    with pytest.raises(treeline.InputError):
        Tree.from_shape("sglang:5")
    with pytest.raises(treeline.InputError):
        Tree([0]).accept_length([0.9, 0.9])

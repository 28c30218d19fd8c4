#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "treeline/tree.h"

namespace py = pybind11;

namespace treeline::python {
namespace {

sim::DraftTree tree_of(const std::vector<int>& parents) {
    if (std::vector<std::string> problems = sim::parent_problems(parents); !problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return sim::DraftTree::from_parents(parents);
}

py::array_t<bool> mask_of(const sim::DraftTree& tree) {
    const sim::AncestorMask mask = tree.ancestor_mask();
    py::array_t<bool> array({mask.tokens, mask.tokens});
    auto out = array.mutable_unchecked<2>();
    for (int token = 0; token < mask.tokens; ++token) {
        for (int other = 0; other < mask.tokens; ++other) {
            out(token, other) = mask.at(token, other);
        }
    }
    return array;
}

}  // namespace

void add_tree(py::module_& module) {
    py::class_<sim::DraftTree>(module, "Tree")
        .def(py::init(&tree_of))
        .def_property_readonly("parents", &sim::DraftTree::parents)
        .def_property_readonly("nodes", &sim::DraftTree::nodes)
        .def_property_readonly("depth", &sim::DraftTree::depth)
        .def_property_readonly("leaves", &sim::DraftTree::leaves)
        .def_property_readonly("level_widths", &sim::DraftTree::level_widths)
        .def_property_readonly("verified_tokens", &sim::DraftTree::verified_tokens)
        .def_property_readonly("unrolled_tokens", &sim::DraftTree::unrolled_tokens)
        .def("accept_length",
             [](const sim::DraftTree& tree, const std::vector<double>& ranks) { return accept_length(tree, ranks); })
        .def("mask", &mask_of);
    module.def("find_tree", &find_tree);
}

}  // namespace treeline::python

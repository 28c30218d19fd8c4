#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "treeline/tree.h"

namespace py = pybind11;

namespace treeline::python {
namespace {

DraftTree tree_of(const std::vector<int>& parents) {
    if (std::vector<std::string> problems = parent_problems(parents); !problems.empty()) {
        throw InputError(std::move(problems));
    }
    return DraftTree::from_parents(parents);
}

py::array_t<bool> mask_of(const DraftTree& tree) {
    const AncestorMask mask = tree.ancestor_mask();
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
    py::class_<DraftTree>(module, "Tree")
        .def(py::init(&tree_of))
        .def_property_readonly("parents", &DraftTree::parents)
        .def_property_readonly("nodes", &DraftTree::nodes)
        .def_property_readonly("depth", &DraftTree::depth)
        .def_property_readonly("leaves", &DraftTree::leaves)
        .def_property_readonly("level_widths", &DraftTree::level_widths)
        .def_property_readonly("verified_tokens", &DraftTree::verified_tokens)
        .def_property_readonly("unrolled_tokens", &DraftTree::unrolled_tokens)
        .def("accept_length",
             [](const DraftTree& tree, const std::vector<double>& ranks) { return accept_length(tree, ranks); })
        .def("mask", &mask_of);
    module.def("find_tree", &find_tree);
}

}  // namespace treeline::python

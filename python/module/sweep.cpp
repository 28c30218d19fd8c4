#include <string>
#include <thread>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.h"
#include "requests/sweep/sweep_columns_reader.h"
#include "treeline/sweep.h"

namespace py = pybind11;

namespace treeline::python {
namespace {

/// A column of the result `owner` as an array on its memory, which the array keeps alive and does not let be written to.
template <class T>
py::array view_of(std::span<const T> column, const py::object& owner) {
    py::array array(py::dtype::of<T>(), {static_cast<py::ssize_t>(column.size())}, {}, column.data(), owner);
    array.attr("setflags")(py::arg("write") = false);
    return array;
}

/// Lets Ctrl-C end a sweep: signals are delivered to the thread that called, whenever it takes over a chunk.
void check_signals(std::thread::id caller) {
    if (std::this_thread::get_id() == caller) {
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
    }
}

sweeps::SweepOptions options_of(const std::string& best_by, std::size_t top, const std::vector<std::string>& pareto_of,
                                bool ignore_memory, unsigned threads) {
    sweeps::SweepOptions options;
    options.threads = threads;
    options.best_count = top;
    options.best_by = requests::sweep_column_of("best_by", best_by);
    options.pareto_of = requests::tradeoff_columns("pareto_of", pareto_of);
    options.ignore_memory = ignore_memory;
    options.progress = [caller = std::this_thread::get_id()](std::uint64_t, std::uint64_t) { check_signals(caller); };
    return options;
}

SweepResult run(sweeps::SweepInput input, sweeps::SweepOptions options, const std::vector<std::string>& names) {
    std::vector<const sweeps::SweepColumn*> columns;
    for (const std::string& name : names) {
        columns.push_back(requests::sweep_column_of("columns", name));
    }
    const py::gil_scoped_release without_gil;
    return sweep(std::move(input), std::move(options), std::move(columns));
}

/// The labels of all variants (or shapes): one list for each title.
template <class Owners>
std::vector<std::vector<std::string>> labels_of(const Owners& owners) {
    std::vector<std::vector<std::string>> lists;
    for (const auto& owner : owners) {
        const auto labels = reports::sweep_labels(owner);
        lists.resize(labels.size());
        for (std::size_t i = 0; i < labels.size(); ++i) {
            lists[i].push_back(labels[i]);
        }
    }
    return lists;
}

}  // namespace

void add_sweep(py::module_& module) {
    py::class_<sweeps::SweepOptions>(module, "SweepOptions").def(py::init(&options_of));
    py::class_<sweeps::SweepInput>(module, "SweepInput");  // NOLINT(bugprone-unused-raii): the module keeps it
    module.def("sweep_input_file", &sweep_input_file, WithoutGil());
    module.def("sweep_input_json", &sweep_input_json, WithoutGil());
    module.def("sweep", &run);
    module.def("sweep_titles", &reports::sweep_titles);
    module.def("sweep_figures", [] {
        std::vector<std::string> names;
        for (const sweeps::SweepColumn* column : all_sweep_columns()) {
            names.emplace_back(column->name);
        }
        return names;
    });
    py::class_<SweepResult>(module, "SweepResult")
        .def("json", [](const SweepResult& result) { return as_json(result); })
        .def("table", [](const SweepResult& result) { return as_table(result); })
        .def("variant_labels", [](const SweepResult& result) { return labels_of(result.input.space.variants); })
        .def("shape_labels", [](const SweepResult& result) { return labels_of(result.input.space.speculations); })
        .def("figures",
             [](const py::object& self, const std::string& column) {
                 return view_of(self.cast<const SweepResult&>().table.figures(column), self);
             })
        .def("variants", [](const py::object& self) { return view_of(self.cast<const SweepResult&>().table.variants(), self); })
        .def("shapes",
             [](const py::object& self) { return view_of(self.cast<const SweepResult&>().table.speculations(), self); })
        .def("fits", [](const py::object& self) { return view_of(self.cast<const SweepResult&>().table.fits(), self); });
}

}  // namespace treeline::python

// treeline._treeline: the facade (include/treeline) as the package `treeline` calls it.
#include <filesystem>
#include <string>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.h"
#include "text/output_file.h"
#include "treeline/catalogue.h"

namespace py = pybind11;

namespace treeline::python {
namespace {

/// treeline.InputError; lives as long as the interpreter.
PyObject* input_error = nullptr;

void raise_input_error(const text::InputError& error) {
    py::object raised = py::reinterpret_borrow<py::object>(input_error)(error.what());
    raised.attr("problems") = py::cast(error.problems());
    PyErr_SetObject(input_error, raised.ptr());
}

}  // namespace

void add_errors(py::module_& module) {
    input_error = PyErr_NewExceptionWithDoc("treeline.InputError",
                                            "Bad input: the message holds one sentence a line, `problems` a list of them.",
                                            PyExc_ValueError, nullptr);
    module.attr("InputError") = py::reinterpret_borrow<py::object>(input_error);
    // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 wants it by value.
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) {
                std::rethrow_exception(thrown);
            }
        } catch (const text::InputError& error) {
            raise_input_error(error);
        } catch (const text::OutputError& error) {
            PyErr_SetString(PyExc_OSError, error.what());
        }
    });
}

}  // namespace treeline::python

PYBIND11_MODULE(_treeline, module) {
    using namespace treeline;
    module.attr("version") = TREELINE_VERSION;
    module.attr("data_beside") = TREELINE_DATA_BESIDE;
    python::add_errors(module);
    py::class_<requests::Catalogue>(module, "Catalogue");  // NOLINT(bugprone-unused-raii): the module keeps it
    module.def("catalogue_in", [](const std::filesystem::path& folder) { return requests::catalogue_in(folder, "catalogue"); });
    module.def("catalogue_among", &requests::catalogue_among);
    module.def("models_json", &models_json);
    module.def("hardware_json", &hardware_json);
    python::add_answers(module);
    python::add_sweep(module);
    python::add_tree(module);
}

// The parts of the extension module treeline._treeline. Its classes hold what the facade answers; the package treeline turns
// them into Python values, and holds the documentation.
#pragma once

#include <pybind11/pybind11.h>

namespace treeline::python {

/// InputError becomes treeline.InputError (a ValueError with the list `problems`), failed output OSError.
void add_errors(pybind11::module_& module);
/// Answers that are shown as JSON, table and CSV: recommend, estimate, validate, calibrate.
void add_answers(pybind11::module_& module);
void add_sweep(pybind11::module_& module);
void add_tree(pybind11::module_& module);

/// The interpreter runs other threads while the cost model works.
using WithoutGil = pybind11::call_guard<pybind11::gil_scoped_release>;

}  // namespace treeline::python

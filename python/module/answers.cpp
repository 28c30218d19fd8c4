#include <string>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.h"
#include "treeline/calibrate.h"
#include "treeline/estimate.h"
#include "treeline/recommend.h"
#include "treeline/validate.h"

namespace py = pybind11;

namespace treeline::python {
namespace {

void add_recommend(py::module_& module) {
    py::class_<WorkloadAnswer>(module, "WorkloadAnswer")
        .def("json", py::overload_cast<const WorkloadAnswer&>(&as_json))
        .def("table", py::overload_cast<const WorkloadAnswer&, const std::optional<std::string>&>(&as_table),
             py::arg("explain") = py::none())
        .def("csv", py::overload_cast<const WorkloadAnswer&>(&as_csv))
        .def("page", &as_page);
    module.def("recommend_file", &recommend_file, WithoutGil());
    module.def("recommend_json", &recommend_json, WithoutGil());
}

void add_estimate(py::module_& module) {
    py::class_<EstimateAnswer>(module, "EstimateAnswer")
        .def("json", py::overload_cast<const EstimateAnswer&>(&as_json))
        .def("table", py::overload_cast<const EstimateAnswer&, const std::optional<std::string>&>(&as_table),
             py::arg("explain") = py::none())
        .def("csv", py::overload_cast<const EstimateAnswer&>(&as_csv));
    module.def("estimate_file", &estimate_file, WithoutGil());
    module.def("estimate_json",
               py::overload_cast<std::string_view, const requests::Catalogue&, const std::filesystem::path&>(&estimate_json),
               WithoutGil());
}

void add_validate(py::module_& module) {
    py::class_<validation::Validation>(module, "Validation")
        .def("json", py::overload_cast<const validation::Validation&>(&as_json))
        .def("table", py::overload_cast<const validation::Validation&, bool>(&as_table), py::arg("all_rows") = false)
        .def("csv", py::overload_cast<const validation::Validation&>(&as_csv));
    module.def("validate", &validate_files, WithoutGil());
}

/// What is served, by the last name of its key: "stack" is platform.stack.
requests::FlagTexts flags_of(const py::dict& served) {
    requests::FlagTexts flags;
    for (const requests::KeyFlag& flag : requests::point_flags()) {
        const std::string name = flag.path.substr(flag.path.rfind('.') + 1);
        if (served.contains(name.c_str())) {
            flags[flag.path] = py::str(served[name.c_str()]);
        }
    }
    return flags;
}

void add_calibrate(py::module_& module) {
    py::class_<calibrate::CalibrationAnswer>(module, "CalibrationAnswer")
        .def("json", py::overload_cast<const calibrate::CalibrationAnswer&>(&as_json))
        .def("table", py::overload_cast<const calibrate::CalibrationAnswer&>(&as_table))
        .def("csv", py::overload_cast<const calibrate::CalibrationAnswer&>(&as_csv));
    module.def(
        "calibrate_kernels",
        [](const std::string& device, const std::vector<std::string>& from, const std::string& derive_from,
           const std::string& source, int resamples, const requests::Catalogue& catalogue) {
            requests::KernelCalibrationInput input{device, from, derive_from, source, {}};
            input.options.bootstraps = resamples;
            return requests::calibrate_kernels(input, catalogue);
        },
        WithoutGil());
    py::class_<calibrate::ServingFit>(module, "ServingFit")
        .def("json", py::overload_cast<const calibrate::ServingFit&>(&as_json))
        .def("table", py::overload_cast<const calibrate::ServingFit&>(&as_table))
        .def("csv", py::overload_cast<const calibrate::ServingFit&>(&as_csv))
        .def("stack", [](const calibrate::ServingFit& fit, const std::string& stack, const requests::Catalogue& catalogue) {
            return fitted_stack_json(fit, stack, catalogue);
        });
    module.def("fit_serving", [](const std::string& csv, const py::dict& served, const requests::Catalogue& catalogue) {
        const requests::FlagTexts flags = flags_of(served);
        const py::gil_scoped_release without_gil;
        return requests::fit_serving(csv, flags, catalogue);
    });
}

}  // namespace

void add_answers(py::module_& module) {
    add_recommend(module);
    add_estimate(module);
    add_validate(module);
    add_calibrate(module);
}

}  // namespace treeline::python

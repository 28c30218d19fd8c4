#include "reports/recommend/export_output.h"

#include <fmt/format.h>

#include "json/wording.h"
#include "text/input_error.h"

namespace treeline::reports {

std::string exported_text(const sweeps::Answer& answer, const std::string& form) {
    const auto kind = value_named<engines::ExportKind>(form);
    if (!kind) {
        throw text::InputError(
            {fmt::format("--export: must be {}, not \"{}\"{}", text::listed(names_of<engines::ExportKind>(), "or"), form,
                         text::did_you_mean(form, names_of<engines::ExportKind>()))});
    }
    if (const std::string problem = sweeps::why_not_planned(answer); !problem.empty()) {
        throw text::InputError({fmt::format("--export {}: {}", form, problem)});
    }
    const engines::Exported exported =
        engines::export_recommendation(*kind, *answer.result.recommendation, answer.input.workload);
    const bool is_json = exported.text.starts_with("{");
    return is_json ? exported.text : fmt::format("# {}\n{}", exported.remark, exported.text);
}

}  // namespace treeline::reports

#include "reports/recommend/export_output.h"

#include <fmt/format.h>

#include "json/wording.h"
#include "text/input_error.h"

namespace treeline {

std::string exported_text(const Answer& answer, const std::string& form) {
    const auto kind = value_named<ExportKind>(form);
    if (!kind) {
        throw InputError({fmt::format("--export: must be {}, not \"{}\"{}", listed(names_of<ExportKind>(), "or"), form,
                                      did_you_mean(form, names_of<ExportKind>()))});
    }
    if (const std::string problem = why_not_planned(answer); !problem.empty()) {
        throw InputError({fmt::format("--export {}: {}", form, problem)});
    }
    const Exported exported =
        export_recommendation(*kind, *answer.result.recommendation, answer.input.workload, answer.input.target.model.name);
    const bool is_json = exported.text.starts_with("{");
    return is_json ? exported.text : fmt::format("# {}\n{}", exported.remark, exported.text);
}

}  // namespace treeline

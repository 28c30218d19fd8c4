#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/html.h"
#include "reports/validate/serving_output.h"
#include "text/number_text.h"

namespace treeline::reports {

std::string serving_sentence(const validation::ServingStudy& study) {
    std::string text;
    for (const validation::ErrorTable* table : tables_of(study)) {
        text +=
            fmt::format("{}{}, {} mode: {} rows, median error {}, 90th percentile {}, bias {:+.1f} %.", text.empty() ? "" : " ",
                        table->what, name_of(study.input.mode), table->errors.rows, text::percent_text(table->errors.median),
                        text::percent_text(table->errors.p90), 100.0 * table->errors.bias);
    }
    return text;
}

std::string serving_page(const std::vector<validation::ServingStudy>& studies) {
    std::string sentence;
    for (const validation::ServingStudy& study : studies) {
        sentence += (sentence.empty() ? "" : " ") + serving_sentence(study);
    }
    return render_html({{"format", "treeline-report"},
                        {"version", 1},
                        {"title", "Measured serving rows, predicted"},
                        {"subtitle", "treeline validate"},
                        {"summary", {{"heading", "How far to trust it"}, {"sentence", sentence}}},
                        {"board", board_json(nullptr, studies)}});
}

}  // namespace treeline::reports

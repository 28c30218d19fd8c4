#include "reports/context_note.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {
namespace {

std::string note_on(const sim::Model& target, double tokens) {
    if (!target.max_context || tokens <= static_cast<double>(*target.max_context)) {
        return {};
    }
    return fmt::format(
        "{} is made for {} tokens (max_position_embeddings of its config), and this asks for {}: engines refuse requests "
        "beyond "
        "that unless told to stretch its positions, where it has such (YaRN).",
        target.name, text::grouped_text(*target.max_context), text::grouped_text(static_cast<long long>(std::ceil(tokens))));
}

}  // namespace

std::string context_note(const sweeps::RecommendInput& input) {
    const sweeps::Workload& workload = input.workload;
    if (workload.traffic.points.empty()) {
        return {};
    }
    double longest = sweeps::longest_context_of(workload.traffic);
    for (const sweeps::Variant& variant : workload.variants) {
        longest = std::max(longest, workload.prompt_tokens + variant.setup.output_tokens);
    }
    return note_on(input.target.model, longest);
}

std::string context_note(const sweeps::PointInput& input) {
    return note_on(input.target.model, std::max(input.context, input.prompt_tokens + input.output_tokens));
}

std::string one_by_one_note(const sim::Platform& platform) {
    return platform.accelerator
               ? fmt::format(
                     "{} serves one sequence after the other: the largest batch is what its memory holds, and tokens/s "
                     "do not grow with it.",
                     platform.device.name)
               : "";
}

}  // namespace treeline::reports

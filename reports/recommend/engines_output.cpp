#include "reports/recommend/engines_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/explain.h"
#include "reports/json_rows.h"
#include "reports/objective_text.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/shape_text.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t flags_width = 110;

/// An engine's flags under its name; without flags, the reason.
std::string block_of(const engines::EngineFlags& flags) {
    return flags.engine + "\n" + indented(engines::pasted(flags), "  ") +
           (flags.remark.empty() ? "" : "  " + text::wrapped("Note: " + flags.remark + ".", flags_width - 2, "  ") + "\n");
}

const sweeps::Recommendation* found_by(const EngineAnswer& answer) {
    return answer.answer && answer.answer->result.recommendation ? &*answer.answer->result.recommendation : nullptr;
}

/// Why an engine has no recommendation.
std::string reason_of(const EngineAnswer& answer) {
    if (!answer.problem.empty() || !answer.answer) {
        return answer.problem;
    }
    const std::vector<sweeps::Exclusion>& excluded = answer.answer->result.excluded;
    return excluded.empty() ? "nothing meets the limits"
                            : fmt::format("{}: {}", excluded.front().label, excluded.front().reason);
}

/// What it runs, and where if there is a choice: "EAGLE-3, 3 draft tokens, on 2x h100-sxm", or "plain decoding".
std::string run_text(const sweeps::Recommendation& found) {
    const sweeps::Candidate& best = found.candidates.front();
    const sweeps::VariantLabels& labels = found.variants[best.variant].labels;
    const bool one_place = std::all_of(found.variants.begin(), found.variants.end(),
                                       [&](const sweeps::Variant& variant) { return variant.labels.device == labels.device; });
    const std::string drafts =
        best.draft_tokens == 0 ? "" : ", " + drafted_text(found.speculations, best.speculation, best.draft_tokens);
    return labels.drafter + drafts + (one_place ? "" : ", on " + labels.device);
}

}  // namespace

std::string flags_text(const sweeps::Recommendation& recommendation) {
    const std::optional<engines::EngineFlags> flags = engines::engine_flags(recommendation);
    return flags ? "To run it:\n" + block_of(*flags) + "\n"
                 : text::wrapped(engines::why_no_flags(recommendation), flags_width) + "\n\n";
}

Json flags_json(const engines::EngineFlags& flags) {
    return {{"engine", flags.engine},
            {"flags", flags.text},
            {"file", flags.file},
            {"file_text", flags.file_text},
            {"remark", flags.remark}};
}

std::string engines_table(const std::vector<EngineAnswer>& answers) {
    text::TextTable table({{"Engine", text::Align::left},
                           {"stack", text::Align::left},
                           {"run", text::Align::left},
                           {"gain"},
                           {"tokens/s/device"},
                           {"TPOT"},
                           {"TTFT"},
                           {"memory"}});
    std::string flags, without;
    for (const EngineAnswer& each : answers) {
        const sweeps::Recommendation* found = found_by(each);
        if (found == nullptr) {
            without += text::wrapped(fmt::format("{}: {}.", each.engine, reason_of(each)), flags_width, "  ") + "\n";
            continue;
        }
        const sweeps::Candidate& best = found->candidates.front();
        table.add({each.engine, found->variants[best.variant].labels.stack, run_text(*found), text::ratio_text(best.gain),
                   text::short_text(best.tokens_per_second_device), text_of(best.time_per_token),
                   first_token_text(*found, best), text_of(best.peak_memory)});
        flags += block_of(*engines::engine_flags(*found));
    }
    return table.text() + "Each on its own newest stack; a gain is over the same engine without a drafter.\n" + without +
           "\nTo run it:\n" + flags;
}

Json engines_json(const std::vector<EngineAnswer>& answers) {
    Json json = {{"format", "treeline-engines"}, {"version", 1}, {"engines", Json::array()}};
    for (const EngineAnswer& each : answers) {
        json["engines"].push_back({{"engine", each.engine},
                                   {"answer", each.answer ? recommendation_json(*each.answer, each.input) : Json()},
                                   {"problem", found_by(each) == nullptr ? Json(reason_of(each)) : Json()}});
    }
    return json;
}

std::string engines_csv(const std::vector<EngineAnswer>& answers) {
    Json rows = Json::array();
    for (const EngineAnswer& each : answers) {
        Json row = {{"engine", each.engine}};
        if (const sweeps::Recommendation* found = found_by(each)) {
            const sweeps::Candidate& best = found->candidates.front();
            const sweeps::VariantLabels& labels = found->variants[best.variant].labels;
            row.update({{"stack", labels.stack},
                        {"drafter", labels.drafter},
                        {"draft_tokens", best.draft_tokens},
                        {"gain", best.gain},
                        {"tokens_per_s_device", best.tokens_per_second_device},
                        {"tpot_ms", text::to_ms * best.time_per_token.value()},
                        {"ttft_ms", found->saturation ? Json() : Json(text::to_ms * best.time_to_first_token.value())},
                        {"memory_gb", 1e-9 * best.peak_memory.value()}});
        }
        row["problem"] = found_by(each) == nullptr ? reason_of(each) : "";
        rows.push_back(std::move(row));
    }
    return csv_of({"engine", "stack", "drafter", "draft_tokens", "gain", "tokens_per_s_device", "tpot_ms", "ttft_ms",
                   "memory_gb", "problem"},
                  rows);
}

const EngineAnswer& best_engine(const std::vector<EngineAnswer>& answers) {
    const EngineAnswer* best = nullptr;
    for (const EngineAnswer& each : answers) {
        const sweeps::Recommendation* found = found_by(each);
        const sweeps::Recommendation* before = best == nullptr ? nullptr : found_by(*best);
        if (best == nullptr ? each.answer.has_value()
                            : found != nullptr && (before == nullptr || found->candidates.front().objective <
                                                                            before->candidates.front().objective)) {
            best = &each;
        }
    }
    return *best;
}

std::vector<engines::EngineFlags> flags_of_others(const std::vector<EngineAnswer>& answers, const EngineAnswer& best) {
    std::vector<engines::EngineFlags> all;
    for (const EngineAnswer& each : answers) {
        const sweeps::Recommendation* found = found_by(each);
        if (&each == &best || found == nullptr) {
            continue;
        }
        engines::EngineFlags flags = *engines::engine_flags(*found);
        const sweeps::Candidate& own = found->candidates.front();
        flags.remark =
            fmt::format("priced on the stack {}: {} over it without a drafter, {} tokens/s/device{}{}",
                        found->variants[own.variant].labels.stack, text::ratio_text(own.gain),
                        text::short_text(own.tokens_per_second_device), flags.remark.empty() ? "" : "; ", flags.remark);
        all.push_back(std::move(flags));
    }
    return all;
}

}  // namespace treeline::reports

#include "reports/recommend/engines_output.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "reports/explain.h"
#include "reports/json_rows.h"
#include "reports/objective_text.h"
#include "reports/recommend/load_notes.h"
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

/// The answers in their order, but for those that serve less of the load, which are below those that serve more.
std::vector<const EngineAnswer*> by_load_served(const std::vector<EngineAnswer>& answers) {
    std::vector<const EngineAnswer*> all;
    for (const EngineAnswer& each : answers) {
        all.push_back(&each);
    }
    const auto served = [](const EngineAnswer* each) { return found_by(*each) ? served_share(*found_by(*each)) : 0.0; };
    std::stable_sort(all.begin(), all.end(),
                     [&](const EngineAnswer* a, const EngineAnswer* b) { return served(a) > served(b); });
    return all;
}

/// What of the load each engine serves otherwise than it was asked, a paragraph for each note.
std::string notes_on_loads(const std::vector<const EngineAnswer*>& answers) {
    std::string text;
    for (const EngineAnswer* each : answers) {
        if (const sweeps::Recommendation* found = found_by(*each)) {
            for (const std::string& note : load_notes(*found, each->answer->input.workload.traffic.kind)) {
                text += text::wrapped(fmt::format("{}: {}", each->engine, note), flags_width, "  ") + "\n";
            }
        }
    }
    return text;
}

/// The rate at which a server's figures are, where the largest one is asked for.
Json rate_json(const sweeps::Recommendation& found) {
    const double rate = found.candidates.front().requests_per_second;
    return rate > 0.0 ? Json(rate) : Json();
}

/// A column or a cell of it, where the column is shown.
template <class Item>
void add_if(bool shown, std::vector<Item>& items, Item item) {
    if (shown) {
        items.push_back(std::move(item));
    }
}

/// Nothing where plain decoding serves no rate.
std::string gain_cell(const sweeps::Candidate& best) { return std::isfinite(best.gain) ? text::ratio_text(best.gain) : ""; }

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
    const std::vector<const EngineAnswer*> ordered = by_load_served(answers);
    const auto any = [&](auto holds) {
        return std::any_of(ordered.begin(), ordered.end(),
                           [&](const EngineAnswer* each) { return found_by(*each) != nullptr && holds(*found_by(*each)); });
    };
    const bool rates = any([](const sweeps::Recommendation& found) { return found.most_rate.has_value(); });
    const bool parts = any([](const sweeps::Recommendation& found) { return served_share(found) < 1.0; });
    std::vector<text::Column> columns = {
        {"Engine", text::Align::left}, {"stack", text::Align::left}, {"run", text::Align::left}};
    add_if(parts, columns, {"load served"});
    add_if(rates, columns, {"requests/s"});
    columns.insert(columns.end(), {{"gain"}, {"tokens/s/device"}, {"TPOT"}, {"TTFT"}, {"memory"}});
    text::TextTable table(columns);
    std::string flags, without;
    for (const EngineAnswer* each : ordered) {
        const sweeps::Recommendation* found = found_by(*each);
        if (found == nullptr) {
            without += text::wrapped(fmt::format("{}: {}.", each->engine, reason_of(*each)), flags_width, "  ") + "\n";
            continue;
        }
        const sweeps::Candidate& best = found->candidates.front();
        std::vector<std::string> cells = {each->engine, found->variants[best.variant].labels.stack, run_text(*found)};
        add_if(parts, cells, text::percent_text(served_share(*found)));
        add_if(rates, cells, text::short_text_below(best.requests_per_second));
        cells.insert(cells.end(), {gain_cell(best), text::short_text(best.tokens_per_second_device),
                                   text_of(best.time_per_token), first_token_text(*found, best), text_of(best.peak_memory)});
        table.add(std::move(cells));
        flags += block_of(*engines::engine_flags(*found));
    }
    return table.text() + "Each on the stack beside it; a gain is over the same engine without a drafter.\n" +
           notes_on_loads(ordered) + without + "\nTo run it:\n" + flags;
}

Json engines_json(const std::vector<EngineAnswer>& answers) {
    Json json = {{"format", "treeline-engines"}, {"version", 1}, {"engines", Json::array()}};
    for (const EngineAnswer* each : by_load_served(answers)) {
        const sweeps::Recommendation* found = found_by(*each);
        json["engines"].push_back({{"engine", each->engine},
                                   {"load_served", found != nullptr ? Json(served_share(*found)) : Json()},
                                   {"requests_per_s", found != nullptr ? rate_json(*found) : Json()},
                                   {"answer", each->answer ? recommendation_json(*each->answer, each->input) : Json()},
                                   {"problem", found == nullptr ? Json(reason_of(*each)) : Json()}});
    }
    return json;
}

std::string engines_csv(const std::vector<EngineAnswer>& answers) {
    Json rows = Json::array();
    for (const EngineAnswer* each : by_load_served(answers)) {
        Json row = {{"engine", each->engine}};
        if (const sweeps::Recommendation* found = found_by(*each)) {
            const sweeps::Candidate& best = found->candidates.front();
            const sweeps::VariantLabels& labels = found->variants[best.variant].labels;
            row.update({{"stack", labels.stack},
                        {"drafter", labels.drafter},
                        {"draft_tokens", best.draft_tokens},
                        {"load_served", served_share(*found)},
                        {"requests_per_s", rate_json(*found)},
                        {"gain", std::isfinite(best.gain) ? Json(best.gain) : Json()},
                        {"tokens_per_s_device", best.tokens_per_second_device},
                        {"tpot_ms", text::to_ms * best.time_per_token.value()},
                        {"ttft_ms", found->saturation ? Json() : Json(text::to_ms * best.time_to_first_token.value())},
                        {"memory_gb", 1e-9 * best.peak_memory.value()}});
        }
        row["problem"] = found_by(*each) == nullptr ? reason_of(*each) : "";
        rows.push_back(std::move(row));
    }
    return csv_of({"engine", "stack", "drafter", "draft_tokens", "load_served", "requests_per_s", "gain", "tokens_per_s_device",
                   "tpot_ms", "ttft_ms", "memory_gb", "problem"},
                  rows);
}

const EngineAnswer& best_engine(const std::vector<EngineAnswer>& answers) {
    const EngineAnswer* best = nullptr;
    const auto rank = [](const sweeps::Recommendation& found) {
        return std::pair(-served_share(found), found.candidates.front().objective);
    };
    for (const EngineAnswer& each : answers) {
        const sweeps::Recommendation* found = found_by(each);
        const sweeps::Recommendation* before = best == nullptr ? nullptr : found_by(*best);
        if (best == nullptr ? each.answer.has_value()
                            : found != nullptr && (before == nullptr || rank(*found) < rank(*before))) {
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

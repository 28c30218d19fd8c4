#include "reports/recommend/recommendation_output.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/context_note.h"
#include "reports/objective_text.h"
#include "reports/provenance_output.h"
#include "reports/recommend/load_notes.h"
#include "reports/recommend/report_accelerators.h"
#include "reports/recommend/report_studies.h"
#include "reports/recommend/untrained.h"
#include "reports/report_data.h"
#include "reports/trust_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// For each variant, the source of its drafter's acceptance; nothing where it has none.
std::vector<AcceptanceNote> acceptance_notes(const sweeps::RecommendInput& input) {
    std::vector<AcceptanceNote> notes;
    for (const sweeps::Variant& variant : input.workload.variants) {
        if (!variant.origin.drafter) {
            notes.emplace_back();
            continue;
        }
        const sweeps::DrafterChoice& drafter = input.drafters.at(*variant.origin.drafter);
        notes.push_back({drafter.acceptance_text, drafter.acceptance_source});
    }
    return notes;
}

std::vector<std::string> notes_of(const sweeps::RecommendInput& input) {
    std::vector<std::string> notes;
    if (!input.source.empty()) {
        notes.push_back(input.source + ".");
    }
    for (const sweeps::DrafterChoice& drafter : input.drafters) {
        const std::string source =
            drafter.acceptance_source.empty() ? "the workload names no source" : drafter.acceptance_source;
        notes.push_back(fmt::format("Acceptance of {}: {} ({}).", drafter.label, drafter.acceptance_text, source));
    }
    if (std::string note = context_note(input); !note.empty()) {
        notes.push_back(std::move(note));
    }
    for (const std::string& note : input.notes) {
        notes.push_back(note + ".");
    }
    notes.insert(notes.end(), input.target.model.notes.begin(), input.target.model.notes.end());
    return notes;
}

/// If nothing meets the limits, the page still says why.
Json reasons_only(const sweeps::Answer& answer) {
    Json data = {{"format", "treeline-report"}, {"version", 1}, {"title", answer.input.title}};
    data["summary"] = {{"sentence", on_a_page(sentence_of(answer))}};
    data["excluded"] = Json::array();
    for (const sweeps::Exclusion& exclusion : answer.result.excluded) {
        data["excluded"].push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    data["inputs"] = provenance_json(answer.input.provenance);
    data["notes"] = notes_of(answer.input);
    return data;
}

}  // namespace

Json report_page_data(const sweeps::Answer& answer, const std::vector<engines::EngineFlags>& others, PageStudies studies) {
    if (!answer.result.recommendation) {
        return reasons_only(answer);
    }
    std::vector<FigureSection> sections = accelerator_sections(answer);
    if (studies == PageStudies::all) {
        for (FigureSection& study : study_sections(answer)) {
            sections.push_back(std::move(study));
        }
    }
    std::vector<std::string> notes = load_notes(*answer.result.recommendation, answer.input.workload.traffic.kind);
    if (std::string note = untrained_note(*answer.result.recommendation); !note.empty()) {
        notes.push_back(std::move(note));
    }
    const std::vector<std::string> of_input = notes_of(answer.input);
    notes.insert(notes.end(), of_input.begin(), of_input.end());
    Json data = report_data({on_a_page(sentence_of(answer)), answer.input.workload, *answer.result.recommendation,
                             answer.input.provenance, acceptance_notes(answer.input), std::move(sections), std::move(notes),
                             others, answer.trust ? &*answer.trust : nullptr, shown_plain_time(answer)});
    if (const std::string note = in_service_text(answer); !note.empty() && answer.result.recommendation->speculate) {
        const std::string said = data["schedule_sentence"];
        data["schedule_sentence"] = said.empty() ? note : said + " " + note;
    }
    if (!answer.result.recommendation->speculate) {  // plain decoding gains 1 whatever moves
        std::string sentence = answer.rejected ? rejected_text(*answer.rejected) + " " : "";
        sentence += plain_time_text(answer);
        data["uncertainty"] = sentence.empty() ? Json() : Json{{"sentence", sentence}};
    }
    return data;
}

}  // namespace treeline::reports

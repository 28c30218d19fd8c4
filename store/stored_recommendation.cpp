#include "store/stored_recommendation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engines/priced_engine.h"
#include "json/parse.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/sweep/sweep_output.h"
#include "store/fingerprint.h"
#include "sweeps/recommend_answer.h"
#include "text/input_error.h"
#include "text/status_line.h"

namespace treeline::store {
namespace {

using RecommendJson = nlohmann::ordered_json;

constexpr std::size_t most_rows = 100;  ///< candidates that are kept as rows, best first

/// The points of the traffic as a design space, for fingerprints.
sweeps::DesignSpace space_of(const sweeps::Workload& workload) {
    sweeps::DesignSpace space;
    space.variants = workload.variants;
    space.speculations = workload.speculations;
    for (std::size_t i = 0; i < workload.speculations.size(); ++i) {
        space.speculation.push_back(static_cast<int>(i));
    }
    for (const sweeps::TrafficPoint& point : workload.traffic.points) {
        space.batch.push_back(point.load);
        space.context.push_back(point.context);
    }
    return space;
}

/// What a list of stored answers calls it: its own title, or model and platform ("Speculative decoding of qwen3-8b on h200,
/// vllm-0.26"); of more than two platforms their number.
std::string title_of(const requests::WorkloadSource& source) {
    constexpr std::size_t most = 2;
    if (source.raw.contains("title")) {
        return source.input.title;
    }
    std::vector<std::string> platforms;
    for (const sweeps::Variant& variant : source.input.workload.variants) {
        const std::string label = sweeps::label_of(variant.setup.platform);
        if (std::find(platforms.begin(), platforms.end(), label) == platforms.end()) {
            platforms.push_back(label);
        }
    }
    return fmt::format("{} on {}", source.input.title,
                       platforms.size() <= most ? fmt::format("{}", fmt::join(platforms, " and "))
                                                : fmt::format("{} platforms", platforms.size()));
}

Question question_of(const RecommendRequest& request, const requests::Catalogue& catalogue) {
    const requests::WorkloadSource& source = request.source;
    const RecommendJson flags = RecommendJson::object({{"command", "recommend"}});
    return {title_of(source),
            source.raw.dump(),
            source.folder.empty() ? "" : std::filesystem::absolute(source.folder).string(),
            flags.dump(),
            TREELINE_VERSION,
            catalogue_hash(catalogue),
            fingerprint_of(source.input.provenance, space_of(source.input.workload)),
            {}};
}

struct Figure {
    std::string name;
    Cell cell;
};

Cell number(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

/// Its means over the traffic under the names of a sweep's columns, and what only a recommendation has.
std::vector<Figure> figures_of(const sweeps::Candidate& candidate) {
    const auto known = [](double value) { return value > 0.0 ? number(value) : Cell(); };
    return {{"draft_tokens", number(candidate.draft_tokens)},
            {"speedup", number(candidate.speedup)},
            {"accept_length", number(candidate.accept_length)},
            {"tpot_ms", number(1e3 * candidate.time_per_token.value())},
            {"tokens_per_s_user", number(candidate.tokens_per_second_user)},
            {"tokens_per_s_device", number(candidate.tokens_per_second_device)},
            {"memory_gb", number(1e-9 * candidate.peak_memory.value())},
            {"energy_j_per_token", known(candidate.energy_per_token.value())},
            {"usd_per_million_tokens", known(1e6 * candidate.price_per_token.value())},
            {"ttft_ms", candidate.overrun ? Cell() : known(1e3 * candidate.time_to_first_token.value())},
            {"gain", number(candidate.gain)},
            {"regret", number(candidate.regret)}};
}

std::vector<std::string> columns_of_candidates() {
    std::vector<std::string> names = reports::sweep_titles();
    names.resize(reports::sweep_labels(sweeps::Variant{}).size() + reports::sweep_labels(sim::Speculation{}).size());
    for (const Figure& figure : figures_of({})) {
        names.push_back(figure.name);
    }
    return names;
}

std::vector<StoredRow> rows_of_candidates(const sweeps::Recommendation& found) {
    std::vector<StoredRow> rows;
    for (std::size_t i = 0; i < std::min(most_rows, found.candidates.size()); ++i) {
        const sweeps::Candidate& candidate = found.candidates[i];
        Row cells;
        for (const std::string& label : reports::sweep_labels(found.variants[candidate.variant])) {
            cells.emplace_back(label);
        }
        for (const std::string& label :
             reports::sweep_labels(found.speculations[static_cast<std::size_t>(candidate.speculation)])) {
            cells.emplace_back(label);
        }
        for (Figure& figure : figures_of(candidate)) {
            cells.push_back(std::move(figure.cell));
        }
        rows.push_back({"candidates", static_cast<std::int64_t>(i) + 1, std::move(cells)});
    }
    return rows;
}

}  // namespace

RecommendRequest recommend_request(requests::WorkloadSource source, const requests::Catalogue& catalogue) {
    RecommendRequest request{std::move(source), {}};
    request.question = question_of(request, catalogue);
    return request;
}

RecommendRequest recommend_request(const Question& stored, const requests::Catalogue& catalogue) {
    return recommend_request(requests::read_workload_text(stored.input, stored.title, stored.folder, catalogue), catalogue);
}

bool is_recommendation(const Question& question) {
    const auto flags = json::parse_foreign<RecommendJson>(question.flags);
    return flags && flags->is_object() && flags->contains("command") && flags->at("command") == "recommend";
}

StoredRecommendation answer_from(Store& store, const RecommendRequest& request, unsigned threads) {
    const StoredRun stored = store.claim(request.question, 1);
    StoredRecommendation result;
    result.run = stored.id;
    if (stored.finished) {
        store.release(stored.id);
        const auto texts = json::parse_foreign<RecommendJson>(stored.state.kept);
        for (const auto& [key, text] : {std::pair{"table", &result.table}, std::pair{"csv", &result.csv}}) {
            if (!texts || !texts->is_object() || !texts->contains(key) || !texts->at(key).is_string()) {
                throw text::InputError({fmt::format("run {} of the store cannot be read: its answer is damaged", stored.id)});
            }
            *text = texts->at(key).get<std::string>();
        }
        result.json = stored.summary;
        result.was_known = true;
        return result;
    }
    const sweeps::Answer answer = engines::answer(request.source.input, threads);
    result.table = reports::recommendation_table(answer);
    result.csv = reports::recommendation_csv(answer);
    result.json = reports::recommendation_json(answer, request.source.raw).dump(2) + "\n";
    const auto& found = answer.result.recommendation;
    const RecommendJson texts = {{"table", result.table}, {"csv", result.csv}};
    store.finish(stored.id, {1, texts.dump()}, found ? static_cast<std::int64_t>(found->candidates.size()) : 0, result.json,
                 columns_of_candidates(), found ? rows_of_candidates(*found) : std::vector<StoredRow>());
    return result;
}

std::string recommendation_text(const std::string& file, requests::WorkloadSource source, const std::string& exported,
                                const std::string& format, const requests::Catalogue& catalogue) {
    if (!exported.empty()) {
        throw text::InputError({"--export writes a file for an engine, which a store does not keep; give it without --store"});
    }
    Store store(file, Access::write);
    StoredRecommendation answer = answer_from(store, recommend_request(std::move(source), catalogue), 0);
    text::say(fmt::format("treeline: {} {} as run {}", answer.was_known ? "answered from" : "kept in", file, answer.run));
    return std::move(format == "json" ? answer.json : format == "csv" ? answer.csv : answer.table);
}

}  // namespace treeline::store

#include "requests/fit/served_point.h"

#include <nlohmann/json.hpp>

#include "requests/setup_reader.h"
#include "runs/counts.h"

namespace treeline::requests {
namespace {

/// Share of drafts assumed accepted if a round was measured without its accept length: only the rollback depends on it.
constexpr double assumed_share_accepted = 0.5;

/// A look-up's drafter drafts in a share of the rounds, over which its acceptance counts (docs/inputs.md, `hit_rate`): what all
/// rounds yield, over those; as it is where nothing tells the share, and of other drafters.
double over_drafts(double length, const calibrate::ServingRow& row, nlohmann::ordered_json& drafter) {
    const auto word = [&](const char* key) {
        const auto found = drafter.find(key);
        return found != drafter.end() && found->is_string() ? kind_of_word(found->get<std::string>()) : std::string();
    };
    const std::string kind = word("kind").empty() ? word("published") : word("kind");
    const bool looks_up = kind == "ngram" || kind == "suffix" || kind == "token-recycling";
    if (!looks_up || row.hit_rate >= 1.0) {
        return length;
    }
    if (!drafter.contains("hit_rate")) {
        drafter["hit_rate"] = row.hit_rate;
    }
    return runs::length_over_drafts(length, row.hit_rate, row.draft_tokens);
}

nlohmann::ordered_json served_json(const calibrate::ServingRow& row, nlohmann::ordered_json point) {
    for (const char* load : {"concurrency", "arrival_rate"}) {
        point.erase(load);
    }
    point["batch"] = row.batch;
    if (row.context) {
        point["context"] = *row.context;
    }
    if (row.draft_tokens == 0) {
        point["draft_tokens"] = 0;
        point.erase("drafter");
        return point;
    }
    const bool tree = !row.shape.empty();
    const double length = row.accept_length.value_or(1.0 + assumed_share_accepted * (tree ? row.depth : row.draft_tokens));
    if (point["drafter"].is_string()) {
        point["drafter"] = drafter_of_flag(point["drafter"].get<std::string>());
    }
    const double over = over_drafts(length, row, point["drafter"]);
    nlohmann::ordered_json& acceptance = point["drafter"]["acceptance"];
    if (tree) {
        point.erase("draft_tokens");
        point["shape"] = row.shape;
        acceptance = {{"geometric", assumed_share_accepted}, {"measured", {{{"shape", row.shape}, {"accept_length", length}}}}};
    } else {
        point["draft_tokens"] = row.draft_tokens;
        acceptance = {{"mean_length", over}, {"draft_tokens", row.draft_tokens}};
    }
    return point;
}

}  // namespace

sweeps::PointInput read_served(const calibrate::ServingRow& row, const nlohmann::ordered_json& point,
                               Descriptions& descriptions) {
    json::Document document = json::Document::of(served_json(row, point), "flags");
    return read_point(document, descriptions);
}

calibrate::MeasuredStep measured_step(const calibrate::ServingRow& row, const sweeps::PointInput& input) {
    calibrate::MeasuredStep fastest;
    Seconds least(sim::unlimited);
    for (const sim::Rollback rollback : sweeps::policies_to_try(input)) {
        const sim::RoundSetup setup = setup_of(input, rollback);
        if (!problems_of(setup).empty()) {
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(setup);
        for (int choice = input.speculates() ? 1 : 0; round.runs(choice); ++choice) {
            const sim::DesignPoint point{choice, input.batch, input.context};
            if (const Seconds time = sim::evaluate(round, point).round; time < least) {
                least = time;
                fastest = {setup, point, row.round};
            }
        }
    }
    return fastest;
}

}  // namespace treeline::requests

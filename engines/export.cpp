#include "engines/export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engines/capabilities.h"
#include "engines/check_commands.h"
#include "engines/checkpoints.h"
#include "engines/engine.h"
#include "engines/flag_plan.h"
#include "engines/priced_engine.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;

/// Requests and verified tokens at which a cost table is written.
constexpr double most_requests = 256.0;
constexpr int sweeps_of_fit = 200;

struct ExportInput {
    const sweeps::Recommendation& recommendation;
    const sweeps::Workload& workload;
    const sweeps::Candidate& best;
    const sweeps::Variant& variant;
    sim::CompiledRound round;
    double context = 0.0;  ///< mean over the traffic

    [[nodiscard]] bool chain(int speculation) const {
        return round.runs(speculation) && sim::is_chain(variant.setup.speculations[static_cast<std::size_t>(speculation)]);
    }
    /// The most that the recommended server may draft, for whose states its sequences keep room.
    [[nodiscard]] int longest() const {
        int most = best.draft_tokens;
        for (const sweeps::ScheduleEntry& entry : recommendation.schedule.entries) {
            most = std::max(most, entry.draft_tokens);
        }
        return most;
    }
    /// The chain of so many draft tokens, or of the most there are.
    [[nodiscard]] std::map<int, int> chains() const {
        std::map<int, int> by_length;
        for (int i = 0; i < static_cast<int>(round.rows.size()); ++i) {
            if (chain(i)) {
                by_length.emplace(static_cast<int>(round.row(i).draft_tokens), i);
            }
        }
        return by_length;
    }
};

/// Without the prompts of other requests, which engines account for themselves.
double step_seconds(const ExportInput& input, int speculation, double batch) {
    const sim::RoundEstimate estimate = sim::evaluate(input.round, {speculation, batch, input.context});
    return (estimate.round - estimate.prompts).value();
}

double largest_batch_that_fits(const ExportInput& input, int speculation) {
    double batch = 1.0;
    while (batch < most_requests && sim::evaluate(input.round, {speculation, 2.0 * batch, input.context}).fits) {
        batch *= 2.0;
    }
    return batch;
}

/// Where the middle between contexts lies, geometrically.
std::vector<int> context_bounds(const std::vector<double>& contexts) {
    std::vector<int> bounds;
    for (std::size_t i = 1; i < contexts.size(); ++i) {
        bounds.push_back(static_cast<int>(std::lround(std::sqrt(std::max(1.0, contexts[i - 1]) * contexts[i]))));
    }
    return bounds;
}

Exported batch_and_context(const ExportInput& input) {
    std::set<double> distinct;
    for (const sweeps::TrafficPoint& point : input.workload.traffic.points) {
        distinct.insert(point.context);
    }
    const std::vector<double> contexts(distinct.begin(), distinct.end());
    std::vector<int> speculations;
    for (const auto& [length, speculation] : input.chains()) {
        if (length <= input.longest() || !sweeps::keeps_states(input.round, speculation)) {
            speculations.push_back(speculation);
        }
    }
    std::vector<std::vector<PlannedLength>> lengths;
    std::set<int> starts = {1};
    int largest = 1;
    for (const double context : contexts) {
        sweeps::Workload at_context = input.workload;
        for (sweeps::TrafficPoint& point : at_context.traffic.points) {
            point.context = context;
        }
        lengths.push_back(
            lengths_of(sweeps::schedule_for(input.round, speculations, at_context, static_cast<int>(most_requests) * 2)));
        for (const PlannedLength& length : lengths.back()) {
            starts.insert(length.from);
            largest = std::max(largest, length.to);
        }
    }
    const std::vector<int> bounds = context_bounds(contexts), from(starts.begin(), starts.end());
    Json ranges = Json::array();
    int longest = 0;
    for (std::size_t b = 0; b < from.size(); ++b) {
        for (std::size_t c = 0; c < contexts.size(); ++c) {
            int drafts = lengths[c].empty() ? 0 : lengths[c].back().draft_tokens;
            for (const PlannedLength& length : lengths[c]) {
                drafts = from[b] >= length.from && from[b] <= length.to ? length.draft_tokens : drafts;
            }
            longest = std::max(longest, drafts);
            ranges.push_back({from[b], b + 1 < from.size() ? from[b + 1] - 1 : largest, c == 0 ? 1 : bounds[c - 1] + 1,
                              c + 1 < contexts.size() ? Json(bounds[c]) : Json(1'000'000), drafts});
        }
    }
    const Engine engine = find_engine("vllm");
    const EngineDrafter* drafter = engine.drafter(kind_of(input.variant.setup.drafter));
    if (drafter == nullptr) {
        throw text::InputError({"--export vllm-batch-context: vLLM does not run this drafter"});
    }
    Json config = {{"method", drafter->word}};
    if (drafter->needs_path) {
        config["model"] = checkpoints_of(input.variant, engine).drafter;
    }
    config["num_speculative_tokens"] = std::max(1, longest);
    config["num_speculative_tokens_per_batch_size"] = ranges;
    const std::string runner = schedule_problem(engine, input.variant.setup);
    return {config.dump() + "\n",
            "entries are [batch from, to, context from, to, draft tokens]; only vLLM with pull request 48944 reads them, "
            "released versions "
            "take three items (treeline recommend --engine vllm)" +
                (runner.empty() ? "" : "; " + runner)};
}

/// Steps per second of the recommended length, by tokens of the batch: SGLang takes the entry at or below.
Exported steps_per_second(const ExportInput& input) {
    Json tokens = Json::array(), steps = Json::array();
    const double width = input.round.row(input.best.speculation).draft_tokens + 1.0;
    const double largest = largest_batch_that_fits(input, input.best.speculation);
    for (double batch = 1.0; batch <= largest; batch *= 2.0) {
        tokens.push_back(static_cast<int>(batch * width));
        steps.push_back(text::rounded(1.0 / step_seconds(input, input.best.speculation, batch), 4));
    }
    return {
        Json{{"sample_batch_tokens", tokens}, {"sample_steps_per_sec", steps}, {"max_batch_tokens", tokens.back()}}.dump() +
            "\n",
        "for --speculative-dspark-sps-table-path of SGLang 0.5.23 or later; batch tokens are requests times verified tokens"};
}

/// step = bias + α(requests) + θ(requests + budget), fitted by turns to chains of all lengths at batches of powers of two.
Exported steps_as_model(const ExportInput& input) {
    std::map<double, double> alpha, theta;
    struct Cell {
        double requests, tokens, seconds;
    };
    std::vector<Cell> cells;
    const std::map<int, int> chains = input.chains();
    const double largest = largest_batch_that_fits(input, chains.rbegin()->second);
    for (double batch = 1.0; batch <= largest; batch *= 2.0) {
        for (const auto& [length, speculation] : chains) {
            if ((length & (length + 1)) == 0) {  // 1, 2, 4, 8 verified tokens, so that sums meet
                cells.push_back({batch, batch * (length + 1.0), step_seconds(input, speculation, batch)});
                alpha[batch] = theta[cells.back().tokens] = 0.0;
            }
        }
    }
    double bias = cells.front().seconds;
    for (int sweep = 0; sweep < sweeps_of_fit; ++sweep) {
        for (const bool of_requests : {true, false}) {
            std::map<double, std::pair<double, double>> sums;
            for (const Cell& cell : cells) {
                auto& [sum, count] = sums[of_requests ? cell.requests : cell.tokens];
                sum += cell.seconds - bias - (of_requests ? theta[cell.tokens] : alpha[cell.requests]);
                count += 1.0;
            }
            double before = 0.0;
            for (auto& [probe, value] : of_requests ? alpha : theta) {  // costs rise, from 0
                before = value = std::max(before, probe == sums.begin()->first ? 0.0 : sums[probe].first / sums[probe].second);
            }
        }
    }
    double worst = 0.0;
    for (const Cell& cell : cells) {
        worst = std::max(worst, std::abs((bias + alpha[cell.requests] + theta[cell.tokens]) / cell.seconds - 1.0));
    }
    Json json = {{"bias_seconds", text::rounded(bias, 5)}};
    for (const auto& [name, values, costs] :
         {std::tuple{"bs_probes", &alpha, "alpha_seconds"}, std::tuple{"m_probes", &theta, "theta_seconds"}}) {
        for (const auto& [probe, value] : *values) {
            json[name].push_back(static_cast<int>(probe));
            json[costs].push_back(text::rounded(value, 5));
        }
    }
    return {json.dump() + "\n", fmt::format("for --speculative-dspark-sps-table-path of SGLang 0.5.23 or later; the sum of "
                                            "both terms is within {:.0f} % of the "
                                            "predicted steps",
                                            100.0 * worst)};
}

constexpr int most_of_aisimulate = 5;  ///< draft tokens

/// P(draft i is accepted | those before it were), of as many drafts as are recommended.
std::string conditional_rates(const ExportInput& input) {
    const sim::Acceptance& chain = input.variant.setup.acceptance.chain;
    std::vector<std::string> rates;
    for (int i = 1; i <= input.best.draft_tokens; ++i) {
        const double before = i > 1 ? chain.position(i - 1) : 1.0;
        rates.push_back(text::short_text(before > 0.0 ? std::min(1.0, chain.position(i) / before) : 0.0));
    }
    return fmt::format("[{}]", fmt::join(rates, ", "));
}

/// MTP and look-ups are kinds of engine.speculation; what else drafts goes through engine.nextn.
Exported for_aisimulate(const ExportInput& input) {
    const DrafterKind kind = kind_of(input.variant.setup.drafter);
    const int drafts = input.best.draft_tokens;
    if (drafts > most_of_aisimulate) {
        throw text::InputError(
            {fmt::format("--export aisimulate: {} draft tokens are recommended, and AISimulate takes 1 to {}; "
                         "recommend among those with --draft-tokens 1-{}",
                         drafts, most_of_aisimulate, most_of_aisimulate)});
    }
    const std::string accepted = text::short_text(input.best.accept_length - 1.0);
    if (kind == DrafterKind::ngram) {
        return {
            fmt::format("engine:\n  speculation:\n    kind: ngram\n    num_speculative_tokens: {}\n    acceptance_rates: {}\n",
                        drafts, conditional_rates(input)),
            "each rate is that of a draft token whose predecessors were accepted; AISimulate drafts in every round and takes "
            "look-ups with vLLM only (docs/replay/engine/speculation.md)"};
    }
    if (kind == DrafterKind::mtp) {
        return {
            fmt::format(
                "engine:\n  speculation:\n    kind: mtp\n    num_speculative_tokens: {}\n    expected_accepted_tokens: {}\n",
                drafts, accepted),
            "expected_accepted_tokens leaves the base token out (docs/agentx-mtp.md of AISimulate); outside of agentic "
            "traffic the same are engine.nextn and engine.nextn_accepted"};
    }
    if (kind == DrafterKind::other || kind == DrafterKind::suffix || kind == DrafterKind::lookup_then_eagle3) {
        throw text::InputError({fmt::format("--export aisimulate: AISimulate has no {}",
                                            kind == DrafterKind::other ? "drafter of this kind" : name_of(kind))});
    }
    return {fmt::format("engine:\n  nextn: {}\n  nextn_accepted: {}\n", drafts, accepted),
            "nextn_accepted leaves the base token out; AISimulate prices the drafter as a head of the target "
            "(docs/replay/engine/speculation.md)"};
}

/// Commands that measure what the recommendation promises at each batch of the traffic, with and without the drafter.
}  // namespace

namespace {

/// Refuses times for one engine that are another's.
void check_priced_engine(ExportKind kind, const sim::Platform& platform) {
    const bool for_sglang = kind == ExportKind::sglang_sps || kind == ExportKind::sglang_sps_model;
    if (!for_sglang && kind != ExportKind::vllm_batch_context) {
        return;
    }
    const std::optional<Engine> priced = priced_engine(platform);
    if (priced && priced->name != (for_sglang ? EngineName::sglang : EngineName::vllm)) {
        throw text::InputError({fmt::format("--export {}: the times are those of {}; --engine {} prices its own", name_of(kind),
                                            priced->label(), for_sglang ? "sglang" : "vllm")});
    }
}

Exported exported(ExportKind kind, const ExportInput& input) {
    switch (kind) {
        case ExportKind::vllm_batch_context:
            return batch_and_context(input);
        case ExportKind::sglang_sps:
            return steps_per_second(input);
        case ExportKind::sglang_sps_model:
            return steps_as_model(input);
        case ExportKind::aisimulate:
            return for_aisimulate(input);
        case ExportKind::check_vllm:
        case ExportKind::check_guidellm:
        case ExportKind::check_aiperf:
            break;
    }
    return check_commands(kind, {input.recommendation, input.workload, input.context});
}

}  // namespace

Exported export_recommendation(ExportKind kind, const sweeps::Recommendation& recommendation,
                               const sweeps::Workload& workload) {
    const sweeps::Candidate& best = recommendation.candidates.front();
    const sweeps::Variant& variant = recommendation.variants[best.variant];
    if (!recommendation.speculate || variant.setup.platform.accelerator ||
        !sim::is_chain(recommendation.speculations[static_cast<std::size_t>(best.speculation)])) {
        throw text::InputError(
            {fmt::format("--export {}: needs a recommendation that drafts chains on a GPU, and this one {}", name_of(kind),
                         recommendation.speculate ? "drafts otherwise" : "does not speculate")});
    }
    check_priced_engine(kind, variant.setup.platform);
    sweeps::Workload served = workload;  // without the loads that nobody serves
    if (!recommendation.traffic.points.empty()) {
        served.traffic = recommendation.traffic;
    }
    served.limits = sweeps::limits_for(recommendation, best.variant);
    ExportInput input{recommendation, served, best, variant, sim::compile_round(variant.setup)};
    for (const sweeps::TrafficPoint& point : served.traffic.points) {
        input.context += point.context * point.share;
    }
    return exported(kind, input);
}

}  // namespace treeline::engines

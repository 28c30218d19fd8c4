#include "requests/adaptive/measured_rates.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/adaptive_keys.h"

namespace treeline::requests {
namespace {

using RatesByLength = std::map<int, std::vector<double>>;

std::vector<double> read_rates(json::Reader& at, std::size_t batches) {
    std::vector<double> rates = read(at, measured_rate_keys::tokens_per_second);
    if (!rates.empty() && rates.size() != batches) {
        at.problem(measured_rate_keys::tokens_per_second, fmt::format("has {} rates for {} batches", rates.size(), batches));
        rates.clear();
    }
    return rates;
}

RatesByLength read_lengths(json::Reader& at, std::size_t batches) {
    RatesByLength rates;
    for (json::Reader& element : at.objects(measured_policies_keys::lengths)) {
        const auto length = read<int>(element, measured_rate_keys::draft_tokens);
        std::vector<double> found = read_rates(element, batches);
        element.finish();
        if (!rates.emplace(length, std::move(found)).second) {
            element.problem(measured_rate_keys::draft_tokens, fmt::format("is {} twice", length));
        }
    }
    if (!rates.contains(0) || rates.size() < 2) {
        at.problem(measured_policies_keys::lengths, "must hold plain decoding (0 draft tokens) and at least one other length");
    }
    return rates;
}

/// Times of a round by draft tokens, 0 … longest: those measured, and even steps between them.
std::vector<Seconds> rounds_of(const RatesByLength& rates, const sim::Acceptance& chain, int batch, std::size_t index) {
    std::vector<Seconds> rounds;
    for (const auto& [length, by_batch] : rates) {
        const Seconds round(batch * chain.accept_length(length) / by_batch[index]);
        const auto from = static_cast<int>(rounds.size());
        for (int k = from; k <= length; ++k) {
            rounds.push_back(from == 0 ? round
                                       : rounds[static_cast<std::size_t>(from) - 1] +
                                             (round - rounds[static_cast<std::size_t>(from) - 1]) *
                                                 (static_cast<double>(k - from + 1) / (length - from + 1)));
        }
    }
    return rounds;
}

/// A drafting pass for all tokens: what the shortest two measured lengths, continued to none, take more than plain decoding.
Seconds parallel_pass(const RatesByLength& rates, const std::vector<Seconds>& rounds) {
    if (rates.size() < 3) {
        return Seconds(0.0);
    }
    const auto first = std::next(rates.begin()), second = std::next(first);
    const Seconds at_first = rounds[static_cast<std::size_t>(first->first)],
                  at_second = rounds[static_cast<std::size_t>(second->first)];
    const Seconds at_none =
        at_first - (at_second - at_first) * (static_cast<double>(first->first) / (second->first - first->first));
    return std::max(Seconds(0.0), at_none - rounds.front());
}

sweeps::PolicyTimes times_of(int batch, const std::vector<Seconds>& rounds, bool parallel, Seconds pass) {
    sweeps::PolicyTimes times;
    times.batch = batch;
    for (std::size_t k = 0; k < rounds.size(); ++k) {
        times.draft.push_back(parallel ? (k == 0 ? Seconds(0.0) : pass) : pass * static_cast<double>(k));
        times.rest.push_back(rounds[k] - times.draft.back());
    }
    return times;
}

}  // namespace

MeasuredRates read_measured_rates(json::Document& document, json::Reader at, Descriptions& descriptions,
                                  const std::vector<int>& batches, sweeps::PoliciesInput& input) {
    MeasuredRates result;
    const RatesByLength rates = read_lengths(at, batches.size());
    const AcceptanceChoice acceptance = read_acceptance(at.object(measured_policies_keys::acceptance), descriptions);
    sweeps::PolicyProblem& problem = input.problem;
    problem.parallel = read(at, measured_policies_keys::parallel);
    const std::vector<double> draft_ms =
        at.has(measured_policies_keys::draft_ms) ? read(at, measured_policies_keys::draft_ms) : std::vector<double>{};
    const std::size_t stated =
        draft_ms.empty() ? batches.size() : at.raw().at(std::string(measured_policies_keys::draft_ms)).size();
    if (stated != batches.size()) {  // those that are refused count, too
        at.problem(measured_policies_keys::draft_ms, fmt::format("has {} times for {} batches", stated, batches.size()));
    }
    if (at.has(measured_policies_keys::policies)) {
        for (json::Reader& element : at.objects(measured_policies_keys::policies)) {
            result.policies.push_back({read(element, measured_rate_keys::policy), read_rates(element, batches.size())});
            element.finish();
        }
    }
    at.finish();
    document.throw_if_problems();
    result.longest = rates.rbegin()->first;
    for (int i = 1; i <= result.longest; ++i) {
        problem.per_position.push_back(acceptance.acceptance.chain.position(i));
    }
    for (const auto& [length, by_batch] : rates) {
        problem.fixed_lengths.push_back(length);
    }
    for (std::size_t b = 0; b < batches.size(); ++b) {
        const std::vector<Seconds> rounds = rounds_of(rates, acceptance.acceptance.chain, batches[b], b);
        const Seconds pass = !draft_ms.empty()  ? Seconds(1e-3 * draft_ms[b])
                             : problem.parallel ? parallel_pass(rates, rounds)
                                                : Seconds(0.0);
        problem.batches.push_back(times_of(batches[b], rounds, problem.parallel, pass));
        double best = 0.0;
        for (const auto& [length, by_batch] : rates) {
            best = std::max(best, by_batch[b]);
        }
        result.best_fixed.push_back(best);
    }
    input.acceptance = acceptance.text;
    return result;
}

void compare_with_measured(const MeasuredRates& rates, json::Reader& root, sweeps::PoliciesInput& input) {
    std::vector<std::string> names;
    for (const sweeps::Policy& policy : input.policies) {
        names.push_back(policy.name());
    }
    for (const PolicyRate& measured : rates.policies) {
        if (std::find(names.begin(), names.end(), measured.policy) == names.end()) {
            root.problem(policies_keys::measured, fmt::format("has a policy \"{}\", but those simulated are {}",
                                                              measured.policy, text::listed(names, "and")));
            continue;
        }
        sweeps::MeasuredPolicy policy{measured.policy, {}};
        for (std::size_t b = 0; b < rates.best_fixed.size(); ++b) {
            policy.gain.push_back(measured.tokens_per_second[b] / rates.best_fixed[b] - 1.0);
        }
        input.measured.push_back(std::move(policy));
    }
}

}  // namespace treeline::requests

#include "sweeps/adaptive/speed_table.h"

#include <cmath>

namespace treeline::sweeps {
namespace {

/// Probabilities in files are rounded.
constexpr double sum_tolerance = 1e-6;

std::vector<std::string> setting_problems(const SpeculationSetting& setting, int capacity) {
    std::vector<std::string> problems;
    double sum = 0.0;
    bool proper = !setting.accepted_exactly.empty();
    for (const double probability : setting.accepted_exactly) {
        proper = proper && probability >= 0.0;
        sum += probability;
    }
    if (!proper || !(std::abs(sum - 1.0) <= sum_tolerance)) {
        problems.push_back(setting.name +
                           ": the probabilities of accepting 0, 1, ... drafts must not be negative and must sum to 1, not " +
                           std::to_string(sum));
    }
    if (setting.round.size() < static_cast<std::size_t>(capacity)) {
        problems.push_back(setting.name + ": the round times end below the capacity");
    }
    for (const Seconds round : setting.round) {
        if (!(round > Seconds(0.0))) {
            problems.push_back(setting.name + ": the time of a round must be above zero");
            break;
        }
    }
    return problems;
}

/// R(l) = 1 + Σ_n P(n)·R(l − n), R(l ≤ 0) = 0.
double rounds_for_fixed(const std::vector<double>& exactly, int tokens) {
    std::vector<double> rounds(static_cast<std::size_t>(tokens) + 1, 0.0);
    for (std::size_t left = 1; left < rounds.size(); ++left) {
        rounds[left] = 1.0;
        for (std::size_t i = 0; i < exactly.size() && i + 1 < left; ++i) {
            rounds[left] += exactly[i] * rounds[left - i - 1];
        }
    }
    return rounds.back();
}

}  // namespace

double accept_length(const SpeculationSetting& setting) {
    double length = 0.0;
    for (std::size_t i = 0; i < setting.accepted_exactly.size(); ++i) {
        length += setting.accepted_exactly[i] * (static_cast<double>(i) + 1.0);
    }
    return length;
}

double tokens_per_second(const SpeculationSetting& setting, int batch) {
    return batch * accept_length(setting) / setting.round_of(batch).value();
}

std::vector<std::string> problems_of(const std::vector<SpeculationSetting>& settings, int capacity) {
    std::vector<std::string> problems;
    if (settings.empty()) {
        problems.emplace_back("at least one setting is needed");
    }
    for (const SpeculationSetting& setting : settings) {
        const std::vector<std::string> found = setting_problems(setting, capacity);
        problems.insert(problems.end(), found.begin(), found.end());
    }
    return problems;
}

SettingByBatch always(std::size_t setting, int capacity) { return SettingByBatch(static_cast<std::size_t>(capacity), setting); }

SettingByBatch best_by_batch(const std::vector<SpeculationSetting>& settings, int capacity) {
    SettingByBatch best;
    for (int batch = 1; batch <= capacity; ++batch) {
        std::size_t fastest = 0;
        for (std::size_t i = 1; i < settings.size(); ++i) {
            if (tokens_per_second(settings[i], batch) > tokens_per_second(settings[fastest], batch)) {
                fastest = i;
            }
        }
        best.push_back(fastest);
    }
    return best;
}

std::vector<Seconds> interpolated_rounds(const std::vector<int>& batches, const std::vector<Seconds>& rounds, int capacity) {
    std::vector<Seconds> by_batch;
    std::size_t above = 0;
    for (int batch = 1; batch <= capacity; ++batch) {
        while (batches[above] < batch) {
            ++above;
        }
        if (batches[above] == batch) {
            by_batch.push_back(rounds[above]);
            continue;
        }
        const double share = static_cast<double>(batch - batches[above - 1]) / (batches[above] - batches[above - 1]);
        by_batch.push_back(rounds[above - 1] + share * (rounds[above] - rounds[above - 1]));
    }
    return by_batch;
}

double mean_rounds(const SpeculationSetting& setting, const Requests& requests) {
    if (requests.length == OutputLength::fixed) {
        return rounds_for_fixed(setting.accepted_exactly, static_cast<int>(requests.output_tokens));
    }
    const double goes_on = 1.0 - 1.0 / requests.output_tokens;
    double survives = 0.0;
    double power = 1.0;
    for (const double probability : setting.accepted_exactly) {
        power *= goes_on;
        survives += probability * power;
    }
    return 1.0 / (1.0 - survives);
}

}  // namespace treeline::sweeps

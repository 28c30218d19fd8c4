// Round times by batch size of several speculation settings, and the best setting for each batch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/units.h"

namespace treeline::sweeps {

/// One way of decoding. `round[b − 1]` is the time of a round of batch b.
struct SpeculationSetting {
    std::string name;
    std::vector<double> accepted_exactly = {1.0};  ///< P(i drafts accepted), i = 0, 1, …; {1} is plain decoding
    std::vector<Seconds> round;

    [[nodiscard]] Seconds round_of(int batch) const { return round[static_cast<std::size_t>(batch) - 1]; }
    [[nodiscard]] bool plain() const { return accepted_exactly.size() == 1; }
};

/// τ: mean tokens per round and sequence, bonus token included.
double accept_length(const SpeculationSetting& setting);

/// Over a round of a full batch.
double tokens_per_second(const SpeculationSetting& setting, int batch);

/// Every violated constraint as a sentence: probabilities that do not sum to 1, times that are not above zero, tables that do
/// not cover the batches 1 … capacity.
std::vector<std::string> problems_of(const std::vector<SpeculationSetting>& settings, int capacity);

/// Which setting runs at which batch: element b − 1 is an index into the settings.
using SettingByBatch = std::vector<std::size_t>;

/// The same at every batch.
SettingByBatch always(std::size_t setting, int capacity);

/// The setting with the least time per token T(b) / τ at each batch; the first of equal ones.
SettingByBatch best_by_batch(const std::vector<SpeculationSetting>& settings, int capacity);

/// Round times at batches 1 … capacity from measured ones: linear between the batches given (rising, the first 1, the last
/// at least the capacity).
std::vector<Seconds> interpolated_rounds(const std::vector<int>& batches, const std::vector<Seconds>& rounds, int capacity);

/// How many tokens requests ask for.
enum class OutputLength { fixed, geometric };
constexpr auto names_in(OutputLength) {
    using enum OutputLength;
    return enum_names<OutputLength>({{fixed, "fixed"}, {geometric, "geometric"}});
}

struct Requests {
    double per_second = 1.0;       ///< Poisson arrivals
    double output_tokens = 256.0;  ///< mean, ≥ 1; a whole number if fixed
    OutputLength length = OutputLength::fixed;
    Seconds prefill;  ///< of one request; lengthens the round that the request joins
};

/// Mean rounds of one request in one setting, including the last, which may be partly used. Fixed lengths by the renewal
/// recursion R(l) = 1 + Σ P(N = n)·R(l − n); geometric ones end in a round of n tokens with probability 1 − (1 − 1/L)^n.
double mean_rounds(const SpeculationSetting& setting, const Requests& requests);

}  // namespace treeline::sweeps

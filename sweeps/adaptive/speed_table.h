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
    /// By batch: what each token that its sequences have cached in the mean adds to a round. Empty: nothing.
    std::vector<Seconds> per_cached_token{};

    [[nodiscard]] Seconds round_of(int batch) const { return round[static_cast<std::size_t>(batch) - 1]; }
    [[nodiscard]] Seconds round_of(int batch, double mean_cached) const {
        return per_cached_token.empty() ? round_of(batch)
                                        : round_of(batch) + per_cached_token[static_cast<std::size_t>(batch) - 1] * mean_cached;
    }
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

/// One kind of request among several.
struct RequestClass {
    double prompt_tokens = 0.0;
    int output_tokens = 1;
    Seconds prefill;
    double share = 1.0;
};

struct Requests {
    double per_second = 1.0;       ///< Poisson arrivals
    double output_tokens = 256.0;  ///< mean, ≥ 1; a whole number if fixed
    OutputLength length = OutputLength::fixed;
    Seconds prefill;                      ///< of one request; lengthens the round that the request joins
    std::vector<RequestClass> classes{};  ///< if there are any: each request is of one, in place of the three before
    /// Above 0: a closed loop in place of arrivals, each of so many clients sends its next request when it has its answer.
    int clients = 0;
    bool prefill_apart = false;  ///< by other devices, which keep up: a request joins when its prompt was read
};

/// Mean rounds of one request in one setting, including the last, which may be partly used. Fixed lengths by the renewal
/// recursion R(l) = 1 + Σ P(N = n)·R(l − n); geometric ones end in a round of n tokens with probability 1 − (1 − 1/L)^n.
double mean_rounds(const SpeculationSetting& setting, const Requests& requests);

}  // namespace treeline::sweeps

// The figures of a design point: the numeric columns of a sweep's CSV and JSON, and what points can be ordered by.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "sweeps/design_space.h"

namespace treeline::sweeps {

enum class Better { lower, higher };

/// What a figure is computed from. Valid only as long as what it refers to.
struct SweepFigures {
    const Variant& variant;
    double draft_tokens = 0.0;
    double batch = 1.0;
    double context = 0.0;
    const sim::RoundEstimate& estimate;
    double load = std::numeric_limits<double>::quiet_NaN();  ///< what the batch follows from, if it was not stated
    double queued = 0.0;                                     ///< requests that wait for a place in the batch
    double gain = std::numeric_limits<double>::quiet_NaN();  ///< under a load: tokens/s per device over those of plain decoding
};

struct SweepColumn {
    std::string_view name;  ///< its unit included
    Better better = Better::lower;
    double (*figure)(const SweepFigures&) = nullptr;  ///< where it is known
    bool (*known)(const Variant&) = nullptr;          ///< null: always
    bool of_loads = false;                            ///< NaN for decoding alone, where batches are stated

    /// Whether the device's description says what the figure needs (energy, price).
    [[nodiscard]] bool known_of(const Variant& variant) const { return known == nullptr || known(variant); }
    /// NaN where it does not.
    [[nodiscard]] double value(const SweepFigures& at) const {
        return known_of(at.variant) ? figure(at) : std::numeric_limits<double>::quiet_NaN();
    }
};

inline bool knows_energy(const Variant& variant) { return variant.setup.platform.device.knows_energy(); }
inline bool knows_price(const Variant& variant) { return variant.setup.platform.device.price > DollarsPerSecond(0.0); }

/// TTFT in the steady state; NaN for decoding alone.
inline double first_token_of(const SweepFigures& at) {
    return at.estimate.first_token > Seconds(0.0) ? 1e3 * at.estimate.first_token.value()
                                                  : std::numeric_limits<double>::quiet_NaN();
}

/// In the order in which rows hold them. Of the axes, more users and more context count as better, and fewer drafted tokens.
inline constexpr std::array<SweepColumn, 24> sweep_columns = {{
    {"draft_tokens", Better::lower, [](const SweepFigures& at) { return at.draft_tokens; }},
    {"batch", Better::higher, [](const SweepFigures& at) { return at.batch; }},
    {"context", Better::higher, [](const SweepFigures& at) { return at.context; }},
    {"speedup", Better::higher, [](const SweepFigures& at) { return at.estimate.throughput_multiplier; }},
    {"accept_length", Better::higher, [](const SweepFigures& at) { return at.estimate.accept_length; }},
    {"break_even_accept_length", Better::lower, [](const SweepFigures& at) { return at.estimate.iteration_multiplier; }},
    {"tpot_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.time_per_token.value(); }},
    {"draft_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.draft.value(); }},
    {"verify_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.verify.value(); }},
    {"rollback_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.rollback.value(); }},
    {"host_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.host.value(); }},
    {"tokens_per_s_user", Better::higher, [](const SweepFigures& at) { return at.estimate.tokens_per_second_user; }},
    {"tokens_per_s_device", Better::higher, [](const SweepFigures& at) { return at.estimate.tokens_per_second_device; }},
    {"memory_gb", Better::lower, [](const SweepFigures& at) { return 1e-9 * at.estimate.memory.value(); }},
    {"energy_j_per_token", Better::lower, [](const SweepFigures& at) { return at.estimate.energy_per_token.value(); },
     knows_energy},
    {"tokens_per_joule", Better::higher, [](const SweepFigures& at) { return 1.0 / at.estimate.energy_per_token.value(); },
     knows_energy},
    {"usd_per_million_tokens", Better::lower, [](const SweepFigures& at) { return 1e6 * at.estimate.price_per_token.value(); },
     knows_price},
    {"wasted_draft_share", Better::lower, [](const SweepFigures& at) { return at.estimate.wasted_draft_share; }},
    {"itl_ms", Better::lower, [](const SweepFigures& at) { return 1e3 * at.estimate.round.value(); }},
    {"ttft_ms", Better::lower, first_token_of, nullptr, true},
    {"prefill_share", Better::lower, [](const SweepFigures& at) { return 1.0 - at.estimate.decode_share; }},
    {"load", Better::higher, [](const SweepFigures& at) { return at.load; }, nullptr, true},
    {"queued", Better::lower, [](const SweepFigures& at) { return at.queued; }},
    {"gain", Better::higher, [](const SweepFigures& at) { return at.gain; }, nullptr, true},
}};

/// Its place in sweep_columns.
inline std::size_t index_of(const SweepColumn& column) { return static_cast<std::size_t>(&column - sweep_columns.data()); }

/// The column of that name; nullptr when there is none.
constexpr const SweepColumn* find_sweep_column(std::string_view name) {
    for (const SweepColumn& column : sweep_columns) {
        if (column.name == name) {
            return &column;
        }
    }
    return nullptr;
}

/// The column's value with its sign chosen so that less is better; NaN if the value is unknown.
inline double rank_of(const SweepColumn& column, const SweepFigures& at) {
    const double value = column.value(at);
    return column.better == Better::higher ? -value : value;
}

}  // namespace treeline::sweeps

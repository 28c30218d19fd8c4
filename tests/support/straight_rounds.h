// Rounds put together by hand, whose times are straight lines in the batch, and variants judged with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "sweeps/recommend_inside.h"

namespace treeline::testing {

/// Plain decoding of b sequences takes `step` + `per_sequence`·b seconds, and a round with one draft 1 s more, which yields 1.6
/// tokens. Answers have 8 tokens; a sequence takes one byte of memory, of which there are `memory`.
inline sim::CompiledRound straight_round(double step, double per_sequence = 0.0, double memory = 1e6) {
    sim::CompiledRound round;
    sim::TimedOperation line;
    line.cost.bytes.per_sequence = Bytes(per_sequence);
    line.rates.per_byte = SecondsPerByte(1.0);
    for (const sim::PassId id : {sim::PassId::plain, sim::PassId::verify_unrolled}) {
        round.pass(id).node_time = Seconds(id == sim::PassId::plain ? step : step + 1.0);
        round.pass(id).operations = {line};
    }
    sim::RoundStep verify;
    verify.phase = sim::Phase::verify;
    round.steps = {sim::RoundStep(), verify};
    for (const double drafts : {0.0, 1.0}) {
        sim::RoundRow row;
        row.begin.fill(1);
        row.begin[0] = 0;
        row.draft_tokens = row.drafted = row.speculates = row.holds_drafter = drafts;
        row.accepted.length = drafts > 0.0 ? 1.6 : 1.0;
        if (drafts > 0.0) {
            const auto pass = static_cast<std::ptrdiff_t>(sim::PassId::verify_unrolled);
            std::fill(row.begin.begin() + pass + 1, row.begin.end(), 2U);
        }
        round.rows.push_back(row);
    }
    add_off_row(round);
    round.output_tokens = 8.0;
    round.memory.activations_per_token = Bytes(1.0);
    round.memory.capacity = round.memory.plain_capacity = Bytes(memory);
    return round;
}

/// A variant on a platform, which drafts unless it has no drafter, with its round; of what it serves nothing is known yet.
inline void add_variant(sweeps::Judged& all, std::size_t platform, std::optional<std::size_t> drafter,
                        const sim::CompiledRound& round) {
    sweeps::Variant& variant = all.variants.emplace_back();
    variant.origin = {0, platform, drafter};
    if (drafter) {
        variant.setup.drafter = sim::OneLayerDrafter{};
    }
    sweeps::Prepared& prepared = all.prepared.emplace_back();
    prepared.round = round;
    prepared.loaded = true;
    prepared.speculations = {drafter ? 1 : 0};
    all.outcomes.emplace_back();
    all.plain.emplace_back();
    all.own_plain.emplace_back();
    all.plain_waiting.emplace_back();
}

}  // namespace treeline::testing

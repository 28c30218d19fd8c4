// Where the time and the memory of a round go.
#include <algorithm>

#include "sim/accelerator_round.h"
#include "sim/round.h"
#include "sim/round_rows.h"

namespace treeline::sim {
namespace {

/// The name that users read for step `index` of `count` of a pass.
std::string phase_text(PassId id, std::uint32_t count, std::uint32_t index) {
    const auto number = [&](const char* text) { return count > 1 ? text + std::to_string(index + 1) : std::string(); };
    switch (id) {
        case PassId::plain:
            return "plain decoding";
        case PassId::draft:
            return index == 0   ? "draft, first pass"
                   : count == 2 ? "draft, next pass"
                                : "draft, level " + std::to_string(index + 1);
        case PassId::draft_tree:
            return "draft, level " + std::to_string(index + 2);
        case PassId::draft_copy:
            return "draft, state copies";
        case PassId::draft_inner:
            return "draft, for the drafter";
        case PassId::draft_markov:
            return "draft, Markov head";
        case PassId::draft_context:
            return "draft, reading the last round";
        case PassId::verify_unrolled:
        case PassId::verify_chunk:
        case PassId::verify_packed:
            return "verify" + number(", length ");
        case PassId::advance:
            return "rollback";
        case PassId::ring_replay:
            return "rollback: replay within verification";
        case PassId::ring_flush:
            return "rollback: state write";
        case PassId::state_copy:
            return "rollback: state copies";
        case PassId::compaction:
            return "rollback: cache compaction";
    }
    return "";
}

}  // namespace

std::vector<ExplainedPass> explain(const CompiledRound& round, const DesignPoint& point) {
    const RoundRow& row = round.row(point.speculation);
    const double sequences = sequences_of_pass(round, point.batch);
    const LoadFactors measured = round.ratios.at(point.batch, point.context, row.draft_tokens);
    std::vector<ExplainedPass> explained = explain_turn(row, point);
    for (std::size_t id = 0; id < pass_count; ++id) {
        const CompiledPass& pass = round.passes[id];
        for (std::uint32_t i = row.begin[id]; i < row.begin[id + 1]; ++i) {
            const StepPasses shared = passes_of(round.steps[i], sequences);
            const PassShape shape = shape_of(round.steps[i], shared.sequences, point.context);
            const bool plain = static_cast<PassId>(id) == PassId::plain;
            const Seconds beside = plain ? round.step_per_sequence * sequences : Seconds(0.0);
            const Seconds time = (pass_time(pass, totals_of(pass, shape)) + beside) * (plain ? measured.plain : measured.round);
            explained.push_back({phase_text(static_cast<PassId>(id), row.begin[id + 1] - row.begin[id], i - row.begin[id]),
                                 shape, round.steps[i].runs * shared.passes, time, pass.launch_time, explain(pass, shape)});
        }
    }
    return explained;
}

std::vector<MemoryPart> memory_parts(const CompiledRound& round, const DesignPoint& point) {
    const MemoryModel& memory = round.memory;
    const RoundRow& row = round.row(point.speculation);
    const double sequences = sequences_of_group(round, point.batch);
    const SequenceMemory sequence = sequence_memory(memory, row, point.context);
    const Bytes prompts = prompt_activations(memory.prefill, sequences, point.context);
    const bool reading = prompts > round_activations(memory, row, sequences);
    std::vector<MemoryPart> parts = {
        {"target weights", memory.target_weights},
        {"drafter weights", memory.draft_weights * row.holds_drafter},
        {"target key-value cache", sequence.target_cache * sequences},
        {"drafter key-value cache", sequence.draft_cache * sequences},
        {"key-value caches of what all sequences share", sequence.shared},
        {"recurrent states and their copies", sequence.states * sequences},
        {"left to caches by the engine's division of its memory", (sequence.own() - sequence.used()) * sequences},
        {"activations while prompts are read", reading ? prompts : Bytes(0.0)},
        {"logits", reading ? Bytes(0.0) : memory.logits_per_token * (row.logits * sequences)},
        {"activations", reading ? Bytes(0.0) : memory.activations_per_token * (row.activations * sequences)},
        {"reserved by driver and framework", memory.reserved},
        {"captured graphs", memory.per_graph * row.graphs},
        {"states of the draft whose turn it is", row.turn.workspace},
    };
    std::erase_if(parts, [](const MemoryPart& part) { return part.bytes <= Bytes(0.0); });
    std::stable_sort(parts.begin(), parts.end(), [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
    return parts;
}

}  // namespace treeline::sim

#include "sweeps/critical_points.h"

#include "numerics/bisection.h"

namespace treeline::sweeps {
namespace {

constexpr double most_sequences_asked = 1 << 20, longest_context = 1 << 26;
constexpr int halvings = 60;

/// Whether the passes of a batch take more FLOPs than the device computes while it moves their bytes. What goes over links
/// between devices is no memory.
bool compute_bound(const sim::CompiledRound& round, int speculation, FlopsPerByte intensity, double batch, double context) {
    const sim::RoundRow& row = round.row(speculation);
    const sim::Phase phase = row.speculates > 0.0 ? sim::Phase::verify : sim::Phase::plain;
    const double sequences = sim::sequences_of_pass(round, batch);
    Flops spare;
    for (std::size_t id = 0; id < sim::pass_count; ++id) {
        for (std::uint32_t i = row.begin[id]; i < row.begin[id + 1]; ++i) {
            const sim::RoundStep& step = round.steps[i];
            if (step.phase != phase) {
                continue;
            }
            const sim::StepPasses shared = sim::passes_of(step, sequences);
            for (const sim::OperationEstimate& operation :
                 sim::explain(round.passes[id], sim::shape_of(step, shared.sequences, context))) {
                if (operation.kind != sim::OperationKind::collective) {
                    spare += (operation.flops - operation.bytes * intensity) * (step.runs * shared.passes);
                }
            }
        }
    }
    return spare > Flops(0.0);
}

}  // namespace

std::optional<double> critical_batch(const sim::CompiledRound& round, int speculation, FlopsPerByte intensity, double context) {
    const auto memory_bound = [&](double batch) { return !compute_bound(round, speculation, intensity, batch, context); };
    if (memory_bound(most_sequences_asked)) {
        return std::nullopt;
    }
    return memory_bound(1.0) ? numerics::bisect({1.0, most_sequences_asked}, halvings, memory_bound).high : 1.0;
}

double critical_context(const sim::CompiledRound& round, int speculation, FlopsPerByte intensity) {
    const auto some_batch = [&](double context) {
        return compute_bound(round, speculation, intensity, most_sequences_asked, context);
    };
    if (!some_batch(0.0)) {
        return 0.0;
    }
    return some_batch(longest_context) ? sim::unlimited : numerics::bisect({0.0, longest_context}, halvings, some_batch).low;
}

}  // namespace treeline::sweeps

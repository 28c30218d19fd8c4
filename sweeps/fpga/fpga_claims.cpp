#include "sweeps/fpga/fpga_claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/fpga/ablation.h"
#include "sweeps/fpga/fpga_estimate.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace {

sim::fpga::RoundCost price(const FpgaRun& run, const sim::fpga::MambaShape& drafter) {
    const sim::fpga::TreeWork work = sim::fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    return sim::fpga::round_cost(run.board, run.design, run.target.shape, drafter, work, run.accept_length, run.options);
}

sim::fpga::RoundCost price(const FpgaRun& run) { return price(run, run.drafter->shape); }

constexpr double milliseconds = 1e3;

ClaimCell known(bool is_known, double value) { return is_known ? ClaimCell(value) : ClaimCell(); }

FpgaClaim draft_sizes(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"draft-size",
                       "Draft model sizes",
                       "",
                       {"drafter", "drafting (ms per round)", "round (ms)", "break-even against plain decoding",
                        fmt::format("accept length to match {}", input.run.drafter->name)},
                       {}};
    const sim::fpga::RoundCost reference = price(input.run);
    std::string finding;
    for (const FpgaModel& drafter : input.drafters) {
        const sim::fpga::RoundCost round = price(input.run, drafter.shape);
        const double equal = round.time.value() * reference.tokens_per_second;
        claim.rows.push_back({drafter.name, milliseconds * round.draft.value(), milliseconds * round.time.value(),
                              round.break_even_accept_length, equal});
        if (drafter.name != input.run.drafter->name) {
            finding += fmt::format("{}{} is better than {} above {} tokens per round", finding.empty() ? "" : "; ",
                                   drafter.name, input.run.drafter->name, text::fixed_text(equal, 2));
        }
    }
    claim.finding = fmt::format("With {} tokens per round for {}: {}. A tree of depth {} yields at most {}.",
                                text::fixed_text(input.run.accept_length, 2), input.run.drafter->name, finding,
                                input.run.tree.depth(), input.run.tree.depth() + 1);
    return claim;
}

FpgaClaim ablation_claim(const FpgaClaimsInput& input) {
    FpgaClaim claim = {
        "ablation", "The three techniques in turn", "", {"stage", "tokens/s", "latency gain", "tokens/J", "energy gain"}, {}};
    const FpgaRun& run = input.run;
    const auto rows =
        sim::fpga::ablation(run.board, run.design, run.target.shape, run.drafter->shape, run.tree, run.accept_length);
    for (const sim::fpga::AblationRow& row : rows) {
        const bool knows_power = row.round.tokens_per_joule > 0.0;
        claim.rows.push_back({std::string(name_of(row.stage)), row.round.tokens_per_second, row.latency_gain,
                              known(knows_power, row.round.tokens_per_joule), known(knows_power, row.energy_gain)});
    }
    const auto gains = [&](double sim::fpga::AblationRow::*gain) {
        return fmt::format("{}, {} and {}", text::ratio_text(rows[2].*gain), text::ratio_text(rows[3].*gain),
                           text::ratio_text(rows[4].*gain));
    };
    claim.finding =
        fmt::format("Hybrid backtracking, the FIFO and the overlap gain {}; published for VCK190 are 1.42x, 1.52x and 1.23x.",
                    gains(&sim::fpga::AblationRow::latency_gain));
    if (rows[0].round.tokens_per_joule > 0.0) {
        claim.finding += fmt::format(" In tokens per joule they gain {}; published are 1.51x, 1.35x and 1.16x.",
                                     gains(&sim::fpga::AblationRow::energy_gain));
    }
    return claim;
}

FpgaClaim state_formats(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"state-format",
                       "Width of the recurrent state",
                       "",
                       {"state", "bits per element", "states (MB per verification)", "plain tokens/s", "tokens/s", "speed-up"},
                       {}};
    for (const ClaimedStorage& state : input.states) {
        FpgaRun run = input.run;
        run.design.state = state.storage;
        const sim::fpga::RoundCost round = price(run);
        claim.rows.push_back({state.label, state.storage.bits_per_element(), 1e-6 * round.verify.bytes.states.value(),
                              1.0 / round.plain.time.value(), round.tokens_per_second, round.speedup});
    }
    const double first = std::get<double>(claim.rows.front()[4]), last = std::get<double>(claim.rows.back()[4]);
    claim.finding = fmt::format("{} is {} as fast as {}.", input.states.front().label, text::ratio_text(first / last),
                                input.states.back().label);
    return claim;
}

FpgaClaim memories(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"memory",
                       "DDR against HBM",
                       "",
                       {"design", "bandwidth (GB/s)", "plain tokens/s", "tokens/s", "speed-up", "verification bound by",
                        "pace of the scan", "with the draft tile of the target: tokens/s"},
                       {}};
    for (const FpgaRun& run : input.designs) {
        const sim::fpga::RoundCost round = price(run);
        FpgaRun narrow = run;
        narrow.design.linear.draft_tile_outputs = narrow.design.linear.tile_outputs;
        claim.rows.push_back({run.design.name, 1e-9 * run.board.bandwidth.value(), 1.0 / round.plain.time.value(),
                              round.tokens_per_second, round.speedup, std::string(name_of(round.verify.bound)),
                              std::string(name_of(round.verify.layer.bound)), price(narrow).tokens_per_second});
    }
    claim.finding =
        "The same physics and memory efficiency on every board. The published draft tile width is not known: the last "
        "column is the other end of the range.";
    return claim;
}

FpgaClaim structures(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"structure",
                       "Trees against sequences, published acceptance",
                       "",
                       {"data", "structure", "verified tokens", "accept length", "round (ms)", "tokens/s", "speed-up"},
                       {}};
    for (const ClaimedStructure& structure : input.structures) {
        FpgaRun run = input.run;
        run.tree = structure.tree;
        run.accept_length = structure.accept_length;
        const sim::fpga::RoundCost round = price(run);
        claim.rows.push_back({structure.data, structure.label, static_cast<double>(structure.tree.verified_tokens()),
                              structure.accept_length, milliseconds * round.time.value(), round.tokens_per_second,
                              round.speedup});
    }
    claim.finding = "Source: " + input.structures_source + ".";
    return claim;
}

}  // namespace

std::vector<FpgaClaim> fpga_claims(const FpgaClaimsInput& input) {
    return {draft_sizes(input), ablation_claim(input), state_formats(input), memories(input), structures(input)};
}

}  // namespace treeline::sweeps

#include "reports/fpga/fpga_output.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {

std::string sentence_of(const sweeps::FpgaEstimate& estimate) {
    const sweeps::FpgaRun& run = estimate.run;
    const sim::fpga::RoundCost& round = estimate.round;
    const std::string where = fmt::format("{} with {} on {}", run.target.name, run.design.name, run.board.name);
    if (!run.speculates()) {
        return fmt::format("{} decodes {} tokens/s; each pass is bound by {}.", where,
                           text::short_text(round.tokens_per_second), name_of(round.plain.bound));
    }
    return fmt::format(
        "{} drafting with {} yields {} tokens/s, {} the speed of plain decoding; speculation {}.", where, run.drafter->name,
        text::short_text(round.tokens_per_second), text::ratio_text(round.speedup),
        round.break_even_accept_length > run.tree.depth() + 1.0
            ? fmt::format("never pays with this draft, which yields at most {} tokens a round", run.tree.depth() + 1)
            : fmt::format("pays above an accept length of {}", text::fixed_text(round.break_even_accept_length, 2)));
}

}  // namespace treeline::reports

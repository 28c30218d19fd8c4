#include "reports/fpga/fpga_output.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline {

std::string sentence_of(const FpgaEstimate& estimate) {
    const FpgaRun& run = estimate.run;
    const fpga::RoundCost& round = estimate.round;
    const std::string where = fmt::format("{} with {} on {}", run.target.name, run.design.name, run.board.name);
    if (!run.speculates()) {
        return fmt::format("{} decodes {} tokens/s; each pass is bound by {}.", where, short_text(round.tokens_per_second),
                           name_of(round.plain.bound));
    }
    return fmt::format(
        "{} drafting with {} yields {} tokens/s, {} the speed of plain decoding; speculation pays above an accept "
        "length of {}.",
        where, run.drafter->name, short_text(round.tokens_per_second), ratio_text(round.speedup),
        fixed_text(round.break_even_accept_length, 2));
}

}  // namespace treeline

#include "reports/passes_text.h"

#include <fmt/format.h>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string pass_text(const sim::ExplainedPass& pass) {
    std::string title = pass.phase;
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
    std::string heading =
        fmt::format("{}: {} ({} x {} tokens on {} cached", title, text_of(pass.time), text::short_text(pass.shape.sequences),
                    text::short_text(pass.shape.tokens), text::fixed_text(pass.shape.context, 0));
    heading += pass.runs == 1.0 ? ")\n" : fmt::format("; {} runs per round)\n", text::short_text(pass.runs));
    text::TextTable table(
        {{"operation", text::Align::left}, {"runs"}, {"FLOPs"}, {"bytes"}, {"time"}, {"share"}, {"bound", text::Align::left}});
    constexpr double worth_a_line = 0.05;
    Seconds kernels;
    for (const sim::OperationEstimate& operation : pass.operations) {
        kernels += operation.time;
        table.add({operation.name, text::short_text(operation.count), text_of(operation.flops), text_of(operation.bytes),
                   text_of(operation.time), text::percent_text(operation.share), std::string(name_of(operation.bound))});
    }
    const Seconds beside = pass.time - kernels;
    return heading + table.text("  ") +
           (beside > worth_a_line * pass.time ? fmt::format("  beside the kernels, host and launches: {}\n", text_of(beside))
                                              : "");
}

}  // namespace

Seconds host_of_plain_step(const sim::CompiledRound& round, const sim::DesignPoint& point) {
    if (round.row(point.speculation).speculates > 0.0) {
        return Seconds(0.0);
    }
    const double measured = round.ratios.empty() ? 1.0 : round.ratios.at(point.batch, point.context, 0.0).plain;
    return round.step_per_sequence * (sim::sequences_of_pass(round, point.batch) * measured);
}

std::string phases_text(const sim::RoundEstimate& round, bool speculates, Seconds host_of_step) {
    text::TextTable table({{"Round", text::Align::left}, {"time"}, {"share"}});
    const auto add = [&](const char* name, Seconds time) {
        if (time > Seconds(0.0)) {
            table.add({name, text_of(time), text::percent_text(time / round.round)});
        }
    };
    add("draft", round.draft);
    add(speculates ? "verify" : "decode", speculates ? round.verify : round.verify - host_of_step);
    add("roll back", round.rollback);
    add("host", speculates ? round.host : round.host + host_of_step);
    add("prompts of others", round.prompts);
    table.add_rule();
    table.add({"sum", text_of(round.round), text::percent_text(1.0)});
    return table.text();
}

std::string operations_text(const std::vector<sim::ExplainedPass>& passes) {
    std::string text;
    for (const sim::ExplainedPass& pass : passes) {
        text += (text.empty() ? "" : "\n") + pass_text(pass);
    }
    return text;
}

std::string memory_text(const std::vector<sim::MemoryPart>& parts, Bytes capacity) {
    text::TextTable table({{"Memory of each device", text::Align::left}, {"bytes"}, {"of capacity"}});
    Bytes sum;
    for (const sim::MemoryPart& part : parts) {
        sum += part.bytes;
        table.add({part.part, text_of(part.bytes), text::percent_text(part.bytes / capacity)});
    }
    table.add_rule();
    table.add({"sum", text_of(sum), text::percent_text(sum / capacity)});
    return table.text() + (sum <= capacity
                               ? fmt::format("Fits: {} of {} are left.\n", text_of(capacity - sum), text_of(capacity))
                               : fmt::format("Does not fit: {} more than {}.\n", text_of(sum - capacity), text_of(capacity)));
}

}  // namespace treeline::reports

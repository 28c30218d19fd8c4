#include <fmt/format.h>

#include "reports/figure.h"
#include "reports/fit/break_even_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

const FigureAxis nodes_axis = {"nodes", "Tree nodes (root not counted)", false};

Figure ratio_figure(const calibrate::BreakEven& result) {
    Figure figure;
    figure.id = "break-even-ratio";
    figure.title = "Accept-length ratio against tree size";
    figure.reading =
        "Where the ratio reached lies above the ratio needed, a tree beats the chain. Band: 95 % interval from the fits.";
    figure.x = nodes_axis;
    figure.y = {"ratio", "Accept length of tree / of chain", false};
    figure.series = "line";
    figure.low = "low";
    figure.high = "high";
    figure.rules = {{1.0, "as many tokens as the chain"}};
    figure.columns = {{"line", "Line", "", -1}, {"nodes", "Nodes", "", -1}, {"ratio", "Ratio", "", 3}};
    for (const calibrate::BreakEvenPoint& point : result.points) {
        figure.rows.push_back({{"line", "needed"}, {"nodes", point.tree.nodes}, {"ratio", point.ratio_needed}});
        if (point.ratio_half_width > 0.0) {
            figure.rows.back()["low"] = point.ratio_needed - point.ratio_half_width;
            figure.rows.back()["high"] = point.ratio_needed + point.ratio_half_width;
        }
    }
    for (const calibrate::BreakEvenPoint& point : result.points) {
        if (point.ratio_reached) {
            figure.rows.push_back({{"line", "reached"}, {"nodes", point.tree.nodes}, {"ratio", *point.ratio_reached}});
        }
    }
    return figure;
}

Figure gain_figure(const calibrate::BreakEven& result) {
    Figure figure;
    figure.id = "break-even-gain";
    figure.title = "Speed of the tree against the chain";
    figure.reading = "Tokens/s with the best tree of each size, divided by those with the chain; below 1 trees lose.";
    figure.x = nodes_axis;
    figure.y = {"gain", "Speed / speed of the chain", false};
    figure.rules = {{1.0, "break-even"}};
    figure.columns = {{"nodes", "Nodes", "", -1},
                      {"shape", "Shape", "", -1},
                      {"gain", "Speed", "x", 3},
                      {"reached", "Accept length", "", 2},
                      {"needed", "Accept length needed", "", 2}};
    for (const calibrate::BreakEvenPoint& point : result.points) {
        if (point.gain) {
            figure.rows.push_back({{"nodes", point.tree.nodes},
                                   {"shape", point.tree.label},
                                   {"gain", *point.gain},
                                   {"reached", *point.tree.accept_length},
                                   {"needed", *point.accept_length_needed}});
        }
    }
    return figure;
}

Figure time_figure(const calibrate::BreakEven& result) {
    Figure figure;
    figure.id = "break-even-time";
    figure.title = "Time of a round against tree size";
    figure.reading = "Drafting and verification; the horizontal line is the chain.";
    figure.x = nodes_axis;
    figure.y = {"time", "Time (ms)", false};
    figure.rules = {{text::to_ms * result.chain.time.value(), fmt::format("chain of {}", result.chain.draft_tokens)}};
    figure.columns = {{"nodes", "Nodes", "", -1}, {"time", "Round", "ms", -1}};
    for (const calibrate::BreakEvenPoint& point : result.points) {
        figure.rows.push_back({{"nodes", point.tree.nodes}, {"time", text::to_ms * point.tree.time.value()}});
    }
    return figure;
}

}  // namespace

FigureSection break_even_section(const sweeps::BreakEvenAnswer& answer) {
    return {"break-even",
            "Break-even",
            fmt::format("{} Tree: {}. Chain of {} draft tokens: {}.", sentence_of(answer), text_of(answer.input.tree),
                        answer.result.chain.draft_tokens, text_of(answer.input.chain)),
            {ratio_figure(answer.result), gain_figure(answer.result), time_figure(answer.result)}};
}

std::string break_even_page(const sweeps::BreakEvenAnswer& answer) {
    FigurePage page;
    page.title = answer.input.title.empty() ? "Break-even of draft trees" : answer.input.title;
    page.subtitle = answer.input.source;
    page.heading = "Does a tree pay?";
    page.sentence = sentence_of(answer);
    page.sections = {break_even_section(answer)};
    return render_figures(page);
}

}  // namespace treeline::reports

// The section of a calibration's page on what launches cost.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/calibrate/calibration_output.h"
#include "reports/figure.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// Ways of launching, in words; chains of a stream or graph are dependent: each kernel waits for the one before.
std::string_view launching_by(const std::string& by) {
    return by == "stream"  ? "stream, launched one by one"
           : by == "graph" ? "nodes of one graph"
           : by == "call"  ? "calls, threads synchronise after each"
                           : std::string_view(by);
}

/// Time of n launches as first + each further one, by the shortest and the longest chain that were measured.
struct LaunchLine {
    double first = 0.0, further = 0.0;  ///< seconds
    double longest = 1.0;               ///< launches
};

std::optional<LaunchLine> launch_line(const std::vector<calibrate::LaunchCost>& launches, std::string_view by) {
    const calibrate::LaunchCost *shortest = nullptr, *longest = nullptr;
    for (const calibrate::LaunchCost& launch : launches) {
        if (launch.by == by) {
            shortest = shortest == nullptr || launch.launches < shortest->launches ? &launch : shortest;
            longest = longest == nullptr || launch.launches > longest->launches ? &launch : longest;
        }
    }
    if (shortest == nullptr || !(longest->launches > shortest->launches)) {
        return std::nullopt;
    }
    const auto whole = [](const calibrate::LaunchCost& launch) { return launch.each.value() * launch.launches; };
    const double further = (whole(*longest) - whole(*shortest)) / (longest->launches - shortest->launches);
    return LaunchLine{whole(*shortest) - further * (shortest->launches - 1.0), further, longest->launches};
}

Figure launch_figure(const std::vector<calibrate::LaunchCost>& launches) {
    Figure figure;
    figure.id = "launch-chains";
    figure.title = "Time of a chain of launches";
    figure.reading =
        "Empty kernels, each waiting for the one before. A graph pays where its line falls below that of a stream.";
    figure.x = {"launches", "Launches in a chain", true};
    figure.y = {"all", "Time of the chain (us)", true};
    figure.series = "by";
    figure.points = "all";
    figure.columns = {
        {"by", "Launched by", "", -1}, {"launches", "Launches", "", 0}, {"all", "Chain", "us", -1}, {"each", "Each", "us", -1}};
    for (const calibrate::LaunchCost& launch : launches) {
        figure.rows.push_back({{"by", launching_by(launch.by)},
                               {"launches", launch.launches},
                               {"all", 1e6 * launch.each.value() * launch.launches},
                               {"each", 1e6 * launch.each.value()}});
    }
    return figure;
}

Json tiny_rows(const calibrate::CalibrationAnswer& answer) {
    Json rows = Json::array();
    for (const calibrate::CalibratedTable& kernel : answer.kernels) {
        if (kernel.fit.law.launch > Seconds(0.0)) {
            rows.push_back({{"kernel", calibrate::title_of(kernel.table)},
                            {"launch", 1e6 * kernel.fit.law.launch.value()},
                            {"measurements", kernel.table.tiny.size()}});
        }
    }
    return rows;
}

Figure tiny_figure(Json rows) {
    Figure figure;
    figure.id = "launch-tiny";
    figure.title = "Time of a tiny kernel";
    figure.reading = "The launch of each law: the time of a kernel with almost no traffic. No kernel of its class is faster.";
    figure.mark = FigureMark::point;
    figure.x = {"launch", "Time (us)"};
    figure.y = {"kernel", ""};
    figure.columns = {{"kernel", "Kernel", "", -1}, {"launch", "Launch", "us", -1}, {"measurements", "Measurements", "", 0}};
    figure.rows = std::move(rows);
    return figure;
}

std::string cost_text(const LaunchLine& line, std::string_view one) {
    constexpr double negligible = 0.1;  // of a launch
    const double start = line.first - line.further;
    if (start <= negligible * line.further) {
        return fmt::format("{} costs {:.2f} us in a chain of any length. ", one, 1e6 * line.further);
    }
    return fmt::format("{} costs {:.2f} us, and a chain of them {:.2f} us to start. ", one, 1e6 * line.further, 1e6 * start);
}

std::string break_even_text(const LaunchLine& stream, const LaunchLine& graph,
                            const std::vector<calibrate::LaunchCost>& launches) {
    const std::optional<double> kernels = graph_break_even(launches);
    const double longest = std::min(stream.longest, graph.longest);
    if (!kernels || *kernels > longest) {
        return fmt::format("Up to {:g} kernels a graph is no faster than launching them one by one.", longest);
    }
    const std::string from = *kernels <= 1.0 ? "even for one kernel" : fmt::format("from {:g} kernels on", *kernels);
    return fmt::format("A graph pays {}; it saves {:.0f} us in a pass of 500 kernels.", from,
                       1e6 * (stream.first - graph.first + 499.0 * (stream.further - graph.further)));
}

}  // namespace

std::optional<double> graph_break_even(const std::vector<calibrate::LaunchCost>& launches) {
    const std::optional<LaunchLine> stream = launch_line(launches, "stream"), graph = launch_line(launches, "graph");
    if (!stream || !graph) {
        return std::nullopt;
    }
    if (graph->first <= stream->first) {
        return 1.0;
    }
    constexpr double rounding = 1e-6;
    const double gain = stream->further - graph->further;
    return gain > 0.0 ? std::optional(1.0 + std::ceil((graph->first - stream->first) / gain - rounding)) : std::nullopt;
}

std::optional<FigureSection> launch_section(const calibrate::CalibrationAnswer& answer) {
    FigureSection section{"launch-costs", "What launches cost", "", {}};
    if (!answer.launches.empty()) {
        section.figures.push_back(launch_figure(answer.launches));
    }
    const auto call = launch_line(answer.launches, "call"), stream = launch_line(answer.launches, "stream"),
               graph = launch_line(answer.launches, "graph");
    if (call) {
        section.text += cost_text(*call, "An empty kernel");
        section.text +=
            "That is the time the threads take to synchronise; a pass pays it once per kernel, whatever the kernel does.";
    }
    if (stream) {
        section.text += cost_text(*stream, "A launch into a stream");
    }
    if (graph) {
        section.text += cost_text(*graph, "A node of a graph");
    }
    if (stream && graph) {
        section.text += break_even_text(*stream, *graph, answer.launches);
    }
    if (Json rows = tiny_rows(answer); !rows.empty()) {
        section.figures.push_back(tiny_figure(std::move(rows)));
    }
    if (section.text.empty()) {
        section.text = "Chains of launches were not measured; tiny kernels show the least that a launch costs.";
    }
    return section.figures.empty() ? std::nullopt : std::optional(std::move(section));
}

}  // namespace treeline::reports

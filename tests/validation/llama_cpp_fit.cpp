// What llama.cpp's host adds for each kernel of a pass (host_per_kernel of hardware/stacks/llama.cpp.json), from plain decoding
// of one request as others measured it (llama_cpp_steps.csv), and how far the result is from sources that it was not fitted to.
//
// A step is linear in that one number, so the least sum of relative errors over the fitted rows is a weighted median. Prints
// the number, that of each device left out, and the errors by source. Exits with 1 when the file states a number that is more
// than a tenth away, or when the sources that were not fitted to miss a goal below.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "numerics/quantile.h"
#include "requests/catalogue.h"
#include "requests/point_file.h"
#include "source_folder.h"
#include "sweeps/estimate.h"
#include "text/split.h"

using namespace treeline;

namespace {

constexpr double median_goal = 0.10, p90_goal = 0.30, stated_within = 0.10;
constexpr double microsecond = 1e-6;

/// A measured step, and what the cost model says of it: seconds without host_per_kernel, and seconds more for each second of
/// it.
struct Row {
    std::string source, device, chose;  ///< `chose`: the number that the row chose, or none
    double measured = 0.0, without = 0.0, slope = 0.0;

    [[nodiscard]] bool fitted() const { return chose == "host_per_kernel"; }
    [[nodiscard]] double error(double host_per_kernel) const { return (without + slope * host_per_kernel) / measured - 1.0; }
};

double seconds_of(sweeps::PointInput input, double host_per_kernel) {
    input.platform.stack.host_per_kernel = Seconds(host_per_kernel);
    return sweeps::estimate_point(std::move(input)).plain.time_per_token.value();
}

Row row_of(const std::vector<std::string>& cells) {
    const nlohmann::json point = {{"target", {{"model", cells.at(2)}, {"precision", cells.at(3)}}},
                                  {"platform", {{"device", cells.at(1)}, {"stack", "llama.cpp"}}},
                                  {"batch", 1},
                                  {"context", std::stod(cells.at(4))}};
    const requests::Catalogue catalogue = requests::catalogue_in(testing::source_folder(), "fit");
    const sweeps::PointInput input = requests::read_point_text(point.dump(), "row", testing::source_folder(), catalogue).input;
    Row row{cells.at(0), cells.at(1), cells.at(6), 1.0 / std::stod(cells.at(5)), seconds_of(input, 0.0), 0.0};
    row.slope = (seconds_of(input, microsecond) - row.without) / microsecond;
    return row;
}

std::vector<Row> read_rows() {
    std::ifstream file(testing::source_folder() / "tests" / "validation" / "llama_cpp_steps.csv");
    std::vector<Row> rows;
    bool header = true;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        if (!std::exchange(header, false)) {
            rows.push_back(row_of(text::split(line, ',')));
        }
    }
    return rows;
}

/// Seconds for each kernel that make the sum of relative errors least: errors of row i are |h - h_i| times a weight.
double fit(const std::vector<Row>& rows, const std::function<bool(const Row&)>& counts) {
    std::map<double, double> weight_at;
    double all = 0.0;
    for (const Row& row : rows) {
        if (row.fitted() && counts(row)) {
            const double weight = row.slope / row.measured;
            weight_at[(row.measured - row.without) / row.slope] += weight;
            all += weight;
        }
    }
    double below = 0.0;
    for (const auto& [value, weight] : weight_at) {
        below += weight;
        if (below >= 0.5 * all) {
            return std::max(0.0, value);
        }
    }
    return 0.0;
}

struct Spread {
    double median = 0.0, p90 = 0.0, bias = 0.0;
};

Spread spread_of(const std::vector<double>& errors) {
    std::vector<double> sizes;
    for (const double error : errors) {
        sizes.push_back(std::abs(error));
    }
    return {numerics::quantile(sizes, 0.5), numerics::quantile(sizes, 0.9), numerics::quantile(errors, 0.5)};
}

void print(const std::string& what, const std::vector<double>& errors) {
    const Spread spread = spread_of(errors);
    fmt::print("{:62} {:4} rows, median {:4.1f} %, p90 {:4.1f} %, bias {:+5.1f} %\n", what, errors.size(),
               100.0 * spread.median, 100.0 * spread.p90, 100.0 * spread.bias);
}

}  // namespace

int main() {
    const std::vector<Row> rows = read_rows();
    const double fitted = fit(rows, [](const Row&) { return true; });
    const double stated = [] {
        const requests::Catalogue catalogue = requests::catalogue_in(testing::source_folder(), "fit");
        return requests::read_point_text(
                   R"({"target": "llama-3-8b", "platform": {"device": "rtx-4090", "stack": "llama.cpp"}})", "stated",
                   testing::source_folder(), catalogue)
            .input.platform.stack.host_per_kernel.value();
    }();
    fmt::print("host_per_kernel: {:.2f} us fitted, {:.2f} us stated\n", fitted / microsecond, stated / microsecond);

    std::set<std::string> devices;
    std::map<std::string, std::vector<double>> by_source;
    std::vector<double> without, seen, metal, unseen;
    for (const Row& row : rows) {
        by_source[row.source].push_back(row.error(stated));
        without.push_back(row.error(0.0));
        if (row.chose.empty()) {
            unseen.push_back(row.error(stated));
        } else if (row.fitted()) {
            seen.push_back(row.error(stated));
            devices.insert(row.device);
        } else {
            metal.push_back(row.error(stated));
        }
    }
    std::vector<double> left_out;
    for (const std::string& device : devices) {
        const double others = fit(rows, [&](const Row& row) { return row.device != device; });
        for (const Row& row : rows) {
            if (row.fitted() && row.device == device) {
                left_out.push_back(row.error(others));
            }
        }
    }
    print("all rows, without it", without);
    print("fitted rows", seen);
    print("fitted rows, each device left out", left_out);
    print("rows that chose the memory efficiency on Metal", metal);
    print("sources that it was not fitted to", unseen);
    for (const auto& [source, errors] : by_source) {
        print("  " + source, errors);
    }
    const Spread stranger = spread_of(unseen);
    const bool right = std::abs(stated - fitted) <= stated_within * fitted;
    if (!right) {
        fmt::print("hardware/stacks/llama.cpp.json states another number than the rows give.\n");
    }
    if (stranger.median > median_goal || stranger.p90 > p90_goal) {
        fmt::print("Rows of other sources miss the goals: median {:.0f} %, p90 {:.0f} %.\n", 100.0 * median_goal,
                   100.0 * p90_goal);
    }
    return right && stranger.median <= median_goal && stranger.p90 <= p90_goal ? 0 : 1;
}

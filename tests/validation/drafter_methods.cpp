// How far are drafters, their acceptance and policies from what others published of them?
//
// - every kind of drafter beside a published speed-up, or a word on why there is none (methods/methods.json)
// - accept lengths between and beyond measured draft lengths: the catalogue's curves of lengths 1 to 8, given 1, 2 and 4
// - acceptance where it was not measured: each category, thinking mode and temperature of each published drafter left out
// - policies while decoding, beside what was measured of them (examples/policies/measured-*.json)
//
// Nothing is fitted here. With --document the tables of docs/drafters.md, between its marks. Exits with 1 where an error is
// above its limit below, a kind is missing or the page is stale.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "document_block.h"
#include "numerics/bisection.h"
#include "numerics/quantile.h"
#include "requests/adaptive/policies_reader.h"
#include "requests/point_reader.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "sim/measured_acceptance.h"
#include "source_folder.h"
#include "sweeps/estimate.h"
#include "text/input_file.h"

using namespace treeline;
using namespace treeline::testing;
using Json = nlohmann::ordered_json;

namespace {

constexpr double largest_row = 0.4, largest_median_of_rows = 0.1;
constexpr double largest_median_of_curves = 0.02, largest_p90_of_curves = 0.06;
constexpr double least_within = 0.7;  ///< of left-out measurements, in an interval of nominal 80 %

requests::Catalogue catalogue() { return {source_folder() / "models", source_folder() / "hardware"}; }

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

// Kinds of drafters beside published speed-ups.

double speedup(const Json& point) {
    json::Document document = json::Document::of(point, "methods.json");
    requests::Descriptions descriptions(catalogue(), source_folder() / "tests" / "validation" / "methods");
    return sweeps::estimate_point(requests::read_point(document, descriptions)).speculative.throughput_multiplier;
}

double speedup_at(Json point, double rate) {
    point["drafter"]["acceptance"] = {{"geometric", rate}};
    return speedup(point);
}

/// The rows of one method.
struct Method {
    std::string kind, name, source, said;
    std::vector<double> errors;
    double measured = 0.0, predicted = 0.0;  ///< of the worst row
};

void add_row(const Json& row, Method& method) {
    if (row.contains("rate_unknown")) {
        const double measured = row["speedup"];
        const double rate =
            numerics::bisect({0.0, 1.0}, 30, [&](double x) { return speedup_at(row["point"], x) < measured; }).middle();
        method.said = fmt::format("{:.2f}x agrees if {:.2f} of the drafts are accepted", measured, rate);
    } else if (row.contains("rate_low")) {
        const double low = speedup_at(row["point"], row["rate_low"]), high = speedup_at(row["point"], row["rate_high"]);
        method.said = fmt::format("{:.2f} to {:.2f}x for {:.1f} to {:.1f}x", low, high, row["speedup_low"].get<double>(),
                                  row["speedup_high"].get<double>());
    } else {
        const double measured = row["speedup"], predicted = speedup(row["point"]);
        const double error = predicted / measured - 1.0;
        if (method.errors.empty() || std::abs(error) > std::abs(method.predicted / method.measured - 1.0)) {
            method.measured = measured;
            method.predicted = predicted;
        }
        method.errors.push_back(std::abs(error));
    }
}

std::vector<Method> methods() {
    const Json file = Json::parse(text::read_file(source_folder() / "tests" / "validation" / "methods" / "methods.json"));
    std::vector<Method> found;
    for (const Json& row : file["rows"]) {
        const std::string kind = row["kind"], name = row.value("method", std::string());
        auto at = std::find_if(found.begin(), found.end(),
                               [&](const Method& method) { return method.kind == kind && method.name == name; });
        if (at == found.end()) {
            found.push_back({kind, name, row.value("source", std::string()), {}, {}});
            at = std::prev(found.end());
        }
        if (row.contains("none")) {
            at->said = row["none"];
        } else {
            add_row(row, *at);
        }
    }
    const std::vector<std::string>& kinds = requests::drafter_kinds();
    const auto place = [&](const Method& method) { return std::find(kinds.begin(), kinds.end(), method.kind) - kinds.begin(); };
    std::stable_sort(found.begin(), found.end(), [&](const Method& a, const Method& b) { return place(a) < place(b); });
    return found;
}

std::string text_of(const std::vector<Method>& found, std::vector<double>& errors) {
    std::string table =
        "| kind | published measurement | rows | median error | worst: predicted, measured | source |\n"
        "|---|---|---|---|---|---|\n";
    for (const Method& method : found) {
        errors.insert(errors.end(), method.errors.begin(), method.errors.end());
        if (method.name.empty()) {
            table += fmt::format("| `{}` | none: {} | | | | |\n", method.kind, method.said);
        } else if (method.errors.empty()) {
            table += fmt::format("| `{}` | {} | 1 | | {} | {} |\n", method.kind, method.name, method.said, method.source);
        } else {
            table +=
                fmt::format("| `{}` | {} | {} | {} | {:.2f}x, {:.2f}x | {} |\n", method.kind, method.name, method.errors.size(),
                            percent(numerics::quantile(method.errors, 0.5)), method.predicted, method.measured, method.source);
        }
    }
    return table +
           fmt::format("\n{} rows with a stated accept length: median error {}, p90 {}, with no number fitted to them.\n",
                       errors.size(), percent(numerics::quantile(errors, 0.5)), percent(numerics::quantile(errors, 0.9)));
}

bool all_kinds_are_in(const std::vector<Method>& found) {
    bool all = true;
    for (const std::string& kind : requests::drafter_kinds()) {
        if (std::none_of(found.begin(), found.end(), [&](const Method& method) { return method.kind == kind; })) {
            fmt::print("methods.json has no row on the kind {}\n", kind);
            all = false;
        }
    }
    return all;
}

// Acceptance where it was not measured.

std::vector<requests::PublishedDrafter> drafters() {
    std::vector<requests::PublishedDrafter> found;
    const std::filesystem::path folder = source_folder() / "models" / "drafters";
    for (const std::string& name : requests::published_drafters(folder)) {
        found.push_back(requests::load_published_drafter(folder, name));
    }
    return found;
}

bool measured_for_real(const sim::MeasuredAcceptance& row) { return row.shape.empty() && !row.source.starts_with("derived"); }

/// Errors of the lengths that are not 1, 2 or 4, of curves that have those and others.
std::vector<double> errors_of_curves(const std::vector<requests::PublishedDrafter>& all) {
    std::vector<double> errors;
    for (const requests::PublishedDrafter& drafter : all) {
        std::map<std::string, std::map<int, double>> curves;
        for (const sim::MeasuredAcceptance& row : drafter.measured) {
            if (measured_for_real(row) && row.accept_length > 0.0 && row.draft_tokens <= 8) {
                curves[row.category + "/" + row.dataset + "/" + row.thinking + "/" +
                       fmt::format("{}", row.temperature.value_or(-1.0))][row.draft_tokens] = row.accept_length;
            }
        }
        for (const auto& [name, curve] : curves) {
            if (!curve.contains(1) || !curve.contains(2) || !curve.contains(4) || curve.size() < 5) {
                continue;
            }
            const sim::Acceptance given = sim::Acceptance::curve({{1, curve.at(1)}, {2, curve.at(2)}, {4, curve.at(4)}});
            for (const auto& [length, measured] : curve) {
                if (length != 1 && length != 2 && length != 4) {
                    errors.push_back(std::abs(given.accept_length(length) / measured - 1.0));
                }
            }
        }
    }
    return errors;
}

/// Errors of what was left out, in drafts accepted, and how many lie within the stated interval.
struct LeftOut {
    std::vector<double> errors;
    int within = 0;
};

using Rows = std::vector<sim::MeasuredAcceptance>;

/// `rest` predicts `asked`, which is measured by `truth`, at the longest length that both hold.
void compare(const Rows& truth, const Rows& rest, const sim::TrafficKind& asked, const std::vector<Rows>& others,
             LeftOut& result) {
    const sim::AcceptanceOfTraffic measured = sim::acceptance_of_traffic(truth, {asked.categories, {}, "", {}}),
                                   predicted = sim::acceptance_of_traffic(rest, asked, others);
    const int length = std::min(measured.chain.measured_positions(), predicted.chain.measured_positions());
    const double drafts = measured.chain.accept_length(length) - 1.0;
    if (drafts > 0.0) {
        const double error = std::abs((predicted.chain.accept_length(length) - 1.0) / drafts - 1.0);
        result.errors.push_back(error);
        const auto end = [&](double place) {
            const sim::Acceptance moved = predicted.chain.moved(place, spread_of(sim::AcceptanceOrigin::other_requests));
            return moved.accept_length(length) - 1.0;
        };
        result.within += drafts >= end(-1.0) && drafts <= end(1.0) ? 1 : 0;
    }
}

/// Leaves out in turn the rows that share what `key` says of them, of each drafter (and within each category where `inside`).
LeftOut leave_out(const std::vector<requests::PublishedDrafter>& all, bool inside,
                  const std::function<std::string(const sim::MeasuredAcceptance&)>& key) {
    LeftOut result;
    for (const requests::PublishedDrafter& drafter : all) {
        std::vector<Rows> others;
        for (const requests::PublishedDrafter& other : all) {
            if (other.name != drafter.name) {
                others.push_back(other.measured);
            }
        }
        std::map<std::string, std::map<std::string, Rows>> groups;
        for (const sim::MeasuredAcceptance& row : drafter.measured) {
            const std::string value = key(row);
            if (measured_for_real(row) && row.category != "mixed" && !value.empty()) {
                groups[inside ? row.category : ""][value].push_back(row);
            }
        }
        for (const auto& [category, parts] : groups) {
            for (const auto& [value, truth] : parts) {
                Rows rest;
                for (const auto& [other, rows] : parts) {
                    if (other != value) {
                        rest.insert(rest.end(), rows.begin(), rows.end());
                    }
                }
                if (!rest.empty()) {
                    compare(
                        truth, rest,
                        {{{truth.front().category, 1.0}}, truth.front().temperature, inside ? truth.front().thinking : "", {}},
                        others, result);
                }
            }
        }
    }
    return result;
}

bool print_left_out(const char* what, const LeftOut& found) {
    if (found.errors.empty()) {
        fmt::print("  {}: none\n", what);
        return true;
    }
    const double within = static_cast<double>(found.within) / static_cast<double>(found.errors.size());
    fmt::print("  {:<46}{:4} left out: median error {}, 80 % within {}; {} lie in the stated interval\n", what,
               found.errors.size(), percent(numerics::quantile(found.errors, 0.5)),
               percent(numerics::quantile(found.errors, 0.8)), percent(within));
    return within >= least_within || found.errors.size() < 20;
}

// Policies beside what was measured of them.

/// Simulated gains less measured ones.
std::string misses_text(const char* of, const std::vector<double>& misses) {
    std::vector<double> sizes;
    for (const double miss : misses) {
        sizes.push_back(std::abs(miss));
    }
    return fmt::format("- {}: {} gains, median miss {:.0f} points of a percent, p90 {:.0f}; {} are above what was measured.\n",
                       of, misses.size(), 100.0 * numerics::quantile(sizes, 0.5), 100.0 * numerics::quantile(sizes, 0.9),
                       std::count_if(misses.begin(), misses.end(), [](double miss) { return miss > 0.0; }));
}

std::string policies_table() {
    std::vector<double> known, straight;
    std::string table = "| case | policy | batch | gain, simulated | measured |\n|---|---|---|---|---|\n";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "examples" / "policies")) {
        if (entry.path().filename().string().starts_with("measured-")) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
        json::Document document = json::Document::load(file);
        requests::Descriptions descriptions(catalogue(), file.parent_path());
        sweeps::PoliciesInput input = requests::read_policies(document, descriptions);
        std::erase_if(input.policies, [&](const sweeps::Policy& policy) { return !input.measured_gain(policy.name(), 0); });
        const std::vector<sweeps::PolicyBatchOutcome> batches =
            sweeps::simulate_policies(input.problem, input.policies, input.runs);
        for (std::size_t p = 0; p < input.policies.size(); ++p) {
            std::string at, simulated, measured;
            for (std::size_t b = 0; b < batches.size(); ++b) {
                const double gain = batches[b].policies[p + 1].gain.mean;
                const double seen = *input.measured_gain(input.policies[p].name(), b);
                (input.problem.fixed_lengths.size() > 2 ? known : straight).push_back(gain - seen);
                const char* comma = b == 0 ? "" : ", ";
                at += fmt::format("{}{}", comma, batches[b].batch);
                simulated += fmt::format("{}{:+.0f}", comma, 100.0 * gain);
                measured += fmt::format("{}{:+.0f}", comma, 100.0 * seen);
            }
            table += fmt::format("| [{0}](../examples/policies/{0}) | {1} | {2} | {3} % | {4} % |\n", file.filename().string(),
                                 input.policies[p].name(), at, simulated, measured);
        }
    }
    return table + "\n" + misses_text("Several lengths were measured", known) +
           misses_text("Plain decoding and the longest alone, with those between on a straight line", straight);
}

}  // namespace

int main(int count, char** arguments) {
    const bool document = count > 1 && std::string(arguments[1]) == "--document";
    const std::vector<Method> found = methods();
    std::vector<double> errors;
    const std::string kinds = text_of(found, errors), policies = policies_table();
    const DocumentBlock block{"drafters.md", "methods", "treeline_drafter_methods",
                              kinds + "\n### Policies beside what was measured of them\n\n" + policies};
    fmt::print("{}", text_of(block));
    if (document) {
        return 0;
    }
    const std::vector<requests::PublishedDrafter> all = drafters();
    const std::vector<double> curves = errors_of_curves(all);
    fmt::print("\nCurves of lengths 1 to 8, given 1, 2 and 4: {} other lengths, median error {:.1f} %, p90 {:.1f} %\n",
               curves.size(), 100.0 * numerics::quantile(curves, 0.5), 100.0 * numerics::quantile(curves, 0.9));
    fmt::print("\nAcceptance where it was not measured, in drafts accepted:\n");
    bool holds = print_left_out("categories", leave_out(all, false, [](const auto& row) { return row.category; }));
    holds &=
        print_left_out("thinking on or off, in a category", leave_out(all, true, [](const auto& row) { return row.thinking; }));
    holds &= print_left_out("temperatures, in a category", leave_out(all, true, [](const auto& row) {
                                return row.temperature ? fmt::format("{}", *row.temperature) : std::string();
                            }));
    holds &= all_kinds_are_in(found);
    holds &= numerics::quantile(errors, 0.5) <= largest_median_of_rows &&
             *std::max_element(errors.begin(), errors.end()) <= largest_row;
    holds &=
        numerics::quantile(curves, 0.5) <= largest_median_of_curves && numerics::quantile(curves, 0.9) <= largest_p90_of_curves;
    return holds && is_fresh(block) ? 0 : 1;
}

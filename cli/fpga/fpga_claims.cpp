#include "cli/fpga/fpga_claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/fpga/fpga_estimate.h"
#include "reports/number_text.h"
#include "reports/table.h"
#include "sim/fpga/ablation.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

fpga::RoundCost price(const FpgaRun& run, const fpga::MambaShape& drafter) {
    const fpga::TreeWork work = fpga::tree_work(run.tree, run.design.ssm.rules, run.options.plan);
    return fpga::round_cost(run.board, run.design, run.target.shape, drafter, work, run.accept_length, run.options);
}

fpga::RoundCost price(const FpgaRun& run) { return price(run, run.drafter->shape); }

constexpr double milliseconds = 1e3;

FpgaClaim draft_sizes(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"draft-size",
                       "Draft model sizes",
                       "",
                       {"drafter", "drafting (ms a round)", "round (ms)", "break-even against plain decoding",
                        fmt::format("accept length that equals {}", input.run.drafter->name)},
                       {}};
    const fpga::RoundCost reference = price(input.run);
    std::string finding;
    for (const FpgaModel& drafter : input.drafters) {
        const fpga::RoundCost round = price(input.run, drafter.shape);
        const double equal = round.time.value() * reference.tokens_per_second;
        claim.rows.push_back({drafter.name, milliseconds * round.draft.value(), milliseconds * round.time.value(),
                              round.break_even_accept_length, equal});
        if (drafter.name != input.run.drafter->name) {
            finding += fmt::format("{}{} is better than {} above {} tokens a round", finding.empty() ? "" : "; ", drafter.name,
                                   input.run.drafter->name, fixed_text(equal, 2));
        }
    }
    claim.finding = fmt::format("With {} tokens a round of {}: {}. A tree of depth {} yields at most {}.",
                                fixed_text(input.run.accept_length, 2), input.run.drafter->name, finding,
                                input.run.tree.depth(), input.run.tree.depth() + 1);
    return claim;
}

FpgaClaim ablation_claim(const FpgaClaimsInput& input) {
    FpgaClaim claim = {
        "ablation", "The three techniques in turn", "", {"stage", "tokens/s", "latency gain", "tokens/J", "energy gain"}, {}};
    const FpgaRun& run = input.run;
    const auto rows = fpga::ablation(run.board, run.design, run.target.shape, run.drafter->shape, run.tree, run.accept_length);
    for (const fpga::AblationRow& row : rows) {
        const bool knows_power = row.round.tokens_per_joule > 0.0;
        claim.rows.push_back({fpga::name_of(row.stage), row.round.tokens_per_second, row.latency_gain,
                              knows_power ? Json(row.round.tokens_per_joule) : Json(),
                              knows_power ? Json(row.energy_gain) : Json()});
    }
    const auto gains = [&](double fpga::AblationRow::*gain) {
        return fmt::format("{}, {} and {}", ratio_text(rows[2].*gain), ratio_text(rows[3].*gain), ratio_text(rows[4].*gain));
    };
    claim.finding =
        fmt::format("Hybrid backtracking, the FIFO and the overlap gain {}; published for VCK190 are 1.42x, 1.52x and 1.23x.",
                    gains(&fpga::AblationRow::latency_gain));
    if (rows[0].round.tokens_per_joule > 0.0) {
        claim.finding += fmt::format(" In tokens per joule they gain {}; published are 1.51x, 1.35x and 1.16x.",
                                     gains(&fpga::AblationRow::energy_gain));
    }
    return claim;
}

FpgaClaim state_formats(const FpgaClaimsInput& input) {
    FpgaClaim claim = {"state-format",
                       "Width of the recurrent state",
                       "",
                       {"state", "bits an element", "states (MB a verification)", "plain tokens/s", "tokens/s", "speed-up"},
                       {}};
    for (const ClaimedStorage& state : input.states) {
        FpgaRun run = input.run;
        run.design.state = state.storage;
        const fpga::RoundCost round = price(run);
        claim.rows.push_back({state.label, state.storage.bits_per_element(), 1e-6 * round.verify.bytes.states.value(),
                              1.0 / round.plain.time.value(), round.tokens_per_second, round.speedup});
    }
    const double first = claim.rows.front()[4].get<double>(), last = claim.rows.back()[4].get<double>();
    claim.finding =
        fmt::format("{} is {} as fast as {}.", input.states.front().label, ratio_text(first / last), input.states.back().label);
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
        const fpga::RoundCost round = price(run);
        FpgaRun narrow = run;
        narrow.design.linear.draft_tile_outputs = narrow.design.linear.tile_outputs;
        claim.rows.push_back({run.design.name, 1e-9 * run.board.bandwidth.value(), 1.0 / round.plain.time.value(),
                              round.tokens_per_second, round.speedup, fpga::name_of(round.verify.bound),
                              fpga::name_of(round.verify.layer.bound), price(narrow).tokens_per_second});
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
        const fpga::RoundCost round = price(run);
        claim.rows.push_back({structure.data, structure.label, structure.tree.verified_tokens(), structure.accept_length,
                              milliseconds * round.time.value(), round.tokens_per_second, round.speedup});
    }
    claim.finding = "Source: " + input.structures_source + ".";
    return claim;
}

std::string cell_text(const Json& cell) {
    if (cell.is_string()) {
        return cell.get<std::string>();
    }
    return cell.is_null() ? std::string(unknown_text) : short_text(cell.get<double>());
}

}  // namespace

std::vector<FpgaClaim> fpga_claims(const FpgaClaimsInput& input) {
    return {draft_sizes(input), ablation_claim(input), state_formats(input), memories(input), structures(input)};
}

std::string claims_table(const FpgaClaimsInput& input, const std::vector<FpgaClaim>& claims) {
    std::string text = (input.run.title.empty() ? input.run.design.title : input.run.title) + "\n";
    for (const FpgaClaim& claim : claims) {
        std::vector<Column> columns;
        for (const std::string& title : claim.columns) {
            const std::size_t at = columns.size();
            columns.push_back({title, !claim.rows.empty() && claim.rows.front()[at].is_string() ? Align::left : Align::right});
        }
        TextTable table(columns);
        for (const auto& row : claim.rows) {
            std::vector<std::string> cells;
            std::transform(row.begin(), row.end(), std::back_inserter(cells), cell_text);
            table.add(std::move(cells));
        }
        text += "\n" + claim.title + "\n" + wrapped(claim.finding, page_width) + "\n" + table.text("  ");
    }
    return text;
}

Json claims_json(const FpgaClaimsInput& input, const std::vector<FpgaClaim>& claims) {
    Json list = Json::array();
    for (const FpgaClaim& claim : claims) {
        Json rows = Json::array();
        for (const auto& row : claim.rows) {
            Json entry = Json::object();
            for (std::size_t i = 0; i < row.size(); ++i) {
                entry[claim.columns[i]] = row[i];
            }
            rows.push_back(std::move(entry));
        }
        list.push_back({{"id", claim.id}, {"title", claim.title}, {"finding", claim.finding}, {"rows", rows}});
    }
    return {{"format", "treeline-fpga-claims"}, {"version", 1}, {"design", input.run.design.name}, {"claims", list}};
}

std::string claims_csv(const std::vector<FpgaClaim>& claims) {
    std::string text;
    for (const FpgaClaim& claim : claims) {
        std::vector<std::string> titles = {"experiment"};
        titles.insert(titles.end(), claim.columns.begin(), claim.columns.end());
        text += csv_line(titles);
        for (const auto& row : claim.rows) {
            std::vector<std::string> fields = {claim.id};
            for (const Json& cell : row) {
                fields.push_back(cell.is_string() ? cell.get<std::string>()
                                 : cell.is_null() ? ""
                                                  : exact_text(cell.get<double>()));
            }
            text += csv_line(fields);
        }
    }
    return text;
}

}  // namespace treeline

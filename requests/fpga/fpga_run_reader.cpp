#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hardware/fpga.h"
#include "json/wording.h"
#include "requests/fpga/fpga_run_reader.h"
#include "requests/keys/fpga_keys.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "sim/fpga/widths.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

constexpr double megahertz = 1e6, gigabyte = 1e9;
constexpr int largest_change = 1'000'000'000;
// Of descriptions of boards (hardware/fpga.cpp), and more than any memory reads.
constexpr double slowest_clock = 1.0, fastest_clock = 5000.0, slowest_memory = 0.01, fastest_memory = 1e5;

/// A number of the design or board that "changes" may replace.
struct Change {
    const char* key;
    double (*get)(const sweeps::FpgaRun&);
    void (*set)(sweeps::FpgaRun&, double);
    const char* meaning;
    bool whole = false;
    double low = 0.0, high = largest_change;
};

const std::array<Change, 15> changes = {{
    {"clock_megahertz", [](const sweeps::FpgaRun& run) { return sim::fpga::clock_of(run.board, run.design) / megahertz; },
     [](sweeps::FpgaRun& run, double value) { run.design.clock_hz = value * megahertz; }, "MHz", false, slowest_clock,
     fastest_clock},
    {"bandwidth_gigabytes", [](const sweeps::FpgaRun& run) { return run.board.bandwidth.value() / gigabyte; },
     [](sweeps::FpgaRun& run, double value) { run.board.bandwidth = BytesPerSecond(value * gigabyte); },
     "GB/s of the board's memory", false, slowest_memory, fastest_memory},
    {"memory_efficiency", [](const sweeps::FpgaRun& run) { return run.design.memory_efficiency; },
     [](sweeps::FpgaRun& run, double value) { run.design.memory_efficiency = value; }, "share of the bandwidth that is reached",
     false, 0.01, 1.0},
    {"tile_inputs", [](const sweeps::FpgaRun& run) { return run.design.linear.tile_inputs; },
     [](sweeps::FpgaRun& run, double value) { run.design.linear.tile_inputs = value; }, "inputs of a tile of the Linear unit",
     true},
    {"tile_outputs", [](const sweeps::FpgaRun& run) { return run.design.linear.tile_outputs; },
     [](sweeps::FpgaRun& run, double value) { run.design.linear.tile_outputs = value; }, "outputs of a tile of the Linear unit",
     true},
    {"tokens", [](const sweeps::FpgaRun& run) { return run.design.linear.tokens; },
     [](sweeps::FpgaRun& run, double value) { run.design.linear.tokens = value; }, "tokens that a tile serves at once", true},
    {"draft_tile_outputs", [](const sweeps::FpgaRun& run) { return run.design.linear.draft_tile_outputs; },
     [](sweeps::FpgaRun& run, double value) { run.design.linear.draft_tile_outputs = value; },
     "outputs of a tile when drafting", true},
    {"lanes", [](const sweeps::FpgaRun& run) { return run.design.ssm.lanes; },
     [](sweeps::FpgaRun& run, double value) { run.design.ssm.lanes = value; }, "lanes of the SSM unit", true},
    {"pipeline_depth", [](const sweeps::FpgaRun& run) { return double(run.design.ssm.rules.pipeline_depth); },
     [](sweeps::FpgaRun& run, double value) { run.design.ssm.rules.pipeline_depth = static_cast<int>(value); },
     "stages of the SSM unit's pipeline", true},
    {"interleave", [](const sweeps::FpgaRun& run) { return double(run.design.ssm.rules.interleave); },
     [](sweeps::FpgaRun& run, double value) { run.design.ssm.rules.interleave = static_cast<int>(value); },
     "rows that the SSM unit interleaves", true},
    {"initiation_interval", [](const sweeps::FpgaRun& run) { return double(run.design.ssm.rules.initiation_interval); },
     [](sweeps::FpgaRun& run, double value) { run.design.ssm.rules.initiation_interval = static_cast<int>(value); },
     "cycles between inputs of the SSM unit", true},
    {"fifo_depth", [](const sweeps::FpgaRun& run) { return double(run.design.ssm.fifo_depth); },
     [](sweeps::FpgaRun& run, double value) { run.design.ssm.fifo_depth = static_cast<int>(value); },
     "states that the SSM unit's FIFO holds", true},
    {"norm_lanes", [](const sweeps::FpgaRun& run) { return run.design.norm.lanes; },
     [](sweeps::FpgaRun& run, double value) { run.design.norm.lanes = value; }, "lanes of the normalisation", true},
    {"weight_bits", [](const sweeps::FpgaRun& run) { return run.design.weights.bits; },
     [](sweeps::FpgaRun& run, double value) { run.design = sim::fpga::with_weight_bits(std::move(run.design), value); },
     "bits of a weight; products that a DSP holds, and what one takes of the fabric and of energy, follow", true},
    {"state_bits", [](const sweeps::FpgaRun& run) { return run.design.state.bits; },
     [](sweeps::FpgaRun& run, double value) { run.design.state.bits = value; }, "bits of an element of the state", true},
}};

json::CountKey whole_key(const Change& change) {
    return {change.key, 0, largest_change, {}, change.meaning, "the design's or the board's"};
}

json::NumberKey number_key(const Change& change) {
    return {change.key, "", change.low, change.high, {}, change.meaning, "the design's or the board's"};
}

void read_changes(json::Reader at, sweeps::FpgaRun& run) {
    for (const Change& change : changes) {
        if (!at.has(change.key)) {
            continue;
        }
        const double value = change.whole ? read<double>(at, whole_key(change)) : read(at, number_key(change));
        run.changes.push_back(
            fmt::format("{} {} instead of {}", change.key, text::short_text(value), text::short_text(change.get(run))));
        change.set(run, value);
    }
    at.finish();
}

template <class T, class Load>
T loaded(json::Reader& at, std::string_view key, const std::string& name, const Descriptions& descriptions,
         sweeps::FpgaRun& run, Load load) {
    try {
        json::Described<T> described = load(descriptions.resolved(name));
        const std::vector<text::Provenance> entries = descriptions.named(std::move(described.provenance), {name});
        run.provenance.insert(run.provenance.end(), entries.begin(), entries.end());
        return std::move(described.value);
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem(key, problem);
        }
        return T();
    }
}

sweeps::FpgaModel read_model(json::Reader& at, std::string_view key, Descriptions& descriptions) {
    sweeps::FpgaModel model;
    if (const sim::Model* described = descriptions.model(at, key)) {
        model.name = described->name;
        const std::string problem = sim::fpga::shape_problem(*described);
        if (!problem.empty()) {
            at.problem(key, problem);
        } else {
            model.shape = sim::fpga::shape_of(*described);
        }
    }
    return model;
}

void read_hardware(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware, sweeps::FpgaRun& run) {
    const std::string design = read(at, fpga_keys::design);
    if (!design.empty()) {
        run.design = loaded<sim::fpga::Design>(at, fpga_keys::design, design, descriptions, run,
                                               [&](const std::string& name) { return hardware::load_design(hardware, name); });
    }
    const std::string board = read_or(at, fpga_keys::board, run.design.board);
    if (!board.empty()) {
        run.board =
            loaded<sim::fpga::Board>(at, at.has(fpga_keys::board) ? fpga_keys::board : fpga_keys::design, board, descriptions,
                                     run, [&](const std::string& name) { return hardware::load_board(hardware, name); });
    }
    if (std::optional<json::Reader> changed = at.optional_object(fpga_keys::changes)) {
        read_changes(std::move(*changed), run);
    }
}

/// Ranks for growing a tree by preference.
sim::RankAcceptance ranks_of(const sweeps::FpgaRun& run) {
    return run.acceptance ? sim::RankAcceptance::known_or_assumed(run.acceptance->siblings) : sim::RankAcceptance::assumed();
}

void read_accept_length(json::Reader& at, const sim::TreeShape& shape, sweeps::FpgaRun& run) {
    if (at.has(fpga_keys::accept_length) && at.has(fpga_keys::acceptance)) {
        at.problem(fpga_keys::accept_length, "says the same thing as acceptance; give one of them");
    }
    if (at.has(fpga_keys::accept_length)) {
        const double most = run.tree.depth() + 1.0;
        run.accept_length = read(at, fpga_keys::accept_length);
        run.accept_source = read(at, fpga_keys::accept_source);
        if (run.accept_length > most) {
            at.problem(fpga_keys::accept_length,
                       fmt::format("is {}, but a tree of depth {} yields at most {} tokens per round, bonus token included",
                                   text::short_text(run.accept_length), run.tree.depth(), text::short_text(most)));
        }
    } else if (!run.acceptance) {
        at.problem(fpga_keys::accept_length, "is missing: give accept_length or acceptance");
    } else if (const std::string problem = sim::acceptance_problem(*run.acceptance, shape, run.tree); !problem.empty()) {
        at.problem(fpga_keys::acceptance, problem);
    } else {
        run.accept_length = sim::accepted_tokens(*run.acceptance, shape, run.tree).length;
    }
}

void read_speculation_part(json::Reader& at, Descriptions& descriptions, sweeps::FpgaRun& run) {
    if (!at.has(fpga_keys::drafter)) {
        for (const std::string_view key :
             {fpga_keys::shape.key, fpga_keys::accept_length.key, fpga_keys::accept_source.key, fpga_keys::acceptance.key}) {
            if (at.has(key)) {
                at.problem(key, "needs a drafter");
            }
        }
        return;
    }
    run.drafter = read_model(at, fpga_keys::drafter, descriptions);
    if (std::optional<json::Reader> acceptance = at.optional_object(fpga_keys::acceptance)) {
        AcceptanceChoice choice = read_acceptance(std::move(*acceptance), descriptions);
        run.acceptance = std::move(choice.acceptance);
        run.accept_source = std::move(choice.source);
    }
    const sim::TreeShape shape = read_shape_under(at, fpga_keys::shape, descriptions);
    run.tree_label = sweeps::text_of(shape);
    if (problems(shape).empty()) {
        run.tree = sim::build_tree(shape, ranks_of(run));
        read_accept_length(at, shape, run);
    }
}

void read_options(json::Reader& at, sweeps::FpgaRun& run) {
    run.options.plan = read(at, fpga_keys::plan);
    run.options.tree_states = read(at, fpga_keys::tree_states);
    run.design.overlap = read_or(at, fpga_keys::overlap, run.design.overlap);
}

}  // namespace

std::vector<json::KeyRow> change_rows() {
    std::vector<json::KeyRow> rows;
    for (const Change& change : changes) {
        rows.push_back(change.whole ? row_of(whole_key(change)) : row_of(number_key(change)));
    }
    return rows;
}

std::vector<std::string> design_changes() {
    std::vector<std::string> keys;
    for (const Change& change : changes) {
        keys.emplace_back(change.key);
    }
    return keys;
}

sweeps::FpgaRun read_fpga_run(json::Reader& at, Descriptions& descriptions, const std::filesystem::path& hardware) {
    sweeps::FpgaRun run;
    run.title = read(at, fpga_keys::title);
    run.source = read(at, fpga_keys::source);
    read_hardware(at, descriptions, hardware, run);
    run.target = read_model(at, fpga_keys::model, descriptions);
    read_speculation_part(at, descriptions, run);
    read_options(at, run);
    return run;
}

}  // namespace treeline::requests

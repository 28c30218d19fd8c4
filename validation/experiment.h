// Published results as data: what was run under which conditions, what was measured, and where it is printed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/critical.h"
#include "sim/enum_names.h"
#include "sim/round.h"
#include "validation/fpga_point.h"
#include "validation/parameters.h"

namespace treeline::validation {

/// What a row's number is. The edge converts units; here times are in seconds, sizes in bytes, speeds in tokens per second.
enum class Observable {
    round_time,             ///< one round; plain decoding: one step
    draft_time,             ///< the drafter's share of a round
    scan_time,              ///< the state scan of one layer in the verification pass
    speed,                  ///< tokens per second and sequence: of decoding alone, or of a whole answer if its length is given
    memory,                 ///< peak of one device
    throughput_multiplier,  ///< over plain decoding under the same conditions
    verified_tokens,        ///< tokens that the verification pass runs for one sequence
    verified_states,        ///< recurrent states that it starts from
    decoding_saved,         ///< SPIRe's cost analysis, in its units
    net_saving,
    critical_context,  ///< longest context, in powers of two, at which verifying k tokens can become compute-bound
    tokens_per_joule,
    dsps,  ///< what an FPGA design takes of its board, as are the next three
    luts,
    bram18s,
    urams,
};
constexpr auto names_in(Observable) {
    using enum Observable;
    return enum_names<Observable>({{round_time, "round_time"},
                                   {draft_time, "draft_time"},
                                   {scan_time, "scan_time"},
                                   {speed, "speed"},
                                   {memory, "memory"},
                                   {throughput_multiplier, "throughput_multiplier"},
                                   {verified_tokens, "verified_tokens"},
                                   {verified_states, "verified_states"},
                                   {decoding_saved, "decoding_saved"},
                                   {net_saving, "net_saving"},
                                   {critical_context, "critical_context"},
                                   {tokens_per_joule, "tokens_per_joule"},
                                   {dsps, "dsps"},
                                   {luts, "luts"},
                                   {bram18s, "bram18s"},
                                   {urams, "urams"}});
}

/// "time", "size", "speed", "efficiency", "count" or "ratio": what units a row's value may have.
std::string_view dimension_of(Observable observable);

/// Everything that determines a prediction, except the platform.
struct ExperimentPoint {
    sim::RoundSetup setup;          ///< its platform is replaced by the fitted one
    bool own_platform = false;      ///< it is not: a ratio to a point on another platform, which is taken as described
    std::optional<FpgaPoint> fpga;  ///< on an accelerator; of the rest of the point only the target's name and size apply
    int speculation = 0;
    double batch = 1.0;
    double context = 0.0;           ///< tokens cached, mean over the answer
    double prompt_tokens = 0.0;     ///< read before the first token of a whole answer
    double generated_tokens = 0.0;  ///< length of the answer; 0: decoding alone
    sim::TrainingCost training;
    // How this run differs from its stack:
    std::optional<sim::StateCopy> state_copy;
    std::optional<bool> draft_graphs;
    bool allocated_only = false;  ///< a memory figure is what the framework allocated, without driver and context
};

enum class Role {
    fit,   ///< the platform's parameters may see it
    test,  ///< predicted only
};

struct ExperimentRow {
    std::string name;    ///< within its table: "joint, 2 drafts of 6"
    std::string source;  ///< the cell
    std::string platform;
    Role role = Role::test;
    Observable observable = Observable::round_time;
    std::string unit;            ///< as printed, for output
    double base_units = 1.0;     ///< of one unit
    double measured = 0.0;       ///< in base units; 0: printed without a number
    std::string not_reproduced;  ///< why it is not predicted, as a sentence; there is no point then
    std::optional<ExperimentPoint> point;
    std::optional<ExperimentPoint> relative_to;  ///< the number is a ratio to this point's
    std::string choice_of;                       ///< rows of a table with the same text here are alternatives to each other
    bool out_of_memory = false;                  ///< the measurement is that it does not run; there is no number then
    bool ran = false;                            ///< the measurement is that it fits into memory; there is no number then
    std::vector<std::pair<std::string, std::string>> conditions;  ///< all that were stated, for output
};

inline bool has_number(const ExperimentRow& row) { return !row.out_of_memory && !row.ran; }

struct ExperimentTable {
    std::string id;        ///< "table-3"
    std::string what;      ///< one line
    bool measured = true;  ///< false: counts, or what another model says; such tables are scored apart
    std::vector<ExperimentRow> rows;
};

/// One paper, or another source of measurements.
struct Experiments {
    std::string file;   ///< as the user named it
    std::string paper;  ///< short name: "Snakes and Ladders"
    std::string source;
    std::vector<ExperimentTable> tables;
};

/// A platform that experiments ran on, and what is not known about it beforehand.
struct ExperimentPlatform {
    std::string name;
    std::string file;  ///< that declares it; rows of other files are only predicted
    sim::Platform platform;
    std::string inherits;  ///< an earlier platform whose fitted numbers apply here as well (the same software); may be empty
    std::vector<FreeParameter> free;
    std::string design;  ///< of an FPGA accelerator, by name; there is no device and no stack then
    std::vector<std::string>
        fitted_numbers;  ///< numbers that its description says were fitted, each with the row, as sentences
};

}  // namespace treeline::validation

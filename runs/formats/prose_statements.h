// Internal to the formats: measurements that people state in sentences and lists ("K=2: 220 tok/s, no spec: 140").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runs/formats/prose_labels.h"

namespace treeline::runs::run_formats_of {

/// A time or rate with what its sentence says of it, as cells of a table (LoadTable); empty where it says nothing.
struct Statement {
    std::string setup;     ///< "K=3", "baseline", or "drafts", which names no number of them
    std::string unit;      ///< "tok/s", "tok/s per user", "TPOT (ms)", "TPOT (us)"; empty: that of the others
    std::string time;      ///< "220", "42.5-45.7"
    std::string requests;  ///< in flight
    std::string context;   ///< tokens
    std::string length;    ///< "2.4"
    std::string rate;      ///< "71%"
    bool follows = false;  ///< another figure, as the second of "42 -> 78 tok/s"
    bool assumed = false;  ///< plain, since nothing but the place before the other says so
    bool alone = false;    ///< the figure before it is of a set-up that is not said
    DeploymentWords deployment;
    long line = 0;  ///< of the file
};

/// What a line states, and what of it was left out.
struct StatedLine {
    std::vector<Statement> statements;
    bool lists_left_out = false;    ///< rates in a list that nothing pairs with settings
    bool drafter_left_out = false;  ///< rates of the drafter by itself
};

/// Rates of prompts, of single devices and of a drafter that runs by itself are no statements.
StatedLine statements_of(std::string_view line);

/// The requests in flight that a line says and that stand in it alone ("concurrency 32", "(all at batch size 8, RTX 4090)");
/// empty for another line.
std::string requests_of_line(std::string_view line);

/// Puts the acceptance that a line of its own gives into the statement that it follows ("Draft acceptance: 0.65.").
void take_acceptance_of_line(std::string_view line, Statement& statement);

}  // namespace treeline::runs::run_formats_of

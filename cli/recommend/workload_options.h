// The options that `recommend` and `report` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/explain_flag.h"
#include "engines/engine.h"
#include "requests/recommend/workload_file.h"
#include "sweeps/recommend_answer.h"

namespace CLI {
class App;
}

namespace treeline::cli {

struct WorkloadOptions {
    std::string file;  ///< empty: the flags are the whole workload
    requests::WorkloadFlags flags;
    std::string threads = "0";
    std::vector<std::string> engines;  ///< of --engine; empty: all, at their newest version
    std::string export_as, store;      ///< --export and --store of recommend; empty: the answer itself, kept nowhere
    bool print_input = false;
    ExplainFlag explain;  ///< of recommend
};

/// Declares FILE, the flags of a workload, --engine, --print-input and --threads. The options share ownership of `options`.
void add_workload_options(CLI::App& app, const std::shared_ptr<WorkloadOptions>& options);

/// The workload of the options, as read.
requests::WorkloadSource read_workload(const WorkloadOptions& options, const requests::Catalogue& catalogue);

struct AnsweredFile {
    sweeps::Answer answer;
    nlohmann::ordered_json raw;            ///< the workload as given by the file or the flags
    std::vector<engines::Engine> engines;  ///< whose flags are shown
};
/// Reads and answers it.
AnsweredFile answer_file(const WorkloadOptions& options, const requests::Catalogue& catalogue);

}  // namespace treeline::cli

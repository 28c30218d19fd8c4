// The options that `recommend` and `report` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/explain_flag.h"
#include "reports/recommend/engines_output.h"
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
    std::string export_as, store;  ///< --export and --store of recommend; empty: the answer itself, kept nowhere
    bool print_input = false;
    ExplainFlag explain;  ///< of recommend
};

/// Declares FILE, the flags of a workload, --print-input and --threads. The options share ownership of `options`.
void add_workload_options(CLI::App& app, const std::shared_ptr<WorkloadOptions>& options);

/// The workload of the options, as read.
requests::WorkloadSource read_workload(const WorkloadOptions& options, const requests::Catalogue& catalogue);

/// The engines of --engine, as flags of a workload name them; `all` stands for each at its newest version. Empty without the
/// flag. Throws InputError.
std::vector<std::string> engines_asked(const WorkloadOptions& options);

struct AnsweredFile {
    sweeps::Answer answer;
    nlohmann::ordered_json raw;  ///< the workload as given by the file or the flags
};
/// Reads and answers it. Throws InputError where --engine names several engines.
AnsweredFile answer_file(const WorkloadOptions& options, const requests::Catalogue& catalogue);

/// The same on each of the engines, each with its own stack; what cannot be answered on one of them says why. Throws InputError
/// if that is so on all.
std::vector<reports::EngineAnswer> answer_on_engines(const WorkloadOptions& options, const std::vector<std::string>& engines,
                                                     const requests::Catalogue& catalogue);

}  // namespace treeline::cli

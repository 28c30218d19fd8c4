// From a workload to the best speculative configuration: its gain, its schedule by batch size, its rivals, engine flags.
//
//     treeline::WorkloadAnswer answer = treeline::recommend_file("workload.json");
//     std::puts(treeline::as_table(answer).c_str());
//
// docs/inputs.md explains the keys of a workload; sweeps/recommend.h the fields of an answer. Functions throw InputError with
// every problem of the input, a sentence each. They never print.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/recommend_answer.h"
#include "sweeps/variants.h"
#include "treeline/catalogue.h"

namespace treeline {

using namespace sim::drafter_kinds;
using sim::Acceptance;
using sim::chains_up_to;
using sim::Speculation;
using sweeps::Candidate;
using sweeps::DrafterChoice;
using sweeps::Limits;
using sweeps::Objective;
using sweeps::Recommendation;
using sweeps::RecommendInput;
using sweeps::Schedule;
using sweeps::ScheduleEntry;
using sweeps::Traffic;
using sweeps::traffic_from;
using sweeps::Variant;
using sweeps::VariantLists;
using sweeps::Workload;

struct WorkloadAnswer : sweeps::Answer {
    /// The workload as its file has it, which as_json() repeats under "input"; null where it was made of structs.
    std::shared_ptr<const nlohmann::ordered_json> workload;
};

/// The answer to the workload in a file, or to the one that an earlier answer's JSON repeats. Paths in it are relative to its
/// folder. `threads`: 0 is one a core; results do not depend on it.
WorkloadAnswer recommend_file(const std::filesystem::path& file, const requests::Catalogue& catalogue = installed_catalogue(),
                              unsigned threads = 0);
/// The same from JSON text; paths in it are relative to `folder`.
WorkloadAnswer recommend_json(std::string_view text, const requests::Catalogue& catalogue = installed_catalogue(),
                              const std::filesystem::path& folder = {}, unsigned threads = 0);

/// Every combination of the lists' targets, platforms, drafters and rollback policies as the variants of `rest`, whose other
/// fields (speculations, traffic, limits, objective) are kept. Prompts are as long as the context of the typical point if
/// `rest.prompt_tokens` is 0; `output_tokens` is the mean length of an answer in the steady state, or 0 for decoding alone. The
/// first target is the one that answers speak of. Throws InputError with every problem.
sweeps::RecommendInput workload_of(const sweeps::VariantLists& lists, sweeps::Workload rest, double output_tokens = 0.0);
/// The answer to a workload of structs.
WorkloadAnswer recommend(sweeps::RecommendInput input, unsigned threads = 0);

/// With the flags of the engine whose stack was priced. `explain`: sections to show behind the first screen, between commas, or
/// "all" (`treeline recommend --explain`). Throws InputError for another name.
std::string as_table(const WorkloadAnswer& answer, const std::optional<std::string>& explain = {});
/// Format "treeline-recommendation": times in ms, memory in GB, energy in J.
std::string as_json(const WorkloadAnswer& answer);
/// One line for each candidate that keeps the limits, best first.
std::string as_csv(const WorkloadAnswer& answer);
/// A self-contained HTML page with plots.
std::string as_page(const WorkloadAnswer& answer);

}  // namespace treeline

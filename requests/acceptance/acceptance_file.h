// Files in which engines, benchmarks and drafters' makers write down what was accepted, told apart by what they hold.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runs/run.h"
#include "sim/measured_acceptance.h"

namespace treeline::requests {

/// Such a file. Accept lengths count the bonus token and draft tokens leave the root out, whatever the file counts.
struct AcceptanceFile {
    std::string format;  ///< "InferenceX golden curves", …
    /// By model, in the file's order; a file of one model may leave its name empty.
    std::vector<std::pair<std::string, std::vector<sim::MeasuredAcceptance>>> models;
    std::vector<double> by_rank;  ///< P(the child of rank r is accepted), of files that say so
    double hit_rate = 1.0;        ///< share of the rounds that drafted, over which acceptance then counts: look-ups of a run
    bool of_a_run = false;        ///< of the user's own; where it did not count its rounds, its means are stated ones
    /// Of a run that counted all its rounds: the accept length of its most frequent draft length.
    struct Counts {
        double rounds = 0.0, accept_length = 1.0, standard_error = 0.0, draft_tokens = 1.0;
    };
    std::optional<Counts> counted;
    std::vector<std::string> remarks;  ///< what its counts cannot be, as sentences without a full stop
    bool only_measured = false;        ///< lengths that were not measured are unknown (`measured_per_k`)
    int most_draft_tokens = 0;         ///< a hard limit of the drafter; 0 = none stated

    /// The measurements of a model, or of the only one where `name` is empty. Throws InputError: no such model, with the names.
    [[nodiscard]] const std::vector<sim::MeasuredAcceptance>& of(const std::string& name) const;
};

/// Throws InputError: a file that cannot be read, of none of these formats, or that contradicts itself.
///
/// - InferenceX golden curves (YAML): model → thinking_on, thinking_off → draft tokens → accept length
/// - Model-Optimizer's speculation_profile.json: marginal rates, accept lengths by k and by category
/// - speculators' acceptance.csv: counts and rates by position, a row for each run
/// - vectors by child rank, as Sequoia measures them: a list of numbers, or {"acceptance_by_child_rank": [...]}
/// - whatever an engine or a client counted while it served, in any format that runs::import_runs reads (logs of any length)
AcceptanceFile read_acceptance_file(const std::filesystem::path& path);
/// The same of a text; `name` says in messages where it comes from.
AcceptanceFile acceptance_file_of(const std::string& text, const std::string& name);

namespace acceptance_file {

using FileJson = nlohmann::ordered_json;

/// Each returns nothing where the text is of another format.
std::optional<AcceptanceFile> golden_curves(const std::string& text, const std::string& name);
std::optional<AcceptanceFile> speculation_profile(const FileJson& json, const std::string& name);
std::optional<AcceptanceFile> acceptance_table(const std::string& text, const std::string& name);
std::optional<AcceptanceFile> rank_vector(const FileJson& json, const std::string& name);
/// Throws InputError where the run measured no acceptance.
AcceptanceFile counted_run(const runs::MeasuredRun& run, const std::string& name);

}  // namespace acceptance_file

}  // namespace treeline::requests

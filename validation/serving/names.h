// What people call models, devices, engines, drafters, formats and data sets, and what they are called here. The table is data
// (validation/serving/names.json); this is its form and how names are compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/precision.h"
#include "sim/units.h"

namespace treeline::validation {

/// Names that mean the same. Patterns are normalised() texts in which * stands for any characters.
struct NameEntry {
    std::vector<std::string> patterns;
    std::string name;       ///< in the catalogue, or the word of a kind; empty: cannot be priced
    std::string reason;     ///< why it cannot
    bool adaptive = false;  ///< of a drafter: a policy verifies fewer tokens where that pays
};

/// The version of runs that state none, or name a build.
struct VersionEntry {
    std::vector<std::string> patterns;  ///< of the version as stated; "" is none
    std::string version;
};

struct EngineEntry {
    NameEntry names;
    std::vector<VersionEntry> versions;  ///< of serving runs
    bool splits_layers = false;          ///< puts layers on several devices one after the other rather than cutting each
    bool own_stack = true;               ///< `names.name` describes it; false: the nearest one that is described
    bool fp8_cache = false;              ///< keeps an fp8 cache for checkpoints that somebody else than the publisher quantised
};

/// A format of checkpoints.
struct FormatEntry {
    std::vector<std::string> patterns;  ///< of one word of the text
    sim::Storage storage;
    sim::NumberFormat math = sim::NumberFormat::bf16;
    std::optional<sim::Storage> embeddings = {};        ///< where they are quantised, too
    std::vector<std::string> engines = {};              ///< patterns of engines that mean this by the word; none: all
    std::vector<sim::WeightException> exceptions = {};  ///< operations whose weights are in another format
};

/// Lengths of a data set's prompts and answers, for rows that do not state them.
struct DatasetEntry {
    std::vector<std::string> patterns;
    double prompt_tokens = 0.0, output_tokens = 0.0;
    bool decoding_only = false;  ///< prompts are read before what is measured
};

/// Conditions that runs do not state in their table, but elsewhere: in the text around it, or as defaults of the engine,
/// harness or drafter at that version. Patterns of a row's texts; an empty list fits any.
struct ConditionEntry {
    std::vector<std::string> series, engines, engine_versions, models, drafters, drafter_models, formats;
    // What holds; empty: says nothing of it.
    std::string device, engine, engine_version;
    std::optional<double> draft_tokens;
    std::optional<double> tree_steps, tree_top_k, tree_size;  ///< as SpeculationRow has them
    std::optional<double> output_tokens;
    std::optional<double> devices;               ///< that cut each layer (tensor parallelism), where the row says nothing of it
    std::optional<double> most_requests;         ///< that the engine ran at once with speculation
    std::optional<double> vector_rows;           ///< rows that the build takes on vector units (RowCurve::few_rows)
    std::optional<double> new_prompt_tokens;     ///< of a prompt, what the prefix cache does not hold
    std::optional<double> experts, draft_ranks;  ///< ranks that experts are dealt out to; ranks of the drafter's layers
    bool replicas = false;                       ///< devices beyond those of a cut serve replicas
    std::string drafter_model, format, expert_kernels, attention_kernels, interconnect;
    std::string unstated;  ///< what the row holds although its source does not state it: "model"
    /// The printed accept length is the mean over rounds that drafted, of which the runs do not say how many they were.
    bool counts_rounds_that_drafted = false;
    /// The engine had no kernel for the target's sparse attention and read every cached token.
    bool attends_to_all = false;
    /// The source says that speculation was slow for a fault of its engine or of a kernel.
    bool reports_defect = false;
    /// The source says that the runs with and without speculation differ in more than that.
    bool differs_in_more = false;
    /// All requests send the same prompt, so that its caches are kept once and all of it but the last token is known.
    bool shares_prompt = false;
    std::optional<double> expert_pool;  ///< share of a mixture's experts that the runs' tokens choose from
    std::optional<double> host_speed;   ///< of the machine's own processor (sim::Device::host_speed)
    std::optional<Watts> power_limit;   ///< of each device
    /// A source states it of its own series. Otherwise it is what others do, or a default that these runs need not have kept.
    [[nodiscard]] bool is_stated() const { return published && !series.empty(); }
    bool published = false;
};

/// Which runs an entry is about: patterns of their normalised() texts; empty: any.
struct RunPattern {
    std::string engine, engine_version, model, device, format;
    std::string cut;  ///< of sim::text_of(): "tensor-4-experts-4"
};

/// Runs that their own publisher or collector says to leave out.
struct ExclusionEntry {
    RunPattern runs;
    std::string reason;
};

/// Whether a benchmark ran a deployment with speculation although its rows say nothing of it.
enum class HiddenSpeculation { never, sometimes, always };
constexpr auto names_in(HiddenSpeculation) {
    using enum HiddenSpeculation;
    return enum_names<HiddenSpeculation>({{never, "never"}, {sometimes, "sometimes"}, {always, "always"}});
}

/// What a benchmark's published configuration says of its runs, and their rows do not.
struct BenchmarkEntry {
    RunPattern runs;
    std::optional<HiddenSpeculation> speculation;
    std::optional<sim::NumberFormat> kv_cache, state;
};

/// Published rows that numbers of the catalogue were fitted to, or chosen by: their errors say little about rows that nobody
/// had seen.
struct EvidenceEntry {
    std::vector<std::string> citations;  ///< patterns of their normalised() citations
    std::vector<std::string> numbers;    ///< "stacks/vllm-0.10: host_per_round"
};

struct NameTable {
    std::vector<std::string> ignored_words;         ///< of model names: "instruct", "fp8", four digits of a date as "####"
    std::vector<std::string> ignored_prefixes;      ///< likewise, in front: "meta"
    std::vector<std::string> ignored_device_words;  ///< in front of a device's name: "nvidia", counts as "#x"
    std::vector<NameEntry> models, devices, drafters;
    std::vector<EngineEntry> engines;
    std::vector<FormatEntry> formats;
    std::vector<std::string> fp4_experts_only;  ///< patterns of models whose fp4 checkpoints leave all else in 16 bits
    std::vector<DatasetEntry> datasets;         ///< the last one stands for all others
    double reasoning_output_tokens = 0.0;       ///< of a model that thinks first
    std::vector<ExclusionEntry> exclusions;
    std::vector<ConditionEntry> conditions;     ///< the first that fits and says something fills in what a row leaves open
    std::vector<std::string> narrower_formats;  ///< words to try, widest first, where a run was faster than its checkpoint
    std::vector<BenchmarkEntry> benchmark;      ///< each that fits a run applies; the last one that states something wins
    std::vector<EvidenceEntry> evidence;        ///< rows that numbers of the catalogue were fitted to or chosen by
    std::vector<std::string> documented;        ///< patterns of sources that publish every condition of their runs
};

/// Lower case; anything but letters, digits, '.', '+' and '#' becomes one '-'; none at either end.
std::string normalised(std::string_view text);
/// A model's name without its publisher ("org/"), remarks in parentheses or behind " + ", and the table's ignored words.
std::string model_stem(std::string_view text, const NameTable& table);
/// A device's name, normalised, without the table's ignored words in front; "RTX4090" as "RTX 4090".
std::string device_stem(std::string_view text, const NameTable& table);
/// Whether all of `text` fits the pattern; * stands for any characters, none included.
bool fits(std::string_view pattern, std::string_view text);
bool fits_any(const std::vector<std::string>& patterns, std::string_view text);

/// The first entry with a pattern that fits; null without one.
const NameEntry* entry_for(const std::vector<NameEntry>& entries, std::string_view normalised_text);
const EngineEntry* engine_for(const NameTable& table, std::string_view text);
/// The first format that a word of the text names on this engine; empty: on any.
const FormatEntry* format_in(const NameTable& table, std::string_view text, std::string_view engine = {});
/// Lengths of a data set; the table's last entry for unknown ones.
const DatasetEntry& dataset_for(const NameTable& table, std::string_view text);

}  // namespace treeline::validation

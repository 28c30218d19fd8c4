// Measured serving runs as their files state them: words and numbers, before anything is looked up.
#pragma once

#include <optional>
#include <string>

#include "sim/units.h"

namespace treeline::validation {

/// Where a row stands: "silicon_tpot.csv: row 17".
struct RowPlace {
    std::string file;
    std::size_t number = 0;  ///< from 1, the header left out
};

/// How the ranks of a run share its work, as far as the row says. Nothing: unknown; 0 as the file writes it.
struct StatedParallelism {
    std::optional<double> devices;
    std::optional<double> tensor;
    std::optional<double> pipeline;
    std::optional<double> data;            ///< replicas
    std::optional<double> attention_data;  ///< ranks with requests of their own, which share the experts
    std::optional<double> expert_tensor;   ///< ranks that cut each expert
    std::optional<double> expert;          ///< ranks that experts are dealt out to
    std::optional<double> draft;           ///< ranks that share the drafter's layers
    std::optional<double> context;         ///< ranks that share the cached tokens of a sequence
};

/// A run without speculation: a line of a CSV file with the columns of `serving_columns`.
struct ServingRun {
    RowPlace place;
    std::string id, engine, engine_version, model, device;
    std::string format, expert_format;  ///< of the checkpoint: "fp8", "fp8_block"
    double prompt_tokens = 0.0, output_tokens = 0.0;
    double batch = 0.0;  ///< requests in flight, of each replica
    StatedParallelism ranks;
    std::optional<double> ttft_ms;
    double tpot_ms = 0.0;  ///< mean time per output token after the first
};

/// One cell of a speculative measurement: an object of a JSON file. What is missing is empty.
struct SpeculationRow {
    RowPlace place;
    std::string id, series, source, citation, engine, engine_version, model, format, device, dataset;
    std::string drafter, drafter_model;
    std::optional<double> draft_tokens;                       ///< k, the bonus token not counted
    std::optional<double> tree_steps, tree_top_k, tree_size;  ///< SGLang's tree; its size counts the root
    StatedParallelism ranks;
    std::optional<double> prompt_tokens, output_tokens, context;
    bool thinks = false;                  ///< its answers begin with reasoning
    std::optional<double> most_requests;  ///< that the engine ran at once with speculation, if fewer than the concurrency
    std::optional<double>
        vector_rows;  ///< rows that the build takes on vector units (RowCurve::few_rows), where it is not the engine's
    std::optional<double> new_prompt_tokens;  ///< of the prompt, what the prefix cache does not hold; all, unless stated
    bool attends_to_all = false;              ///< the target's sparse attention ran as a dense one
    bool reports_defect = false;              ///< its source calls a fault of the engine what it measured
    bool differs_in_more = false;             ///< its source says that its two runs differ in more than speculation
    bool shares_prompt = false;               ///< all requests send the same prompt
    std::optional<double> expert_pool;        ///< share of a mixture's experts that its tokens choose from; all, unless stated
    std::optional<double> host_speed;         ///< of the machine's own processor; the device's usual one, unless stated
    std::optional<Watts> power_limit;         ///< of each device; none, unless stated
    std::string expert_kernels;               ///< picked in place of the engine's own
    std::string attention_kernels;            ///< likewise
    std::string interconnect;                 ///< in place of the device's fastest
    std::optional<double> batch;
    std::string batch_kind;               ///< "concurrency", "batch size", "request rate (QPS)", …
    std::string metric;                   ///< "output_tok_s", "tpot_ms", …
    std::optional<double> value_without;  ///< of the metric, without speculation
    std::optional<double> speed_up;
    std::optional<double> accept_length;            ///< printed or derived, the bonus token counted
    bool prints_accept_length = false;              ///< it was not derived from rates or traces
    bool is_pair = false;                           ///< with and without speculation under the same conditions
    std::string suspect, duplicate_of, confidence;  ///< why it is suspect; of which row it is a duplicate
};

}  // namespace treeline::validation

// llama.cpp: timings of a response, llama-bench, llama-batched-bench. tools/server, tools/llama-bench and tools/batched-bench
// of ggml-org/llama.cpp; pull request 12603.
#include <algorithm>

#include "runs/builder.h"
#include "runs/formats/command_flags.h"
#include "runs/formats/llama_generation.h"

namespace treeline::runs::run_formats_of {
namespace {

constexpr double to_seconds = 1e-3;  // of milliseconds

bool is_timings(const RunJson& json) { return node_at(json, "timings.predicted_n") != nullptr || json.contains("predicted_n"); }

/// Of the generation; a client that copies the rate alone says the same by it.
std::optional<double> milliseconds_of(const RunJson& timings) {
    const auto rate = number_at(timings, "predicted_per_second"), predicted = number_at(timings, "predicted_n");
    const bool by_rate = rate && predicted && *rate > 0.0 && !timings.contains("predicted_ms");
    return by_rate ? std::optional(*predicted / *rate / to_seconds) : number_at(timings, "predicted_ms");
}

void read_timings(const RunJson& json, RunBuilder& run) {
    const RunJson& timings = json.contains("predicted_n") ? json : *node_at(json, "timings");
    run.engine(timings.contains("draft_rounds") || timings.contains("draft_kind") ? "mlx" : "llama.cpp");  // mlx-vlm's
    run.model(text_at(json, "model"));
    const auto predicted = number_at(timings, "predicted_n"), milliseconds = milliseconds_of(timings);
    if (!predicted || !milliseconds) {
        return run.problem("must give predicted_n, and predicted_ms or predicted_per_second, as numbers");
    }
    const double drafted = number_at(timings, "draft_n").value_or(0.0),
                 accepted = number_at(timings, "draft_n_accepted").value_or(0.0);
    const double read = number_at(timings, "prompt_n").value_or(0.0), cached = number_at(timings, "cache_n").value_or(0.0);
    const double prompt = read < 0.0 || cached < 0.0 ? -*predicted : read + cached;
    // mlx-vlm counts the rounds, and drafts beyond the end of the answer with them (pull request 2324 of Blaizzy/mlx-vlm).
    const double rounds = number_at(timings, "draft_rounds").value_or(0.0);
    add_llama_generation(run, {*predicted, *milliseconds, drafted, accepted, prompt + 0.5 * *predicted, 0.0, {}, rounds});
}

/// The bench of pull request 22673 keeps an answer of each prompt, under what the server was started with.
bool is_mtp_bench(const RunJson& json) {
    const RunJson* results = node_at(json, "results");
    return results != nullptr && results->is_array() && !results->empty() && results->front().contains("predicted_n") &&
           results->front().contains("draft_n");
}

void read_mtp_bench(const RunJson& json, RunBuilder& run) {
    const std::string file = text_at(json, "gguf");
    run.engine("llama.cpp");
    run.model(file.empty() ? text_at(json, "model") : file);
    run.command(identity_of_flags(text_at(json, "spec_flags"), "llama.cpp"));
    for (const RunJson& result : *node_at(json, "results")) {
        if (is_timings(result)) {
            read_timings(result, run);
        }
    }
}

bool is_llama_bench(const RunJson& json) {
    return json.contains("model_type") && json.contains("n_gen") && json.contains("avg_ns");
}

void read_llama_bench(const RunJson& json, RunBuilder& run) {
    run.engine("llama.cpp", text_at(json, "build_commit"));
    const std::string file = text_at(json, "model_filename");
    run.model(file.empty() ? text_at(json, "model_type") : file);
    const auto time = number_at(json, "avg_ns"), read = number_at(json, "n_prompt"), generated = number_at(json, "n_gen");
    const double depth = number_at(json, "n_depth").value_or(0.0), scatter = number_at(json, "stddev_ns").value_or(0.0) * 1e-9;
    if (!time || !read || !generated || !(*time > 0.0)) {
        return run.problem("must give n_prompt, n_gen and avg_ns as numbers above 0");
    }
    const RunJson* samples = node_at(json, "samples_ns");
    const double times = samples != nullptr && samples->is_array() ? std::max(1.0, static_cast<double>(samples->size())) : 1.0;
    const double seconds = *time * 1e-9;
    if (*generated > 0.0 && *read == 0.0) {
        const double step = seconds / *generated;
        run.cell(1.0, 0, depth + 0.5 * *generated)
            .round.add(MeasuredMean::of(step, scatter / *generated / std::sqrt(times), times * *generated, times));
    } else if (*read > 0.0 && *generated == 0.0) {
        run.pass({1.0, *read, depth, MeasuredMean::of(seconds, scatter / std::sqrt(times), times, times)});
    } else {
        run.remark("Rows of llama-bench that read and generate at once were left out.");
    }
}

bool is_batched_bench(const RunJson& json) { return json.contains("pl") && json.contains("t_tg") && json.contains("tg"); }

void read_batched_bench(const RunJson& json, RunBuilder& run) {
    run.engine("llama.cpp");
    const auto sequences = number_at(json, "pl"), tokens = number_at(json, "tg"), time = number_at(json, "t_tg"),
               prompt = number_at(json, "pp");
    if (!sequences || !tokens || !time || !prompt || !(*sequences >= 1.0) || *tokens < 0.0) {
        return run.problem("must give pp, tg, pl and t_tg as numbers");
    }
    if (*tokens > 0.0) {
        run.time(run.cell(*sequences, 0, *prompt + 0.5 * *tokens).round, "a step", *time / *tokens, *sequences * *tokens);
    }
}

}  // namespace

std::vector<JsonFormat> llama_cpp() {
    return {{"a response of llama.cpp", is_timings, read_timings},
            {"a result of mtp-bench", is_mtp_bench, read_mtp_bench},
            {"a result of llama-bench", is_llama_bench, read_llama_bench},
            {"a result of llama-batched-bench", is_batched_bench, read_batched_bench}};
}

}  // namespace treeline::runs::run_formats_of

// vllm/v1/engine/core.py, vllm/config/compilation.py, vllm/platforms/cuda.py, vllm/v1/engine/async_llm.py; issue 49547.
#include "runs/formats/vllm_settings.h"

#include <algorithm>

#include "text/plain_text.h"

namespace treeline::runs::run_formats_of {
namespace {

bool has(std::string_view line, std::string_view text) { return line.find(text) != std::string_view::npos; }

/// The value of an argument, as a dictionary or a call prints it; "" for none, None and auto.
std::string argument(std::string_view line, std::string_view name) {
    for (const std::string& form :
         {"'" + std::string(name) + "': ", "\"" + std::string(name) + "\": ", std::string(name) + "="}) {
        const std::string word = word_after(line, form);
        if (!word.empty()) {
            return word == "None" || word == "auto" ? std::string() : word;
        }
    }
    return {};
}

double count_of(std::string_view line, std::string_view name) {
    return number_after(line, "'" + std::string(name) + "': ")
        .value_or(number_after(line, std::string(name) + "=").value_or(0.0));
}

/// What the engine says of its graphs: a sentence without its prefix, short enough to repeat.
std::string sentence_of(std::string_view line) {
    const std::size_t source = line.find(".py:");
    const std::size_t bracket = source == std::string_view::npos ? source : line.find("] ", source);
    line = bracket == std::string_view::npos ? line : line.substr(bracket + 2);
    return std::string(text::head(line, 240));
}

GraphMode mode_named(std::string_view word) {
    return word.starts_with("PIECEWISE") ? GraphMode::piecewise
           : word.starts_with("NONE")    ? GraphMode::none
           : word.starts_with("FULL")    ? GraphMode::full
                                         : GraphMode::unknown;
}

/// The engine settles for other graphs than it was asked for.
bool take_graphs(std::string_view line, RunSettings& settings) {
    std::size_t at = line.find("setting cudagraph_mode=");
    at = at == std::string_view::npos ? line.find("falling back to cudagraph_mode=") : at;
    if (at == std::string_view::npos) {
        return false;
    }
    std::string_view word = line.substr(line.find('=', at) + 1);
    word.remove_prefix(word.starts_with("CUDAGraphMode.") ? std::string_view("CUDAGraphMode.").size() : 0);
    settings.graphs = mode_named(word);
    settings.graphs_because = sentence_of(line);
    return true;
}

bool take_attention(std::string_view line, RunSettings& settings) {
    const std::size_t begin = line.find("Using ");
    if (begin == std::string_view::npos || !has(line, "backend") || !(has(line, "ttention") || has(line, "ATTN"))) {
        return false;
    }
    std::string_view name = line.substr(begin + 6);
    name = name.substr(0, name.find(" backend"));
    for (const std::string_view ending : {" attention", " Attention"}) {
        name.remove_suffix(name.ends_with(ending) ? ending.size() : 0);
    }
    name.remove_prefix(name.starts_with("AttentionBackendEnum.") ? std::string_view("AttentionBackendEnum.").size() : 0);
    settings.attention = name.size() <= 40 ? std::string(name) : std::string();
    return !settings.attention.empty();
}

void state_drafts(int count, RunBuilder& run) {
    run.agree_with_hint({0, 1, count + 1});
    run.draft_tokens(count);
}

/// How the drafter is named: by its method, and a checkpoint of its own.
void take_speculation(std::string_view line, RunBuilder& run) {
    const std::size_t open = std::min(line.find("SpeculativeConfig("), line.find("speculative_config"));
    if (open == std::string_view::npos) {
        return;
    }
    const std::string_view inside = line.substr(open);
    const std::string method = argument(inside, "method"), model = argument(inside, "model");
    run.method(method.ends_with("_mtp") ? "mtp" : method);
    if (model != argument(line, "model")) {
        run.drafter(model);
    }
    for (const char* key : {"num_speculative_tokens", "num_spec_tokens"}) {
        if (const double count = count_of(inside, key); count >= 1.0 && count < 1e6) {
            state_drafts(static_cast<int>(count), run);
        } else if (const auto quoted = number_after(inside, "\"" + std::string(key) + "\": "); quoted && *quoted >= 1.0) {
            state_drafts(static_cast<int>(std::min(*quoted, 1e6)), run);
        }
    }
}

/// "vLLM API server version 0.9.2.dev121+g4c8f64faa", which the server prints before its engine starts; "" for another line.
std::string version_of_server(std::string_view line) {
    const std::string version = word_after(line, "vLLM API server version ");
    return !version.empty() && version.front() >= '0' && version.front() <= '9' ? version : std::string();
}

void take_arguments(std::string_view line, RunBuilder& run, RunSettings& settings) {
    run.model(argument(line, "model"));
    take_speculation(line, run);
    const std::string version = word_after(line, "LLM engine (v");
    if (!version.empty()) {
        run.engine("vllm", version);
    }
    const double tensor = count_of(line, "tensor_parallel_size"), pipeline = count_of(line, "pipeline_parallel_size");
    run.ranks(tensor > 0.0 || pipeline > 0.0 ? std::max(1.0, tensor) * std::max(1.0, pipeline) : 0.0);
    const double engines = count_of(line, "data_parallel_size");
    settings.data_parallel = engines > 1.0 ? engines : 0.0;
    settings.cache_format = argument(line, "kv_cache_dtype");
    settings.weights = argument(line, "quantization");
    if (argument(line, "enforce_eager") == "True") {
        settings.graphs = GraphMode::none;
        settings.graphs_because = "enforce_eager=True";
    }
}

}  // namespace

bool take_vllm_settings(std::string_view line, RunBuilder& run) {
    RunSettings settings;
    const bool arguments = has(line, "non-default args:") || has(line, "Initializing a V");
    if (arguments) {
        take_arguments(line, run, settings);
    }
    bool found = arguments;
    if (!arguments && (take_graphs(line, settings) || take_attention(line, settings))) {
        found = true;
    } else if (const std::string version = version_of_server(line); !version.empty()) {
        run.engine("vllm", version);
    } else if (has(line, "Asynchronous scheduling is ")) {
        settings.scheduling = has(line, "is enabled") ? "asynchronous" : "synchronous";
        found = true;
    }
    if (found) {
        run.settings(settings);
    }
    return found;
}

}  // namespace treeline::runs::run_formats_of

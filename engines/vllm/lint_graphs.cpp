// vllm/config/compilation.py: cudagraph_mode, cudagraph_capture_sizes, max_cudagraph_capture_size; a pass is replayed from the
// smallest captured size that holds its tokens, and runs without a graph beyond the largest.
#include "engines/vllm/lint_graphs.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/parse.h"
#include "text/parse_number.h"

namespace treeline::engines::vllm {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

void set_mode(Graphs& graphs, const std::string& mode, const std::string& flag) {
    graphs.mode = mode;
    graphs.mode_flag = flag;
}

void set_captured(Graphs& graphs, std::optional<long long> largest, const std::string& flag) {
    graphs.captured = largest;
    graphs.captured_flag = flag;
}

/// What `flag` says in an object.
void take_compilation(const Json& compilation, const std::string& flag, Graphs& graphs) {
    if (!compilation.is_object()) {
        return;
    }
    if (const std::string mode = text_at(compilation, "cudagraph_mode"); !mode.empty()) {
        set_mode(graphs, in_capitals(mode), flag);
    }
    if (compilation.contains("cudagraph_mode") && compilation["cudagraph_mode"] == Json(0)) {
        set_mode(graphs, "NONE", flag);
    }
    if (const auto largest = whole(compilation, "max_cudagraph_capture_size")) {
        set_captured(graphs, largest, flag);
    }
    const Json sizes = compilation.value("cudagraph_capture_sizes", Json::array());
    for (const Json& size : sizes.is_array() ? sizes : Json::array()) {
        if (size.is_number_integer()) {
            set_captured(graphs, std::max(graphs.captured.value_or(0), size.get<long long>()), flag);
        }
    }
}

}  // namespace

Graphs graphs_of(const Flags& flags) {
    Graphs graphs;
    graphs.sequences = flags.number({"--max-num-seqs"});
    for (const Flag& flag : flags.all()) {
        const std::string value = flag.value.value_or("");
        const bool whole_object = flag.name == "--compilation-config" || flag.name == "-cc" || flag.name == "-O";
        Json compilation = Json::object();
        if (whole_object) {
            compilation = json::parse_foreign<Json>(value).value_or(Json());
        }
        for (const std::string dotted : {"--compilation-config.", "-cc.", "-O."}) {
            if (flag.name.starts_with(dotted)) {
                std::string key = flag.name.substr(dotted.size());
                std::replace(key.begin(), key.end(), '-', '_');
                compilation[key] = json::parse_foreign<Json>(value).value_or(Json(value));
            }
        }
        if (flag.name == "--max-cudagraph-capture-size") {
            set_captured(graphs, text::parse_number<long long>(value), flag.name);
        } else if (flag.name == "--cudagraph-capture-sizes" || flag.name == "--cuda-graph-sizes") {
            std::vector<std::string> sizes = flag.further;
            sizes.push_back(value);
            for (const std::string& size : sizes) {
                const long long tokens = text::parse_number<long long>(size).value_or(0);
                set_captured(graphs, std::max(graphs.captured.value_or(0), tokens), flag.name);
            }
        } else if (flag.name == "-O0" || (flag.name == "-O" && value == "0") ||
                   (flag.name == "--optimization-level" && value == "0")) {
            set_mode(graphs, "NONE", flag.name);
        } else {
            take_compilation(compilation, flag.name, graphs);
        }
    }
    return graphs;
}

Graphs graphs_of(const Json& settings) {
    Graphs graphs;
    for (const char* key : {"compilation_config", "compilation-config"}) {
        if (settings.contains(key)) {
            take_compilation(settings[key], key, graphs);
        }
    }
    for (const char* key : {"max_cudagraph_capture_size", "max-cudagraph-capture-size", "cudagraph_capture_sizes",
                            "cudagraph-capture-sizes"}) {  // of `vllm serve --config`
        if (settings.contains(key)) {
            std::string name = key;
            std::replace(name.begin(), name.end(), '-', '_');
            take_compilation(Json{{name, settings[key]}}, key, graphs);
        }
    }
    graphs.sequences = whole(settings, "max_num_seqs");
    graphs.sequences = graphs.sequences ? graphs.sequences : whole(settings, "max-num-seqs");
    return graphs;
}

void check_graphs(const Graphs& graphs, std::optional<long long> drafts, Findings& findings) {
    if (graphs.mode == "NONE") {
        findings.add(Kind::downgrade, graphs.mode_flag,
                     "switches CUDA graphs off: every kernel of drafter and verification is launched by itself, which costs "
                     "rounds more than plain steps; leave it out");
        return;
    }
    if (graphs.mode == "PIECEWISE") {
        findings.add(
            Kind::downgrade, graphs.mode_flag,
            "sets cudagraph_mode PIECEWISE, so that attention of every layer is launched by itself; FULL_AND_PIECEWISE, "
            "vLLM's own choice, replays whole rounds where the attention back end can");
    }
    if (!graphs.captured || !drafts || *drafts < 1) {
        return;
    }
    const long long of_round = *drafts + 1;
    if (*graphs.captured < of_round) {
        findings.add(
            Kind::downgrade, graphs.captured_flag,
            fmt::format("captures at most {} tokens, fewer than a round of one sequence ({}): no round runs in a graph",
                        *graphs.captured, of_round));
    } else if (graphs.sequences && *graphs.captured < *graphs.sequences * of_round) {
        findings.add(
            Kind::downgrade, graphs.captured_flag,
            fmt::format("captures at most {} tokens: rounds of more than {} of the {} sequences run without a graph; "
                        "capture {}, or allow fewer sequences",
                        *graphs.captured, *graphs.captured / of_round, *graphs.sequences, *graphs.sequences * of_round));
    }
}

}  // namespace treeline::engines::vllm

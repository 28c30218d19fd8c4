// Rules of TensorRT-LLM's speculative_config on the PyTorch backend (tensorrt_llm/llmapi/llm_args.py).
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "engines/lint_caches.h"
#include "engines/speculative_numbers.h"
#include "engines/tensorrt_llm/parts.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/parse_number.h"

namespace treeline::engines::tensorrt_llm {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

constexpr const char* draft_len_schedule = "draft_len_schedule";

bool is_eagle(const std::string& type) { return type == "Eagle" || type == "Eagle3"; }
bool is_draft_model(const std::string& type) { return type == "DraftTarget" || type == "Draft_Target"; }

/// Keys that belong to some types only; elsewhere the strict classes refuse them.
const std::map<std::string, std::vector<std::string>>& types_of_keys() {
    static const std::map<std::string, std::vector<std::string>> types = [] {
        std::map<std::string, std::vector<std::string>> all;
        const auto of = [&](const std::vector<std::string>& names, const std::vector<std::string>& keys) {
            for (const std::string& key : keys) {
                all[key].insert(all[key].end(), names.begin(), names.end());
            }
        };
        of({"Eagle", "Eagle3"}, {"eagle_choices", "greedy_sampling", "posterior_threshold", "num_eagle_layers",
                                 "max_non_leaves_per_layer", "eagle3_one_model", "eagle3_model_arch"});
        of({"Eagle", "Eagle3", "SaveState"}, {"eagle3_layers_to_capture"});
        of({"Eagle", "Eagle3", "MTP"}, {"use_dynamic_tree", "dynamic_tree_max_topK"});
        of({"Eagle3", "Eagle", "MTP", "PARD"}, {"sa_config", "use_sa_spec", "sa_spec_threshold"});
        of({"NGram"}, {"is_keep_all", "is_use_oldest", "is_public_pool"});
        of({"NGram", "SA"}, {"max_matching_ngram_size"});
        of({"SA"}, {"enable_global_pool", "global_pool_size"});
        of({"MTP"}, {"num_nextn_predict_layers", "use_relaxed_acceptance_for_thinking", "relaxed_topk", "relaxed_delta",
                     "use_mtp_vanilla", "mtp_eagle_one_model", "begin_thinking_phase_token", "end_thinking_phase_token"});
        of({"PARD", "DFlash"}, {"mask_token_id"});
        of({"DFlash"}, {"target_layer_ids"});
        of({"Medusa"}, {"medusa_choices", "num_medusa_heads"});
        of({"Lookahead"}, {"max_window_size", "max_ngram_size", "max_verification_set_size"});
        return all;
    }();
    return types;
}

void check_keys(const Json& config, const Engine& engine, const std::string& type, Findings& findings) {
    for (const auto& [key, value] : config.items()) {
        if (key == "max_batch_size") {
            findings.add(Kind::contradiction, key, "is rejected here: the engine passes its own max_batch_size down");
        } else if (!engine.takes(key)) {
            findings.add_unknown(engine, key);
        } else if (const auto types = types_of_keys().find(key);
                   types != types_of_keys().end() && !type.empty() &&
                   std::find(types->second.begin(), types->second.end(), type) == types->second.end()) {
            findings.add(Kind::contradiction, key,
                         fmt::format("belongs to {} and is rejected with {}", text::listed(types->second, "and"), type));
        }
    }
}

/// The decoding type, or "" where there is none that the engine knows.
std::string check_type(const Json& config, const Engine& engine, bool pytorch, Findings& findings) {
    if (!config.contains("decoding_type")) {
        findings.add(Kind::missing, "decoding_type", "is missing: it says how to draft");
        return "";
    }
    const std::string type = text_at(config, "decoding_type");
    if (!engine.knows(type)) {
        if (findings.add_if_between(engine, "decoding_type " + type, [&](const Engine& later) { return later.knows(type); })) {
            return type;
        }
        findings.add(Kind::unknown, "decoding_type",
                     fmt::format("is {}, which {} does not know{}", json::shown(config["decoding_type"]), engine.label(),
                                 text::did_you_mean(type, engine.methods)));
        return "";
    }
    if (pytorch && (type == "Medusa" || type == "Lookahead")) {
        findings.add(Kind::contradiction, "decoding_type", fmt::format("is {}, which the PyTorch backend rejects", type));
    }
    return type;
}

void check_model(const Json& config, const std::string& type, Findings& findings) {
    const bool named = config.contains("speculative_model") || config.contains("speculative_model_dir");
    const std::string key = config.contains("speculative_model_dir") ? "speculative_model_dir" : "speculative_model";
    if (config.contains("speculative_model") && config.contains("speculative_model_dir")) {
        findings.add(Kind::contradiction, "speculative_model_dir", "is an alias of speculative_model; give one of them");
    }
    if (!named && (is_eagle(type) || is_draft_model(type) || is_one_of(type, {"PARD", "DFlash"}))) {
        findings.add(Kind::missing, key, fmt::format("is needed by {}", type));
    }
    if (named && is_one_of(type, {"NGram", "SA", "AUTO", "MTP"})) {
        findings.add(Kind::ignored, key,
                     type == "MTP" ? "is not used: MTP modules are part of the target's checkpoint"
                                   : fmt::format("is not used by {}", type));
    }
}

void check_mtp_length(const Json& config, const Engine& engine, Findings& findings) {
    const bool old = engine.schedule == ScheduleForm::lower_bounds;
    if (old && config.contains("max_draft_len")) {
        findings.add(Kind::ignored, "max_draft_len", "is overwritten in 1.2 by num_nextn_predict_layers (1 if not given)");
    }
    if (old || !config.contains("num_nextn_predict_layers")) {
        return;
    }
    if (config.contains("max_draft_len")) {
        findings.add(Kind::ignored, "num_nextn_predict_layers",
                     "is not read beside max_draft_len, which took its place in 1.3");
    } else {
        findings.note(
            "num_nextn_predict_layers is deprecated since 1.3: TensorRT-LLM logs a warning and takes it as max_draft_len.");
    }
}

/// Numbers of llm_args.py. SA matches n-grams of any size at -1.
std::vector<SpeculativeNumber> numbers_of_speculation(const std::string& type) {
    return {{"max_draft_len"},
            {"max_total_draft_tokens"},
            {"max_concurrency"},
            {"max_matching_ngram_size", true, type == "SA" ? -1.0 : 1.0},
            {"num_nextn_predict_layers"},
            {"num_eagle_layers"},
            {"max_non_leaves_per_layer"},
            {"max_window_size"},
            {"max_ngram_size"},
            {"max_verification_set_size"},
            {"relaxed_topk"},
            {"relaxed_delta", false, 0.0},
            {"acceptance_window", true, 0.0},
            {"acceptance_length_threshold", false, 0.0},
            {"acceptance_rate_window_size", true, 0.0},
            {"acceptance_rate_threshold", false, 0.0, 1.0}};
}

void check_length(const Json& config, const Engine& engine, const std::string& type, Findings& findings) {
    if (type == "MTP") {
        check_mtp_length(config, engine, findings);
    }
    const auto length = whole(config, "max_draft_len");
    const bool needed = is_eagle(type) || is_draft_model(type) || is_one_of(type, {"NGram", "SA", "PARD", "DFlash"});
    if (needed && !config.contains("max_draft_len")) {
        findings.add(Kind::missing, "max_draft_len", fmt::format("is needed by {}", type));
    }
    const auto total = whole(config, "max_total_draft_tokens");
    if (total && length && !is_eagle(type) && *total != *length) {
        findings.add(Kind::ignored, "max_total_draft_tokens",
                     fmt::format("is set to max_draft_len by {}, which drafts chains", type));
    }
}

void check_tree(const Json& config, const std::string& type, Findings& findings) {
    const bool dynamic =
        config.value("use_dynamic_tree", Json(false)) == Json(true) || config.contains("dynamic_tree_max_topK");
    if (!dynamic || !is_eagle(type)) {
        return;
    }
    if (config.contains("eagle_choices") && !config["eagle_choices"].is_null()) {
        findings.add(Kind::contradiction, "eagle_choices", "defines a static tree and excludes use_dynamic_tree");
    }
    const auto top_k = whole(config, "dynamic_tree_max_topK");
    if (!top_k || *top_k < 1) {
        findings.add(Kind::missing, "dynamic_tree_max_topK", "must say how many children each node has, 1 or more");
        return;
    }
    const auto depth = whole(config, "max_draft_len");
    const auto total = whole(config, "max_total_draft_tokens");
    if (depth && total && (*total < *depth || *total > *top_k * *depth)) {
        findings.add(Kind::contradiction, "max_total_draft_tokens",
                     fmt::format("is {}, but must lie between max_draft_len, {}, and dynamic_tree_max_topK times that, {}",
                                 *total, *depth, *top_k * *depth));
    }
}

/// Batch size and length; nothing if an entry is not of that form.
std::optional<std::map<long long, long long>> read_schedule(const Json& schedule, Findings& findings) {
    std::map<long long, long long> lengths;
    if (!schedule.is_object() || schedule.empty()) {
        findings.add(Kind::value, draft_len_schedule, "must map batch sizes to draft lengths, as in {4: 3, 16: 1}");
        return std::nullopt;
    }
    for (const auto& [key, value] : schedule.items()) {
        const int batch = text::parse_number<int>(key).value_or(0);
        if (batch < 1 || !value.is_number_integer() || value.get<long long>() < 0) {
            findings.add(
                Kind::value, draft_len_schedule,
                fmt::format("holds {}: {}; batches count from 1, lengths from 0", json::shown_key(key), json::shown(value)));
            return std::nullopt;
        }
        lengths[batch] = value.get<long long>();
    }
    return lengths;
}

void check_schedule(const Json& config, const Engine& engine, const std::string& type, Findings& findings) {
    if (!config.contains(draft_len_schedule) || config[draft_len_schedule].is_null()) {
        return;
    }
    const bool lower = engine.schedule == ScheduleForm::lower_bounds;
    if (config.contains("max_concurrency") && !config["max_concurrency"].is_null() && !lower) {
        findings.add(Kind::contradiction, "max_concurrency",
                     "excludes draft_len_schedule, which also says where drafting ends");
    }
    if (lower && (type == "MTP" || (is_eagle(type) && config.value("eagle3_one_model", Json(true)) != Json(false)))) {
        findings.add(Kind::ignored, draft_len_schedule,
                     fmt::format("is not read in 1.2 by {}, which drafts inside the target's engine", type));
    }
    const auto lengths = read_schedule(config[draft_len_schedule], findings);
    if (!lengths) {
        return;
    }
    if (lower && lengths->count(1) == 0) {
        findings.add(Kind::contradiction, draft_len_schedule,
                     "must hold batch size 1: in 1.2 keys are the smallest batch of a range");
        return;
    }
    const auto most = whole(config, "max_draft_len");
    const auto& [smallest, first] = *lengths->begin();
    if (most && first != *most) {
        findings.add(
            Kind::contradiction, draft_len_schedule,
            fmt::format("drafts {} at its smallest key, {}, but must draft max_draft_len, {}, there", first, smallest, *most));
    }
    for (const auto& [batch, length] : *lengths) {
        if (most && length > *most) {
            findings.add(Kind::contradiction, draft_len_schedule,
                         fmt::format("drafts {} at {}, more than max_draft_len, {}", length, batch, *most));
        }
    }
}

/// CUDA graphs of the server: switched off, or captured for exact batches alone.
void check_graphs(const Json& tree, Findings& findings) {
    constexpr const char* key = "cuda_graph_config";
    if (!tree.contains(key)) {
        return;
    }
    if (tree[key].is_null()) {
        findings.add(Kind::downgrade, key,
                     "is null, which switches CUDA graphs off: every kernel of drafter and verification is "
                     "launched by itself; leave it out");
    } else if (tree[key].is_object() && tree[key].value("enable_padding", Json(false)) != Json(true)) {
        findings.add(Kind::downgrade, key,
                     "has no enable_padding: true, so rounds run without a graph at every batch that was not captured itself");
    }
}

/// The configuration of a command line: the YAML that it names.
Json tree_of_command(const LintInput& input, const ReadFile& read_file, std::vector<std::string>& repeated) {
    const Flags flags(input.command.words);
    const Flag* file = flags.find({"--config", "--extra-llm-api-options"});
    const std::optional<std::string> name = file == nullptr ? std::nullopt : file->value;
    const std::optional<std::string> text = name ? read_file(*name) : std::nullopt;
    if (!text) {
        throw text::InputError({name ? fmt::format("{}: cannot read {}; give the YAML file itself",
                                                   file->name == "--config" ? "--config" : "--extra_llm_api_options", *name)
                                     : "TensorRT-LLM's command line names a YAML file with --config; give that file"});
    }
    return parse_yaml(*text, repeated);
}

void check(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings) {
    std::vector<std::string> repeated = input.repeated;
    Json tree = input.form == LintForm::command ? tree_of_command(input, read_file, repeated) : input.tree;
    for (const std::string& key : repeated) {
        findings.add(Kind::contradiction, key, "appears twice; only one of them counts");
    }
    const std::string backend = text_at(tree, "backend");
    Json config = tree;
    if (tree.contains("speculative_config")) {
        config = Json(tree["speculative_config"]);
    } else if (!tree.contains("decoding_type")) {
        findings.note("Nothing is drafted: there is no speculative_config.");
        return;
    }
    if (!config.is_object()) {
        findings.add(Kind::value, "speculative_config", "must be a mapping");
        return;
    }
    leave_unknown_open(config, findings);
    const std::string type = check_type(config, engine, backend != "tensorrt" && backend != "trt", findings);
    check_keys(config, engine, type, findings);
    check_model(config, type, findings);
    check_length(config, engine, type, findings);
    check_numbers(config, numbers_of_speculation(type), findings);
    check_tree(config, type, findings);
    check_schedule(config, engine, type, findings);
    check_graphs(tree, findings);
    if (tree.contains("kv_cache_config") && tree["kv_cache_config"].is_object()) {
        check_cache_word("kv_cache_config.dtype", text_at(tree["kv_cache_config"], "dtype"), engine, findings);
    }
}

bool owns_tree(const Json& tree) {
    const Json* nested = nested_config(tree);
    const Json& config = nested != nullptr && nested->is_object() ? *nested : tree;
    return config.contains("decoding_type") || config.contains("max_draft_len") || config.contains("speculative_model");
}

}  // namespace

Linting linting() { return {.owns_tree = owns_tree, .check = check}; }

}  // namespace treeline::engines::tensorrt_llm

// Rules of vLLM's SpeculativeConfig and of its schedule (vllm/config/speculative.py, vllm/v1/spec_decode/dynamic/utils.py).
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "engines/lint_models.h"
#include "engines/speculative_numbers.h"
#include "engines/vllm/lint_deployment.h"
#include "engines/vllm/lint_schedule.h"
#include "engines/vllm/parts.h"
#include "json/parse.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/version.h"

namespace treeline::engines::vllm {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

constexpr const char* length_key = "num_speculative_tokens";

void check_keys(const Json& config, const Engine& engine, Findings& findings) {
    for (const auto& [key, value] : config.items()) {
        if (!engine.takes(key)) {
            findings.add_unknown(engine, key);
        }
    }
}

bool is_before(const Engine& engine, std::string_view version) {
    return text::version_in(engine.asked.empty() ? engine.version : engine.asked) < text::version_in(version);
}

/// The method, as vLLM would name it. If absent, vLLM infers it from the model's name, which is not repeated here ("").
std::string check_method(const Json& config, const Engine& engine, Findings& findings) {
    if (!config.contains("method")) {
        if (!config.contains("model")) {
            findings.add(Kind::missing, "method", "is needed if no model is named");
        }
        return "";
    }
    const std::string method = text_at(config, "method");
    if (!engine.knows(method)) {
        if (findings.add_if_between(engine, "method " + method, [&](const Engine& later) { return later.knows(method); })) {
            return method;
        }
        findings.add(Kind::unknown, "method",
                     fmt::format("is {}, which {} does not know{}", json::shown(config["method"]), engine.label(),
                                 text::did_you_mean(method, engine.methods)));
        return "";
    }
    if (method == "draft_model" && is_before(engine, "0.15")) {
        findings.add(Kind::value, "method",
                     "is draft_model, which this version rejects: the V1 engine drafts with models from 0.15 on");
    } else if (method == "draft_model" && is_before(engine, "0.26")) {
        findings.add(Kind::downgrade, "method",
                     "is draft_model, whose passes vLLM launches outside of CUDA graphs before 0.26 (pull request 47460): each "
                     "takes the longer of the device and 0.15 to 0.4 ms of the host for each layer; take a newer version, or a "
                     "drafter of one layer");
    }
    const bool old_mtp = method.ends_with("_mtp") && engine.drafter(DrafterKind::mtp)->word == "mtp";
    if (old_mtp) {
        findings.note(fmt::format("method is {}, an old name: vLLM logs a warning and treats it as mtp.", method));
    }
    return old_mtp ? "mtp" : method;
}

void check_model(const Json& config, const std::string& method, Findings& findings) {
    const bool named = config.contains("model");
    if (named && is_one_of(method, {"ngram", "ngram_gpu", "suffix", "extract_hidden_states"})) {
        findings.add(Kind::ignored, "model", fmt::format("is not used by method {}", method));
    }
    if (!named && is_one_of(method, {"eagle", "eagle3", "draft_model", "medusa", "mlp_speculator", "dflash", "custom_class"})) {
        findings.add(Kind::missing, "model", fmt::format("is needed by method {}", method));
    }
}

/// Numbers of SpeculativeConfig: fields above 0, and what its validators of suffix decoding refuse.
const std::vector<SpeculativeNumber>& numbers_of_speculation() {
    static const std::vector<SpeculativeNumber> numbers = {{length_key},
                                                           {"draft_tensor_parallel_size"},
                                                           {"max_model_len"},
                                                           {"disable_by_batch_size", true, 2.0},
                                                           {"prompt_lookup_max"},
                                                           {"prompt_lookup_min"},
                                                           {"suffix_decoding_max_tree_depth"},
                                                           {"suffix_decoding_max_cached_requests", true, 0.0},
                                                           {"suffix_decoding_max_spec_factor", false, 0.0},
                                                           {"suffix_decoding_min_token_prob", false, 0.0, 1.0}};
    return numbers;
}

/// Where it is absent vLLM takes `n_predict` of the drafter's configuration, which only Medusa and MLP speculators have for
/// sure.
void check_length(const Json& config, const std::string& method, const Engine& engine, Findings& findings) {
    if (!config.contains(length_key)) {
        if (is_one_of(method, {"ngram", "ngram_gpu", "draft_model", "custom_class", "eagle", "eagle3", "dflash"})) {
            findings.add(Kind::missing, length_key,
                         fmt::format("is needed by method {}: give the tokens to draft, as in \"{}\": 3", method, length_key));
        } else if (method == "mtp" && is_before(engine, "0.29")) {
            findings.add(
                Kind::missing, length_key,
                fmt::format("is needed by method mtp: without it versions up to 0.28 end in a TypeError (issue 55323); "
                            "give the tokens to draft, as in \"{}\": 1",
                            length_key));
        }
    }
}

void check_lookup(const Json& config, const std::string& method, Findings& findings) {
    for (const char* key : {"prompt_lookup_max", "prompt_lookup_min"}) {
        if (config.contains(key) && !is_one_of(method, {"ngram", "ngram_gpu", ""})) {
            findings.add(Kind::ignored, key, fmt::format("is set to 0 by method {}", method));
        }
    }
    const auto least = whole(config, "prompt_lookup_min");
    const auto most = whole(config, "prompt_lookup_max");
    if (least && most && *least > *most) {
        findings.add(Kind::contradiction, "prompt_lookup_min",
                     fmt::format("is {}, above prompt_lookup_max, {}", *least, *most));
    }
}

/// Keys that only some methods read.
void check_keys_of_methods(const Json& config, const std::string& method, Findings& findings) {
    const auto belongs = [&](const std::string& key, std::initializer_list<std::string_view> methods, Kind kind,
                             const char* what) {
        if (config.contains(key) && config[key] != Json(false) && !config[key].is_null() && !method.empty() &&
            !is_one_of(method, methods)) {
            findings.add(kind, key, fmt::format("{} method {}", what, method));
        }
    };
    for (const auto& [key, value] : config.items()) {
        if (key.starts_with("suffix_decoding_")) {
            belongs(key, {"suffix"}, Kind::ignored, "is read only by method suffix, not by");
        }
    }
    if (text_at(config, "enforce_eager").empty() && config.value("enforce_eager", Json()) == Json(true)) {
        findings.add(Kind::downgrade, "enforce_eager",
                     "is true for the drafter: its kernels are launched one by one, whatever the target's graphs are");
    }
    belongs("parallel_drafting", {"eagle", "eagle3", "draft_model", "dflash", "dspark"}, Kind::contradiction,
            "does not go with");
    belongs("use_heterogeneous_vocab", {"draft_model"}, Kind::contradiction, "needs method draft_model and is rejected with");
    belongs("enable_adaptive_verification", {"dspark"}, Kind::contradiction, "needs method dspark and is rejected with");
    belongs("dspark_draft_topk", {"dspark"}, Kind::contradiction, "needs method dspark and is rejected with");
    belongs("index_share_for_mtp_iteration", {"mtp"}, Kind::contradiction, "needs method mtp and is rejected with");
    belongs("disable_padded_drafter_batch", {"eagle", "eagle3", "mtp", "draft_model", "dflash", "dspark"}, Kind::ignored,
            "is not read by");
    if (config.value("use_heterogeneous_vocab", Json()) == Json(true)) {
        if (config.value("draft_sample_method", Json("greedy")) != Json("greedy")) {
            findings.add(Kind::contradiction, "draft_sample_method", "must be greedy with use_heterogeneous_vocab");
        }
        if (config.value("use_local_argmax_reduction", Json()) == Json(true)) {
            findings.add(Kind::contradiction, "use_local_argmax_reduction", "is rejected with use_heterogeneous_vocab");
        }
    }
}

void check_synthetic(const Json& config, const Engine& engine, Findings& findings) {
    const std::string sampling = text_at(config, "rejection_sample_method");
    const bool old = engine.takes("synthetic_acceptance_rate");
    const bool by_blocks = !is_before(engine, "0.25");  // pull request 46781
    const std::vector<std::string> known = old         ? std::vector<std::string>{"strict", "probabilistic", "synthetic"}
                                           : by_blocks ? std::vector<std::string>{"standard", "synthetic", "block"}
                                                       : std::vector<std::string>{"standard", "synthetic"};
    if (!sampling.empty() && engine.takes("rejection_sample_method") &&
        std::find(known.begin(), known.end(), sampling) == known.end()) {
        findings.add(
            Kind::unknown, "rejection_sample_method",
            fmt::format("must be {}, not {}", text::listed(known, "or"), json::shown(config["rejection_sample_method"])));
    }
    const bool rates = config.contains("synthetic_acceptance_rates");
    const bool length = config.contains("synthetic_acceptance_length");
    if (sampling != "synthetic" && (rates || length || config.contains("synthetic_acceptance_rate"))) {
        findings.add(Kind::contradiction,
                     rates    ? "synthetic_acceptance_rates"
                     : length ? "synthetic_acceptance_length"
                              : "synthetic_acceptance_rate",
                     "is only valid with rejection_sample_method synthetic");
    } else if (sampling == "synthetic" && !old && rates == length) {
        findings.add(Kind::contradiction, "rejection_sample_method",
                     "synthetic needs exactly one of synthetic_acceptance_rates and synthetic_acceptance_length");
    }
    const auto drafts = whole(config, length_key);
    if (rates && drafts) {
        check_rates(config["synthetic_acceptance_rates"], "synthetic_acceptance_rates", *drafts, findings);
    }
    if (length && drafts) {
        const Json& mean = config["synthetic_acceptance_length"];
        if (!mean.is_number() || mean.get<double>() < 1.0 || mean.get<double>() > static_cast<double>(*drafts + 1)) {
            findings.add(Kind::value, "synthetic_acceptance_length",
                         fmt::format("must lie between 1 and {}: it counts the bonus token", *drafts + 1));
        }
    }
}

/// vLLM's flags for the keys set most often (pull request 42476); a key may be set in one place only.
constexpr std::array<std::pair<std::string_view, const char*>, 3> short_flags = {
    {{"--spec-method", "method"}, {"--spec-model", "model"}, {"--spec-tokens", "num_speculative_tokens"}}};

/// The same in a file of settings, under "spec-method" or "spec_method".
void take_short_keys(const Json& settings, Json& config) {
    for (const auto& [name, key] : short_flags) {
        std::string dashes(name.substr(2)), line = dashes;
        std::replace(line.begin(), line.end(), '-', '_');
        for (const std::string& spelt : {dashes, line}) {
            if (settings.contains(spelt) && !config.contains(key)) {
                config[key] = settings[spelt];
            }
        }
    }
}

void take_short_flags(const Flags& flags, Json& config, Findings& findings) {
    const bool in_braces = !config.empty();
    for (const auto& [name, key] : short_flags) {
        const Flag* flag = flags.find({name});
        if (flag == nullptr || !flag->value) {
            continue;
        }
        if (in_braces && config.contains(key)) {
            findings.add(Kind::contradiction, std::string(name),
                         fmt::format("sets what --speculative-config sets as {}, and vLLM takes only one of them", key));
            continue;
        }
        const bool is_number = name == "--spec-tokens";
        config[key] = is_number ? json::parse_foreign<Json>(*flag->value).value_or(Json(*flag->value)) : Json(*flag->value);
    }
}

/// The object under --speculative-config, and what dotted flags (--speculative-config.method eagle3) add to it.
Json config_of_command(const Flags& flags, std::vector<std::string>& repeated, Findings& findings) {
    Json config = Json::object();
    if (const Flag* flag = flags.find({"--speculative-config", "-sc"})) {
        config = parse_json(flag->value.value_or(""), "--speculative-config", repeated);
        if (!config.is_object()) {
            throw text::InputError({"--speculative-config: must hold an object in braces"});
        }
    }
    for (const std::string dotted : {"--speculative-config.", "-sc."}) {
        for (const Flag& flag : flags.all()) {
            if (flag.name.starts_with(dotted) && flag.value) {
                std::string key = flag.name.substr(dotted.size());
                std::replace(key.begin(), key.end(), '-', '_');
                config[key] = json::parse_foreign<Json>(*flag.value).value_or(Json(*flag.value));
            }
        }
    }
    take_short_flags(flags, config, findings);
    for (const char* gone : {"--speculative-model", "--num-speculative-tokens", "--speculative-draft-tensor-parallel-size",
                             "--ngram-prompt-lookup-max", "--ngram-prompt-lookup-min", "--speculative-disable-by-batch-size"}) {
        if (flags.has({gone})) {
            findings.add(Kind::removed, gone,
                         "was removed with the V0 engine; all speculation settings are in --speculative-config");
        }
    }
    return config;
}

/// Whether vLLM drafts with every module of the checkpoint. Of MiMo-V2's it loads the first alone (hf_config_override).
bool loads_all_modules(const sim::Model& target) { return !target.name.starts_with("mimo-v2"); }

/// A drafter of its own checkpoint: `mtp` needs a module there (__post_init__ raises "Unsupported speculative method"), and of
/// several modules whole turns ("must be divisible by n_predict").
void check_modules(const LintInput& input, const Json& config, Findings& findings) {
    const std::optional<sim::Model> target = config.contains("model") ? std::nullopt : served_model(input);
    if (!target || !target->mtp_layers) {
        return;
    }
    const long long modules = *target->mtp_layers;
    const long long drafts = whole(config, length_key).value_or(1);
    if (modules == 0) {
        findings.add(Kind::contradiction, "method",
                     fmt::format("is mtp, but the checkpoint of {} has no module for multi-token prediction: the server ends "
                                 "at start-up; a drafter in a checkpoint of its own is named under \"model\"",
                                 target->name));
    } else if (drafts > modules && drafts % modules != 0 && loads_all_modules(*target)) {
        findings.add(Kind::contradiction, length_key,
                     fmt::format("is {}, which is not divisible by the {} modules for multi-token prediction of {}: the server "
                                 "ends at start-up",
                                 drafts, modules, target->name));
    }
}

/// What the name of the drafter's checkpoint says of how it drafts. An EAGLE-3 head under `eagle` becomes an architecture that
/// vLLM does not have (transformers_utils/configs/eagle.py); a draft model trained as PARD drafts in one pass only if asked to.
void check_drafter_name(const Json& config, const std::string& method, Findings& findings) {
    const std::string name = text_at(config, "model"), capitals = in_capitals(name);
    const auto has = [&](const char* part) { return capitals.find(part) != std::string::npos; };
    if (method == "eagle" && (has("EAGLE3") || has("EAGLE-3"))) {
        findings.add(
            Kind::contradiction, "method",
            fmt::format("is eagle, but {} is an EAGLE-3 head by its name: the server ends at start-up; write eagle3", name));
    }
    const std::string last = capitals.substr(capitals.rfind('/') + 1);
    if (is_one_of(method, {"draft_model", ""}) && last.starts_with("PARD-") &&
        config.value("parallel_drafting", Json()) != Json(true)) {
        findings.add(Kind::downgrade, "model",
                     fmt::format("is {}, by its name a PARD drafter, which drafts all tokens in one pass only with "
                                 "\"parallel_drafting\": true; without it each token takes a pass",
                                 name));
    }
}

/// What the served model and the draft model make of it.
void check_models(const LintInput& input, const Json& config, const std::string& method, const Engine& engine,
                  Findings& findings) {
    check_target(input, "method", method, engine, findings);
    check_drafter_name(config, method, findings);
    if (method == "mtp") {
        check_modules(input, config, findings);
    }
    if (method == "draft_model" && config.value("use_heterogeneous_vocab", Json()) != Json(true)) {
        check_rows(input, "model", text_at(config, "model"), engine, findings);
    }
}

LintCut cut_of(const Deployment& deployment) {
    const auto ranks = static_cast<double>(deployment.tensor_parallel.value_or(1));
    const auto data = static_cast<double>(deployment.data_parallel);
    return {ranks, data, deployment.whole_experts ? ranks * data : 1.0,
            data > 1.0 ? "--data-parallel-size" : "--tensor-parallel-size", "--enable-expert-parallel"};
}

void check_config(const LintInput& input, const Json& config, const Engine& engine, const Deployment& deployment,
                  Findings& findings) {
    check_keys(config, engine, findings);
    const std::string method = check_method(config, engine, findings);
    check_model(config, method, findings);
    check_numbers(config, numbers_of_speculation(), findings);
    check_length(config, method, engine, findings);
    check_lookup(config, method, findings);
    check_keys_of_methods(config, method, findings);
    check_synthetic(config, engine, findings);
    check_deployment(config, method, deployment, engine, findings);
    check_models(input, config, method, engine, findings);
    if (engine.takes(schedule_key) && config.contains(schedule_key) && !config[schedule_key].is_null()) {
        check_schedule(config, method, deployment, engine, served_model(input), findings);
    }
}

/// The served model, where its name says that it is a drafter with its target's name in it, from which vLLM takes both (pull
/// request 20436).
std::string speculator_of(const CommandLine& command) {
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        const std::string& word = command.words[i];
        const std::string& before = command.words[i - 1];
        if ((before == "serve" || before == "--model") && word.find("speculator") != std::string::npos) {
            return word;
        }
    }
    return "";
}

void check(const LintInput& input, const Engine& engine, const ReadFile& /*read_file*/, Findings& findings) {
    std::vector<std::string> repeated = input.repeated;
    Json config = input.tree;
    Deployment deployment;
    if (input.form == LintForm::command) {
        const Flags flags(input.command.words);
        config = config_of_command(flags, repeated, findings);
        deployment = deployment_of(input.command, flags);
        deployment.device = input.device;
        check_cut(input, cut_of(deployment), engine, findings);
        if (const std::string speculator = config.empty() ? speculator_of(input.command) : ""; !speculator.empty()) {
            findings.note(
                fmt::format("{} is a checkpoint of a speculator: its own configuration says how vLLM drafts, and is not "
                            "checked.",
                            speculator));
            return;
        }
        if (config.empty()) {
            findings.add_nothing_drafts("--speculative-config", input.command);
            return;
        }
    }
    if (Json of_short_keys = Json::object(); input.form != LintForm::command) {
        take_short_keys(config, of_short_keys);
        if (!of_short_keys.empty()) {
            deployment = deployment_of(config);
            config = of_short_keys;
        }
    }
    for (const char* key : {"speculative_config", "speculative-config"}) {
        if (config.contains(key) && config[key].is_string()) {
            config[key] = parse_json(config[key].get<std::string>(), key, repeated);
        }
        if (config.contains(key) && config[key].is_object()) {
            deployment = deployment_of(config);
            config = Json(config[key]);
        }
    }
    for (const std::string& key : repeated) {
        findings.add(Kind::contradiction, key, "appears twice; only one of them counts");
    }
    leave_unknown_open(config, findings);
    check_config(input, config, engine, deployment, findings);
}

bool owns_tree(const Json& tree) {
    const Json* nested = nested_config(tree);
    if (nested != nullptr && nested->is_string()) {
        return true;  // as text it is what a flag takes
    }
    const Json& config = nested != nullptr && nested->is_object() ? *nested : tree;
    const auto contains = [](const Json& object, std::initializer_list<const char*> keys) {
        return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
    };
    return !config.contains("decoding_type") && (contains(tree, {"spec-method", "spec_method", "spec-tokens", "spec_tokens"}) ||
                                                 contains(config, {"method", "num_speculative_tokens", "prompt_lookup_max"}));
}

}  // namespace

Linting linting() { return {.reads_config_file = true, .owns_tree = owns_tree, .check = check}; }

}  // namespace treeline::engines::vllm

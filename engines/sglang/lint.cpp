// Rules of SGLang's speculation flags (server_args.py, arg_groups/speculative_hook.py).
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engines/lint_caches.h"
#include "engines/lint_models.h"
#include "engines/sglang/lint_costs.h"
#include "engines/sglang/lint_slots.h"
#include "engines/sglang/lint_trees.h"
#include "engines/sglang/parts.h"
#include "engines/speculative_numbers.h"
#include "json/wording.h"
#include "sim/trees/tree_shape.h"

namespace treeline::engines::sglang {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

constexpr const char* algorithm_flag = "--speculative-algorithm";
constexpr const char* path_flag = "--speculative-draft-model-path";
constexpr const char* steps_flag = "--speculative-num-steps";
constexpr const char* top_k_flag = "--speculative-eagle-topk";
constexpr const char* tokens_flag = "--speculative-num-draft-tokens";
constexpr const char* adaptive_flag = "--speculative-adaptive";
constexpr const char* file_flag = "--speculative-adaptive-config";

void check_names(const Flags& flags, const Engine& engine, Findings& findings) {
    for (const Flag& flag : flags.all()) {
        if (flag.name.starts_with("--speculative") && !engine.takes(flag.name)) {
            findings.add_unknown(engine, flag.name);
        }
        if (const std::string name = engine.flag_at(flag.name); name != flag.name) {
            findings.add(name.empty() ? Kind::unknown : Kind::removed, flag.name,
                         name.empty()
                             ? fmt::format("is not known to {}: it came with {}", engine.label(), engine.flag_since(flag.name))
                             : fmt::format("is called {} in {}", name, engine.label()));
        }
    }
}

/// The algorithm in capitals, with the alias NEXTN as EAGLE; "" if there is none that the engine knows.
std::string check_algorithm(const LintInput& input, const Flags& flags, const Engine& engine, Findings& findings) {
    const Flag* flag = flags.find({algorithm_flag});
    if (flag == nullptr || !flag->value) {
        findings.add_nothing_drafts(algorithm_flag, input.command);
        return "";
    }
    std::string word = in_capitals(*flag->value);
    if (!engine.knows(word) && !findings.add_if_between(engine, word, [&](const Engine& later) { return later.knows(word); })) {
        findings.add(Kind::unknown, algorithm_flag,
                     fmt::format("is {}, which {} does not know{}", *flag->value, engine.label(),
                                 text::did_you_mean(word, engine.methods)));
        return "";
    }
    return word == "NEXTN" ? "EAGLE" : word;
}

void check_path(const Flags& flags, const std::string& algorithm, Findings& findings) {
    const bool named = flags.has({path_flag, "--speculative-draft-model"});
    if (named && algorithm == "NGRAM") {
        findings.add(Kind::ignored, path_flag, "is not used by NGRAM");
    }
    if (!named && is_one_of(algorithm, {"EAGLE3", "STANDALONE", "DFLASH"})) {
        findings.add(Kind::missing, path_flag, fmt::format("is needed by {}", algorithm));
    }
}

/// Numbers of server_args.py. Adaptive steps may begin with none.
std::vector<SpeculativeNumber> numbers_of_speculation(const Flags& flags) {
    return {{steps_flag, true, flags.has({adaptive_flag}) ? 0.0 : 1.0},
            {top_k_flag},
            {tokens_flag},
            {"--speculative-accept-threshold-single", false, 0.0, 1.0},
            {"--speculative-accept-threshold-acc", false, 0.0, 1.0},
            {"--speculative-ngram-min-bfs-breadth"},
            {"--speculative-ngram-max-bfs-breadth"},
            {"--speculative-ngram-min-match-window-size"},
            {"--speculative-ngram-max-match-window-size"},
            {"--speculative-ngram-branch-length"},
            {"--speculative-ngram-max-trie-depth"},
            {"--speculative-ngram-capacity"},
            {"--speculative-dflash-block-size"},
            {"--speculative-dflash-draft-window-size"},
            {"--speculative-dspark-block-size"},
            {"--speculative-draft-window-size"},
            {"--speculative-draft-sink-size", true, 0.0}};
}

/// Steps, top-k and tokens: all three or none (adaptive steps fill in the rest themselves). What they come to is said of
/// `sound` numbers alone.
void check_triple(const Flags& flags, const std::string& algorithm, bool sound, Findings& findings) {
    const auto steps = flags.number({steps_flag});
    const auto top_k = flags.number({top_k_flag});
    const auto tokens = flags.number({tokens_flag});
    const int given = static_cast<int>(flags.has({steps_flag})) + static_cast<int>(flags.has({top_k_flag})) +
                      static_cast<int>(flags.has({tokens_flag}));
    if (algorithm == "NGRAM" && flags.has({top_k_flag})) {
        findings.add(Kind::ignored, top_k_flag, "is overwritten under NGRAM by --speculative-ngram-max-bfs-breadth");
    }
    if (!drafts_in_steps(algorithm)) {
        return;
    }
    if (given != 0 && given != 3 && !flags.has({adaptive_flag})) {
        findings.add(
            Kind::contradiction, steps_flag,
            fmt::format("belongs with {} and {}: give all three, or none for SGLang's own choice", top_k_flag, tokens_flag));
    }
    if (!sound || !steps || !top_k || !tokens) {
        return;
    }
    if (*top_k == 1 && *tokens != *steps + 1) {
        findings.add(
            Kind::ignored, tokens_flag,
            fmt::format("is {}, but at top-k 1 SGLang sets it to steps + 1 = {}, as it counts the root", *tokens, *steps + 1));
    } else if (*top_k > 1) {
        for (const std::string& problem : problems(sim::TreeShape{sim::SglangShape{
                 static_cast<int>(std::clamp(*steps, 0LL, 1000LL)), static_cast<int>(std::clamp(*top_k, 0LL, 1000LL)),
                 static_cast<int>(std::clamp(*tokens, 0LL, 100000LL))}})) {
            findings.add(Kind::contradiction, tokens_flag, "cannot be reached: " + problem);
        }
    }
}

/// What verifies by sampling: chains of some algorithms (`possible`), without thresholds (arg_groups/speculative_hook.py).
void check_sampling(const Flags& flags, const char* sampling, bool possible, const std::string& algorithm, Findings& findings) {
    if (!flags.has({sampling})) {
        return;
    }
    if (!possible) {
        findings.add(Kind::contradiction, sampling, fmt::format("is rejected with {}", algorithm));
    } else if (flags.number({top_k_flag}).value_or(1) != 1) {
        findings.add(Kind::contradiction, sampling, "needs --speculative-eagle-topk 1");
    }
    if (flags.has({"--speculative-accept-threshold-single", "--speculative-accept-threshold-acc"})) {
        findings.add(Kind::contradiction, sampling, "is rejected together with acceptance thresholds");
    }
}

/// Flags that only some algorithms read.
void check_flags_of_algorithms(const Flags& flags, const std::string& algorithm, const Engine& engine, Findings& findings) {
    for (const Flag& flag : flags.all()) {
        const auto only = [&](std::string_view prefix, std::initializer_list<std::string_view> algorithms) {
            if (flag.name.starts_with(prefix) && engine.takes(flag.name) && !is_one_of(algorithm, algorithms)) {
                findings.add(Kind::ignored, flag.name, fmt::format("is not read by {}", algorithm));
            }
        };
        only("--speculative-ngram-", {"NGRAM"});
        only("--speculative-dflash-", {"DFLASH"});
        only("--speculative-dspark-", {"DSPARK"});
        only("--speculative-draft-window-size", {"EAGLE", "EAGLE3", "DFLASH"});
        only("--speculative-draft-sink-size", {"EAGLE"});
        only("--speculative-token-map", {"EAGLE"});
    }
    check_sampling(flags, "--speculative-use-rejection-sampling", is_one_of(algorithm, {"EAGLE", "EAGLE3"}), algorithm,
                   findings);
    check_sampling(flags, "--speculative-use-block-verification", is_one_of(algorithm, {"EAGLE", "EAGLE3", "DFLASH", "DSPARK"}),
                   algorithm, findings);
}

/// Settings of the deployment that do not go with speculation.
void check_deployment(const LintInput& input, const Flags& flags, const Engine& engine, const std::string& algorithm,
                      Findings& findings) {
    const bool allowed = engine.version == "0.5.23" && input.command.sets("SGLANG_ENABLE_PP_SPEC", "1");
    if (flags.number({"--pp-size", "--pipeline-parallel-size"}).value_or(1) > 1 && !allowed) {
        findings.add(Kind::contradiction, "--pp-size",
                     engine.version == "0.5.23" ? "above 1 is rejected with speculation unless SGLANG_ENABLE_PP_SPEC=1 is set"
                                                : "above 1 is rejected with speculation");
    }
    if (flags.has({"--enable-mixed-chunk"})) {
        findings.add(Kind::ignored, "--enable-mixed-chunk", "is disabled by speculation");
    }
    if (flags.has({"--enable-dp-attention"}) && is_one_of(algorithm, {"NGRAM", "STANDALONE", "DFLASH"})) {
        findings.add(Kind::contradiction, "--enable-dp-attention", fmt::format("is rejected with {}", algorithm));
    }
}

/// Caches of recurrent states that do not go with speculation and shared prefixes (pull request 19391; validate_mamba_no_buffer
/// in arg_groups/mamba_hook.py of the versions that choose by themselves).
void check_states(const Flags& flags, const Engine& engine, Findings& findings) {
    const Flag* strategy = flags.find({"--mamba-scheduler-strategy", "--mamba-radix-cache-strategy"});
    const text::Version version = engine.numbers();
    if (strategy == nullptr || strategy->value != "no_buffer" || flags.has({"--disable-radix-cache"}) ||
        version < text::Version{0, 5, 10}) {
        return;
    }
    if (version < text::Version{0, 5, 16}) {
        findings.add(Kind::contradiction, strategy->name,
                     "is no_buffer, with which SGLang drafts for models with recurrent states only without shared prefixes: "
                     "the server ends at start-up; take extra_buffer, with SGLANG_ENABLE_SPEC_V2=1 before 0.5.11, or add "
                     "--disable-radix-cache");
    } else if (!flags.has({"--disable-overlap-schedule"})) {
        findings.add(Kind::contradiction, strategy->name,
                     "is no_buffer, which does not go with the overlapped scheduler: the server ends at start-up; leave it "
                     "out, or take extra_buffer");
    }
}

/// What the checks of one architecture refuse. The model is known by its name alone.
void check_model(const Flags& flags, const Engine& engine, Findings& findings) {
    const Flag *model = flags.find({"--model-path", "--model"}), *asked = flags.find({algorithm_flag});
    std::string name = model != nullptr ? model->value.value_or("") : "";
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    const Dialect& dialect = dialect_of(engine);
    const auto rule = std::find_if(dialect.model_rules.begin(), dialect.model_rules.end(),
                                   [&](const ModelRule& each) { return each.names(name); });
    if (rule == dialect.model_rules.end() || asked == nullptr || !asked->value) {
        return;
    }
    const std::string word = in_capitals(*asked->value);
    const auto takes = [&](std::string_view each) {
        return std::find(rule->words.begin(), rule->words.end(), each) != rule->words.end();
    };
    if (!takes(word)) {
        findings.add(Kind::contradiction, algorithm_flag,
                     fmt::format("is {}, but SGLang takes {} alone for {}: the server ends at start-up{}", word,
                                 text::listed(rule->words, "and"), rule->models,
                                 word == dialect.alias.first && takes(dialect.alias.second)
                                     ? fmt::format("; write {}, which means the same", dialect.alias.second)
                                     : ""));
    } else if (word == dialect.alias.second && !rule->width_flag.empty() && flags.number({rule->width_flag.data()}) != 1) {
        findings.add(Kind::missing, std::string(rule->width_flag),
                     fmt::format("must be given as 1 for {}: the check comes before defaults", rule->models));
    }
}

/// --tp-size counts the ranks of all groups of attention data parallelism.
LintCut cut_of(const Flags& flags) {
    const auto all =
        static_cast<double>(std::max(1LL, flags.number({"--tp-size", "--tensor-parallel-size", "--tp"}).value_or(1)));
    const auto data =
        static_cast<double>(std::max(1LL, flags.number({"--dp-size", "--data-parallel-size", "--dp"}).value_or(1)));
    const double groups = flags.has({"--enable-dp-attention"}) ? data : 1.0;
    const auto experts =
        static_cast<double>(std::max(1LL, flags.number({"--ep-size", "--expert-parallel-size", "--ep"}).value_or(1)));
    return {all / groups, groups, experts, "--tp-size", fmt::format("--ep-size {:.0f}", all)};
}

/// CUDA graphs of rounds. A server for prefill alone runs none.
void check_graphs(const Flags& flags, Findings& findings) {
    if (const Flag* mode = flags.find({"--disaggregation-mode"}); mode != nullptr && mode->value == "prefill") {
        return;
    }
    if (flags.has({"--disable-cuda-graph"})) {
        findings.add(Kind::downgrade, "--disable-cuda-graph",
                     "launches every kernel of drafter and verification one by one, which costs rounds more than plain steps; "
                     "leave it out");
    }
    if (flags.has({"--disable-cuda-graph-padding"}) && !flags.has({"--disable-cuda-graph"})) {
        findings.add(Kind::downgrade, "--disable-cuda-graph-padding",
                     "runs rounds without a graph at every batch that was not captured itself; leave it out");
    }
    // The requests are those of all replicas of the attention, the graphs those of each (pull request 20063).
    const long long replicas = flags.has({"--enable-dp-attention"})
                                   ? std::max(1LL, flags.number({"--dp-size", "--data-parallel-size", "--dp"}).value_or(1))
                                   : 1;
    const std::string shared = replicas > 1 ? fmt::format(" over {} replicas", replicas) : "";
    const auto most_captured = flags.number({"--cuda-graph-max-bs"}), most_running = flags.number({"--max-running-requests"});
    const long long running = most_running ? *most_running / replicas : 0;
    if (most_captured && most_running && *most_captured < running) {
        findings.add(
            Kind::downgrade, "--cuda-graph-max-bs",
            fmt::format("is {}, below --max-running-requests, {}{}: rounds of larger batches run without a graph; raise "
                        "it to {}",
                        *most_captured, *most_running, shared, running));
    }
    constexpr auto running_by_default = static_cast<long long>(default_requests);
    if (most_captured && !flags.has({"--max-running-requests"}) && *most_captured > running_by_default / replicas) {
        findings.add(
            Kind::ignored, "--cuda-graph-max-bs",
            fmt::format("is {}, but with speculation SGLang runs at most {} requests{} unless --max-running-requests says "
                        "more; give it as well",
                        *most_captured, running_by_default, shared));
    }
}

/// Drafts that replay and multi-layer drafters cannot take; the first fails at the first round (pull request 37061), the second
/// at the start (issue 36536).
void check_chains(const Flags& flags, const std::string& algorithm, bool sound, Findings& findings) {
    const auto top_k = flags.number({top_k_flag});
    if (flags.has({"--enable-linear-replayssm-spec"}) && (algorithm == "NGRAM" || top_k.value_or(1) > 1)) {
        findings.add(Kind::contradiction, "--enable-linear-replayssm-spec",
                     algorithm == "NGRAM"
                         ? "replays chains only, and NGRAM drafts trees: the first round ends in an assertion; "
                           "leave it out, or draft with EAGLE at top-k 1"
                         : fmt::format("replays chains only; set {} 1", top_k_flag));
    }
    const auto replayed = flags.number({"--linear-replayssm-cache-len"});
    if (replayed && !flags.has({"--enable-linear-replayssm-spec", "--enable-linear-replayssm"})) {
        findings.add(Kind::ignored, "--linear-replayssm-cache-len", "is not read without --enable-linear-replayssm-spec");
    }
    constexpr long long least_for_dspark = 32;
    if (replayed && algorithm == "DSPARK" && *replayed < least_for_dspark) {
        findings.add(
            Kind::value, "--linear-replayssm-cache-len",
            fmt::format("is {}, too short for the verification windows of DSPARK: the server ends at start-up; give {}",
                        *replayed, least_for_dspark));
    }
    const auto steps = flags.number({steps_flag}), tokens = flags.number({tokens_flag});
    if (sound && flags.has({"--enable-multi-layer-eagle"}) && drafts_in_steps(algorithm)) {
        if (!steps && !tokens) {
            findings.add(
                Kind::missing, steps_flag,
                fmt::format("is needed with --enable-multi-layer-eagle: SGLang's own choice for some models is a tree, on "
                            "which it fails; give {} 3 {} 1 {} 4",
                            steps_flag, top_k_flag, tokens_flag));
        } else if (steps && tokens && *tokens != *steps + 1) {
            findings.add(Kind::contradiction, tokens_flag,
                         fmt::format("must be steps + 1 = {} with --enable-multi-layer-eagle", *steps + 1));
        }
    }
}

/// Why adaptive steps would be dropped; "" when they run.
std::string adaptive_obstacle(const Flags& flags, const Engine& engine, const std::string& algorithm) {
    if (!is_one_of(algorithm, {"EAGLE", "EAGLE3"})) {
        return fmt::format("works only with EAGLE, EAGLE3 and NEXTN, not with {}", algorithm);
    }
    if (flags.number({top_k_flag}).value_or(1) != 1) {
        return "needs --speculative-eagle-topk 1";
    }
    for (const char* flag :
         {"--enable-dp-attention", "--enable-multi-layer-eagle", "--enable-two-batch-overlap", "--enable-pdmux"}) {
        if (flags.has({flag})) {
            return fmt::format("does not go with {}", flag);
        }
    }
    return engine.version == "0.5.11" && !flags.has({"--disable-overlap-schedule"})
               ? "needs --disable-overlap-schedule in 0.5.11"
               : "";
}

void check_adaptive(const LintInput& input, const Flags& flags, const Engine& engine, const std::string& algorithm,
                    const ReadFile& read_file, Findings& findings) {
    const Flag* file = flags.find({file_flag});
    if (!flags.has({adaptive_flag})) {
        if (file != nullptr && engine.takes(file_flag)) {
            findings.add(Kind::ignored, file_flag, "is not read without --speculative-adaptive");
        }
        return;
    }
    if (const std::string obstacle = adaptive_obstacle(flags, engine, algorithm);
        !obstacle.empty() && engine.takes(adaptive_flag)) {
        findings.add(Kind::ignored, adaptive_flag, obstacle + ": SGLang falls back to fixed steps");
    }
    const std::optional<std::string> text = input.file                       ? input.file
                                            : file != nullptr && file->value ? read_file(*file->value)
                                                                             : std::nullopt;
    if (!text || !engine.takes(adaptive_flag)) {
        return;
    }
    std::vector<std::string> repeated;
    const Json slots = parse_json(*text, file != nullptr ? file->value.value_or(file_flag) : file_flag, repeated);
    check_slots(slots, repeated, engine, findings);
    const auto steps = flags.number({steps_flag});
    const std::vector<long long> candidates = candidates_of(slots);
    if (steps && !candidates.empty() && std::find(candidates.begin(), candidates.end(), *steps) == candidates.end()) {
        findings.add(Kind::contradiction, steps_flag, fmt::format("is {}, which is not a candidate of {}", *steps, file_flag));
    }
}

void check(const LintInput& input, const Engine& engine, const ReadFile& read_file, Findings& findings) {
    if (input.form == LintForm::tree) {
        const bool costs = is_costs(input.tree);
        if (const char* flag = costs ? costs_flag : file_flag; !engine.takes(flag)) {
            findings.add(Kind::unknown, flag, fmt::format("does not exist in {}", engine.label()));
            return;
        }
        if (costs) {
            check_costs(input.tree, input.repeated, findings);
            return;
        }
        check_slots(input.tree, input.repeated, engine, findings);
        return;
    }
    Flags flags(input.command.words);
    flags.complete(engine.keys);
    check_names(flags, engine, findings);
    if (const Flag* format = flags.find({"--kv-cache-dtype"}); format != nullptr) {
        check_cache_word(format->name, format->value.value_or(""), engine, findings);
    }
    check_cut(input, cut_of(flags), engine, findings);
    const std::string algorithm = check_algorithm(input, flags, engine, findings);
    if (algorithm.empty()) {
        return;
    }
    check_model(flags, engine, findings);
    if (const Flag* drafter = flags.find({path_flag, "--speculative-draft-model"});
        drafter != nullptr && algorithm == "STANDALONE") {
        check_rows(input, path_flag, drafter->value.value_or(""), engine, findings);
    }
    check_states(flags, engine, findings);
    check_path(flags, algorithm, findings);
    const bool sound = check_numbers(flags, numbers_of_speculation(flags), findings);
    check_triple(flags, algorithm, sound, findings);
    check_trees(flags, algorithm, findings);
    check_flags_of_algorithms(flags, algorithm, engine, findings);
    check_deployment(input, flags, engine, algorithm, findings);
    check_graphs(flags, findings);
    check_chains(flags, algorithm, sound, findings);
    check_adaptive(input, flags, engine, algorithm, read_file, findings);
}

/// The files that its flags name.
bool owns_tree(const Json& tree) { return is_costs(tree) || is_slots(tree); }

/// A prefix will do, as Python's argparse takes it.
bool owns_option(std::string_view option) {
    return option.starts_with("speculative-alg") && std::string_view("speculative-algorithm").starts_with(option);
}

}  // namespace

Linting linting() { return {.reads_config_file = true, .owns_tree = owns_tree, .owns_option = owns_option, .check = check}; }

}  // namespace treeline::engines::sglang

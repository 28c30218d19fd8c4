// Rules of llama.cpp's speculation flags (common/arg.cpp, common/speculative.cpp, docs/speculative.md).
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engines/lint_caches.h"
#include "engines/lint_input.h"
#include "engines/llama_cpp/lint_placement.h"
#include "engines/llama_cpp/lint_spelling.h"
#include "engines/llama_cpp/parts.h"
#include "engines/request_limits.h"
#include "engines/speculative_numbers.h"
#include "json/wording.h"

namespace treeline::engines::llama_cpp {
namespace {

using Kind = FindingKind;

const std::vector<std::string_view> model_flags = {"--spec-draft-model", "--model-draft", "-md",  "--spec-draft-hf",
                                                   "--hf-repo-draft",    "-hfd",          "-hfrd"};

bool concerns_speculation(const std::string& flag) {
    return flag.starts_with("--spec") || flag.starts_with("--draft") || flag.starts_with("--model-draft") || flag == "-md" ||
           flag == "-hfd" || flag == "-hfrd";
}

std::set<std::string> types_of(const Flags& flags, const Engine& engine, Findings& findings) {
    std::set<std::string> types;
    for (const Flag& flag : flags.all()) {
        std::string list = flag.name == "--spec-type" ? flag.value.value_or("") + "," : "";
        for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',')) {
            const std::string type = list.substr(0, comma);
            list.erase(0, comma + 1);
            if (!engine.knows(type)) {
                findings.add(
                    Kind::unknown, "--spec-type",
                    fmt::format("is \"{}\", which llama.cpp does not know{}", type, text::did_you_mean(type, engine.methods)));
            } else if (type != "none") {
                types.insert(type);
            }
        }
    }
    if (flags.has({"--spec-default"})) {
        types.insert("ngram-mod");
    }
    return types;
}

void check_names(const Flags& flags, const Engine& engine, Findings& findings) {
    std::set<std::string> seen;
    for (const Flag& flag : flags.all()) {
        if (!concerns_speculation(flag.name)) {
            continue;
        }
        if (!engine.takes(flag.name)) {
            findings.add_unknown(engine, flag.name);
        } else if (!seen.insert(flag.name).second && flag.name != "--spec-type") {
            findings.add(Kind::contradiction, flag.name, "appears twice; only the last one counts");
        }
    }
}

/// A draft model's file without a type that drafts with it. Builds since August 2026 read the type of DFlash, DSpark and MTP
/// drafters from the file where no type at all is given (common_speculative_types_from_gguf in common/speculative.cpp; pull
/// requests 26814 and 27005); of EAGLE-3 heads and ordinary draft models they do not.
void check_untyped_file(const Flag& model, bool no_type, Findings& findings) {
    const std::string name = in_capitals(model.value.value_or(""));
    for (const char* kind : {"dspark", "dflash", "mtp"}) {
        if (no_type && name.find(in_capitals(kind)) != std::string::npos) {
            findings.note(
                fmt::format("{} is a file of a {} drafter by its name: builds since August 2026 (pull requests 26814 "
                            "and 27005) draft with it by themselves; older ones need --spec-type draft-{}.",
                            model.name, kind, kind));
            return;
        }
    }
    findings.add(Kind::ignored, model.name,
                 no_type
                     ? "does not enable speculation, unless the file is one of a DFlash, DSpark or MTP drafter and the build "
                       "of August 2026 or later: add --spec-type draft-simple (or draft-eagle3)"
                     : "does not enable speculation: add draft-simple to --spec-type (or draft-eagle3, draft-mtp)");
}

void check_model(const Flags& flags, const std::set<std::string>& types, Findings& findings) {
    const Flag* model = flags.find(model_flags);
    const bool drafts =
        std::any_of(types.begin(), types.end(), [](const std::string& type) { return type.starts_with("draft-"); });
    const bool repository = model != nullptr && model->name.find("hf") != std::string::npos;
    if (model != nullptr && !drafts && !repository) {
        check_untyped_file(*model, types.empty(), findings);
    }
    // Drafters that lie beside a model on Hugging Face are found and downloaded (pull request 25811).
    const bool finds_sidecars = flags.has({"-hf", "-hfr", "--hf-repo"});
    for (const std::string& type : types) {
        const bool sidecar = finds_sidecars && is_one_of(type, {"draft-dflash", "draft-eagle3"});
        if (model == nullptr && type.starts_with("draft-") && type != "draft-mtp" && !sidecar) {
            findings.add(Kind::missing, "--spec-draft-model", fmt::format("is needed by --spec-type {}", type));
        }
    }
}

/// Flags of a type that is not switched on.
void check_flags_of_types(const Flags& flags, const std::set<std::string>& types, Findings& findings) {
    const bool drafts =
        std::any_of(types.begin(), types.end(), [](const std::string& type) { return type.starts_with("draft-"); });
    for (const char* type : {"ngram-simple", "ngram-map-k4v", "ngram-map-k", "ngram-mod"}) {
        const std::string prefix = fmt::format("--spec-{}-", type);
        for (const Flag& flag : flags.all()) {
            if (flag.name.starts_with(prefix) && types.count(type) == 0) {
                findings.add(Kind::ignored, flag.name, fmt::format("is read only by --spec-type {}", type));
            }
        }
    }
    for (const char* flag : {"--spec-draft-n-max", "--spec-draft-n-min", "--spec-draft-p-min", "--spec-draft-p-split"}) {
        if (flags.has({flag}) && !drafts && !types.empty()) {
            const std::string& type = *types.begin();
            const std::string instead = type == "ngram-cache" ? ""
                                        : type == "ngram-mod" ? "; use --spec-ngram-mod-n-max"
                                                              : fmt::format("; use --spec-{}-size-m", type);
            findings.add(Kind::ignored, flag, fmt::format("does not limit {}{}", type, instead));
        }
    }
}

/// Numbers of common/arg.cpp; those of look-ups end at 1024 there.
const std::vector<SpeculativeNumber>& numbers_of_speculation() {
    static const std::vector<SpeculativeNumber> numbers = [] {
        constexpr double longest = 1024.0;
        std::vector<SpeculativeNumber> all = {{"--spec-draft-n-max", true, 0.0},
                                              {"--spec-draft-n-min", true, 0.0},
                                              {"--spec-draft-p-min", false, 0.0, 1.0},
                                              {"--draft-p-min", false, 0.0, 1.0},
                                              {"--spec-draft-p-split", false, 0.0, 1.0},
                                              {"--draft-p-split", false, 0.0, 1.0},
                                              {"--spec-synth-len", false, 1.0},
                                              {"--spec-ngram-mod-n-match", true, 1.0, longest},
                                              {"--spec-ngram-mod-n-min", true, 0.0, longest},
                                              {"--spec-ngram-mod-n-max", true, 0.0, longest}};
        for (const char* size : {"--spec-ngram-simple-size-n", "--spec-ngram-simple-size-m", "--spec-ngram-map-k-size-n",
                                 "--spec-ngram-map-k-size-m", "--spec-ngram-map-k4v-size-n", "--spec-ngram-map-k4v-size-m"}) {
            all.push_back({size, true, 1.0, longest});
        }
        for (const char* hits :
             {"--spec-ngram-simple-min-hits", "--spec-ngram-map-k-min-hits", "--spec-ngram-map-k4v-min-hits"}) {
            all.push_back({hits});
        }
        return all;
    }();
    return numbers;
}

void check_values(const Flags& flags, Findings& findings) {
    if (const auto slots = flags.number({"--parallel", "-np"}); slots && *slots > most_slots) {
        findings.add(
            Kind::value, "--parallel",
            fmt::format("is {}, but a context holds at most {} sequences: the server ends at start-up", *slots, most_slots));
    }
    if (!check_numbers(flags, numbers_of_speculation(), findings)) {
        return;
    }
    for (const char* prefix : {"--spec-draft", "--spec-ngram-mod"}) {
        const std::string most_flag = fmt::format("{}-n-max", prefix);
        const std::string least_flag = fmt::format("{}-n-min", prefix);
        const auto most = flags.number({most_flag});
        const auto least = flags.number({least_flag});
        if (most && least && *least > *most) {
            findings.add(Kind::contradiction, least_flag, fmt::format("is {}, above {}, {}", *least, most_flag, *most));
        }
    }
}

/// Simulated acceptance: a rate for each draft token (3 unless said), or a length.
void check_synthetic(const Flags& flags, Findings& findings) {
    const Flag* rates = flags.find({"--spec-synth-rates"});
    if (rates == nullptr) {
        return;
    }
    if (flags.has({"--spec-synth-len"})) {
        findings.add(Kind::contradiction, rates->name, "excludes --spec-synth-len");
    }
    const nlohmann::ordered_json list = nlohmann::ordered_json::parse("[" + rates->value.value_or("") + "]", nullptr, false);
    check_rates(list, rates->name, flags.number({"--spec-draft-n-max"}).value_or(3), findings);
}

/// Formats of both caches, the drafter's among them (common/arg.cpp); a quantised V cache needs flash attention
/// (src/llama-context.cpp).
void check_cache(const Flags& flags, const Engine& engine, Findings& findings) {
    for (const Flag& flag : flags.all()) {
        if (is_one_of(flag.name, {"--cache-type-k", "-ctk", "--cache-type-v", "-ctv", "--spec-draft-type-k", "-ctkd",
                                  "--cache-type-k-draft", "--spec-draft-type-v", "-ctvd", "--cache-type-v-draft"})) {
            check_cache_word(flag.name, flag.value.value_or(""), engine, findings);
        }
    }
    const Flag* type = flags.find({"--cache-type-v", "-ctv"});
    const Flag* attention = flags.find({"--flash-attn", "-fa"});
    const std::string format = type == nullptr ? "" : type->value.value_or("");
    const bool off = attention != nullptr && is_one_of(attention->value.value_or(""), {"off", "0", "false", "disabled"});
    if (off && (format.starts_with('q') || format.starts_with("iq"))) {
        findings.add(Kind::contradiction, type->name,
                     fmt::format("is {}: llama.cpp does not start with a quantised V cache and {} {}", format, attention->name,
                                 *attention->value));
    }
}

/// Flags that only the fork ik_llama.cpp has (its common/common.cpp at 8337e4cd, August 2026).
const std::vector<std::string_view> fork_flags = {"-fmoe",
                                                  "--fused-moe",
                                                  "-no-fmoe",
                                                  "--no-fused-moe",
                                                  "-rtr",
                                                  "--run-time-repack",
                                                  "-amb",
                                                  "--attention-max-batch",
                                                  "-ser",
                                                  "--smart-expert-reduction",
                                                  "-ger",
                                                  "--grouped-expert-routing",
                                                  "-mla",
                                                  "--mla-use",
                                                  "-khad",
                                                  "--k-cache-hadamard",
                                                  "-vhad",
                                                  "--v-cache-hadamard",
                                                  "-muge",
                                                  "--merge-up-gate-experts",
                                                  "-mqkv",
                                                  "--merge-qkv",
                                                  "-smgs",
                                                  "--split-mode-graph-scheduling",
                                                  "-smf16",
                                                  "--split-mode-f16",
                                                  "-smf32",
                                                  "--split-mode-f32",
                                                  "-grt",
                                                  "--graph-reduce-type",
                                                  "-gap",
                                                  "--graph-attn-precision",
                                                  "-gr",
                                                  "--graph-reuse",
                                                  "-no-gr",
                                                  "--no-graph-reuse",
                                                  "-sas",
                                                  "--scheduler-async",
                                                  "-no-fug",
                                                  "--no-fused-up-gate",
                                                  "-no-mmad",
                                                  "--no-fused-mul-multiadd",
                                                  "-rcache",
                                                  "--rope-cache",
                                                  "-op",
                                                  "--offload-policy",
                                                  "-no-ooae",
                                                  "--no-offload-only-active-experts",
                                                  "-cuda",
                                                  "--cuda-params",
                                                  "-draft",
                                                  "--draft-params",
                                                  "--max-gpu",
                                                  "-wgt",
                                                  "--worst-graph-tokens",
                                                  "-mtprot",
                                                  "--mtp-requantize-output-tensor",
                                                  "--spec-stage",
                                                  "--spec-autotune",
                                                  "--recurrent-ckpt-mode"};

/// The flag by which a command line is of that fork; null if none is. Two of its flags are llama.cpp's in another form:
/// `--spec-type mtp:n_max=3,p_min=0.0` carries settings, and `--split-mode` takes graph and attn.
const Flag* flag_of_fork(const Flags& flags) {
    if (const Flag* flag = flags.find(fork_flags)) {
        return flag;
    }
    if (const Flag* type = flags.find({"--spec-type"});
        type != nullptr && type->value.value_or("").find(':') != std::string::npos) {
        return type;
    }
    const Flag* split = flags.find({"-sm", "--split-mode"});
    return split != nullptr && is_one_of(split->value.value_or(""), {"graph", "attn"}) ? split : nullptr;
}

std::string of_fork(const Flag& flag) {
    if (flag.name == "--spec-type") {
        return "is of the form that the fork ik_llama.cpp takes: llama.cpp does not start with it, and flags of that fork are "
               "not checked; write --spec-type draft-mtp --spec-draft-n-max N";
    }
    if (flag.name == "-sm" || flag.name == "--split-mode") {
        return fmt::format(
            "is {}, which only the fork ik_llama.cpp takes: llama.cpp does not start with it, and flags of that "
            "fork are not checked",
            *flag.value);
    }
    return "is a flag of the fork ik_llama.cpp: llama.cpp does not start with it, and flags of that fork are not checked";
}

/// Whether a program or an image is called so; files of weights may be, too, whatever runs them.
bool starts_fork(const LintInput& input, std::initializer_list<std::string_view> names) {
    return std::any_of(input.command.words.begin(), input.command.words.end(), [&](const std::string& word) {
        const bool named = std::any_of(names.begin(), names.end(),
                                       [&](std::string_view name) { return word.find(name) != std::string::npos; });
        return named && !word.ends_with(".gguf");
    });
}

/// Whether the command line is of the fork beellama.cpp (its common/arg.cpp at ba1fdce5, May 2026).
bool check_beellama(const LintInput& input, const Flags& flags, Findings& findings) {
    if (starts_fork(input, {"beellama"})) {
        findings.note(
            "beellama.cpp is a fork with flags of its own, which are not checked: it has --spec-type dflash where llama.cpp "
            "has "
            "draft-dflash, and --draft-max and --draft-min beside --spec-draft-n-max and --spec-draft-n-min.");
        return true;
    }
    for (const Flag& flag : flags.all()) {
        if (flag.name.starts_with("--spec-dflash-") || flag.name.starts_with("--spec-dm-") ||
            is_one_of(flag.name,
                      {"--no-spec-dm-adaptive", "--spec-branch-budget", "--spec-draft-top-k", "--spec-draft-temp"})) {
            findings.add(Kind::unknown, flag.name,
                         "is a flag of the fork beellama.cpp: llama.cpp does not start with it, and flags of that fork are not "
                         "checked");
            return true;
        }
    }
    return false;
}

/// Whether the command line is of a fork, whose flags of speculation are those of older versions.
bool check_fork(const LintInput& input, const Flags& flags, Findings& findings) {
    if (check_beellama(input, flags, findings)) {
        return true;
    }
    const bool by_path = starts_fork(input, {"ik_llama", "ik-llama"});
    const Flag* flag = flag_of_fork(flags);
    if (by_path) {
        findings.note(
            "ik_llama.cpp is a fork with flags of its own, which are not checked: it has --draft-max, --draft-min and "
            "--draft-p-min where llama.cpp has --spec-draft-n-max, --spec-draft-n-min and --spec-draft-p-min.");
    } else if (flag != nullptr) {
        findings.add(Kind::unknown, flag->name, of_fork(*flag));
    }
    if (by_path && flags.has({"-mtp"})) {
        findings.add(Kind::removed, "-mtp", "ends in an error in ik_llama.cpp; write --spec-type mtp:n_max=N,p_min=P");
    }
    return by_path || flag != nullptr;
}

void check(const LintInput& input, const Engine& engine, const ReadFile& /*read_file*/, Findings& findings) {
    const Flags flags(input.command.words);
    if (check_fork(input, flags, findings)) {
        return;
    }
    check_spelling(input, engine, findings);
    check_names(flags, engine, findings);
    const bool typed = flags.has({"--spec-type", "--spec-default"});
    const std::set<std::string> types = types_of(flags, engine, findings);
    check_model(flags, types, findings);
    if (!typed && !flags.has(model_flags)) {
        findings.add_nothing_drafts("--spec-type", input.command);
    }
    check_flags_of_types(flags, types, findings);
    check_values(flags, findings);
    check_synthetic(flags, findings);
    check_placement(flags, findings);
    check_cache(flags, engine, findings);
}

bool owns_option(std::string_view option) {
    return starts_with_any(option, {"spec-type", "spec-draft-n-max", "spec-draft-model", "model-draft", "draft-max"});
}

}  // namespace

Linting linting() { return {.owns_option = owns_option, .variables = "LLAMA_ARG_", .preset_of = preset_of, .check = check}; }

}  // namespace treeline::engines::llama_cpp

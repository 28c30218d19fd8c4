#include "engines/lint_models.h"

#include <fmt/format.h>

#include "engines/capabilities.h"
#include "engines/definition.h"

namespace treeline::engines {
namespace {

/// The word that names the served model: behind "serve" or a flag.
std::string served_name(const CommandLine& command) {
    const Flags flags(command.words);
    if (const Flag* model = flags.find({"--model", "--model-path"}); model != nullptr && model->value) {
        return *model->value;
    }
    for (std::size_t i = 1; i < command.words.size(); ++i) {
        const std::string& before = command.words[i - 1];
        if ((before == "serve" || before.ends_with("trtllm-serve")) && !command.words[i].starts_with('-')) {
            return command.words[i];
        }
    }
    return "";
}

std::string owner_of(const std::string& repository) { return repository.substr(0, repository.find('/')); }

/// The formats of the checkpoint of that name; nothing where the description does not tell. Releases of one owner are stored
/// alike.
std::optional<sim::Precision> precision_of(const sim::Model& model, const std::string& name) {
    if (name == model.repository) {
        return model.precision;
    }
    const auto blocks = model.stored_as.find("fp8-block");
    const bool alike = blocks != model.stored_as.end() && name.ends_with("-FP8") && owner_of(name) == owner_of(blocks->second);
    return alike ? std::optional(sim::block_fp8_precision(sim::NumberFormat::bf16)) : std::nullopt;
}

}  // namespace

std::optional<sim::Model> served_model(const LintInput& input) {
    const std::string name = served_name(input.command);
    return name.empty() || !input.find_model ? std::nullopt : input.find_model(name);
}

void check_cut(const LintInput& input, const LintCut& cut, const Engine& engine, Findings& findings) {
    const std::optional<sim::Model> target = served_model(input);
    const std::optional<sim::Precision> stored =
        target ? precision_of(*target, served_name(input.command)) : std::optional<sim::Precision>();
    if (!stored) {
        return;
    }
    sim::Parallelism parallel;
    parallel.data = cut.data;
    parallel.experts = cut.experts;
    const std::optional<CutBlocks> blocks = cut_blocks_of(*target, *stored, cut.ranks, parallel);
    const CutProblem problem = blocks ? block_problem(engine, *blocks, {}) : CutProblem{};
    if (problem.why.empty()) {
        return;
    }
    const std::string instead = blocks->routed && !cut.whole_experts.empty() ? fmt::format("; add {}", cut.whole_experts) : "";
    findings.add(problem.starts ? FindingKind::downgrade : FindingKind::contradiction, cut.flag,
                 fmt::format("leaves {}: {}{}", text_of(*blocks),
                             problem.starts ? "slower kernels alone take them" : "the server ends at start-up", instead));
}

void check_target(const LintInput& input, const std::string& key, const std::string& method, const Engine& engine,
                  Findings& findings) {
    const std::optional<sim::Model> target = served_model(input);
    const std::optional<ModelRule> rule = target ? model_rule(engine, *target) : std::nullopt;
    if (rule && rule->words.empty()) {
        findings.add(FindingKind::contradiction, key,
                     fmt::format("is {}, but {} drafts nothing for {}: the server ends at start-up ({})", method,
                                 engine.label(), rule->models, rule->source));
    }
}

void check_rows(const LintInput& input, const std::string& flag, const std::string& drafter, const Engine& engine,
                Findings& findings) {
    const auto needs_equal_rows = dialect_of(engine).needs_equal_rows;
    if (drafter.empty() || !input.find_model || needs_equal_rows == nullptr || !needs_equal_rows(engine)) {
        return;
    }
    const std::optional<sim::Model> target = served_model(input), draft = input.find_model(drafter);
    if (target && draft && target->vocabulary_size != draft->vocabulary_size) {
        const bool translates = dialect_of(engine).translates(engine);
        findings.add(FindingKind::contradiction, flag,
                     fmt::format("is {}, whose embedding has {} rows, where the served model's has {}: the server ends at "
                                 "start-up{}",
                                 drafter, draft->vocabulary_size, target->vocabulary_size,
                                 translates ? "; add \"use_heterogeneous_vocab\": true" : ""));
    }
}

}  // namespace treeline::engines

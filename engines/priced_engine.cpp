#include "engines/priced_engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "engines/capabilities.h"
#include "engines/checkpoints.h"
#include "engines/definition.h"
#include "engines/scale_blocks.h"
#include "text/input_error.h"
#include "text/version.h"

namespace treeline::engines {
namespace {

sweeps::Switching switching_of(const Engine& engine, const sim::RoundSetup& setup) {
    return engine.schedule != ScheduleForm::none && changes_lengths(engine, setup) ? sweeps::Switching::lengths
                                                                                   : sweeps::Switching::nothing;
}

/// Chained modules for multi-token prediction draft one token each in vLLM and llama.cpp; vLLM would take multiples of their
/// number as well.
void limit_to_modules(sweeps::Variant& variant, const Engine& engine) {
    const sim::Count modules = variant.setup.target.mtp_layers.value_or(0);
    if (modules > 1 && dialect_of(engine).one_draft_a_module && kind_of(variant.setup.drafter) == DrafterKind::mtp) {
        int& most = variant.setup.acceptance.most_draft_tokens;
        most = most > 0 ? std::min(most, static_cast<int>(modules)) : static_cast<int>(modules);
    }
}

void keep_what_runs(sweeps::Variant& variant, const Engine& engine) {
    const DrafterKind kind = kind_of(variant.setup.drafter);
    sim::Platform& platform = variant.setup.platform;
    variant.problem = drafting_problem(engine, variant.setup);
    platform.stack.drafts.drafted_trees = drafted_trees(engine, kind, variant.setup.target);
    variant.switching = switching_of(engine, variant.setup);
    limit_to_modules(variant, engine);
}

/// The problem that the variants of a drafter have, if all of them have one.
std::string problem_of_all(const std::vector<sweeps::Variant>& variants, std::size_t drafter) {
    std::string first;
    for (const sweeps::Variant& variant : variants) {
        if (variant.origin.drafter == drafter && variant.problem.empty()) {
            return {};
        }
        if (variant.origin.drafter == drafter && first.empty()) {
            first = variant.problem;
        }
    }
    return first;
}

/// Why no variant drafts this tree, as a sentence about one of them; empty if one does, or if none runs at all.
std::string problem_of_tree(const std::vector<sweeps::Variant>& variants, const sim::Speculation& speculation) {
    std::string first;
    for (const sweeps::Variant& variant : variants) {
        if (!variant.problem.empty()) {
            continue;
        }
        const std::optional<Engine> engine = priced_engine(variant.setup.platform);
        const std::string problem =
            engine ? tree_problem(*engine, kind_of(variant.setup.drafter), speculation, variant.setup.target) : "";
        if (problem.empty()) {
            return {};
        }
        first = first.empty() ? problem : first;
    }
    return first;
}

}  // namespace

namespace {

/// The engine that a stack was asked for. A version before all whose flags are known runs where a stack was measured for it or
/// for one before; its flags are then those of the first that is known, and its label says so.
Engine engine_of_stack(const sim::Stack& stack) {
    const std::size_t at = stack.engine.find('@'), dash = stack.name.rfind('-');
    if (!older_than_known(stack.engine) || dash == std::string::npos) {
        return find_engine(stack.engine);
    }
    const std::string asked = stack.engine.substr(at + 1);
    const text::Version of_stack = text::version_in(stack.name.substr(dash + 1)), wanted = text::version_in(asked);
    if (of_stack.empty() || wanted < of_stack) {
        return find_engine(stack.engine);  // which refuses it
    }
    const EngineName name = find_engine(stack.engine.substr(0, at)).name;
    Engine engine = *std::find_if(all_engines().begin(), all_engines().end(), [&](const Engine& e) { return e.name == name; });
    engine.asked = asked;
    return engine;
}

}  // namespace

std::optional<Engine> priced_engine(const sim::Platform& platform) {
    if (platform.accelerator || platform.stack.engine.empty()) {
        return std::nullopt;
    }
    const Engine engine = engine_of_stack(platform.stack);
    const bool runs_there = !platform.device.metal || dialect_of(engine).runs_on_metal;
    return runs_there ? std::optional(engine) : std::nullopt;
}

bool lacks_repository(const sweeps::Variant& variant) {
    const std::optional<Engine> engine = variant.plain() ? std::nullopt : priced_engine(variant.setup.platform);
    const EngineDrafter* drafter = engine ? engine->drafter(kind_of(variant.setup.drafter)) : nullptr;
    return drafter != nullptr && drafter->needs_path && checkpoints_of(variant, *engine).drafter == drafter_placeholder;
}

namespace {

/// Why none of the drafters that the input names can run; empty if one can, or if it names none.
std::vector<std::string> problems_of_drafters(const sweeps::RecommendInput& input) {
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < input.drafters.size(); ++i) {
        if (!input.drafters[i].named) {
            continue;
        }
        const std::string problem = problem_of_all(input.workload.variants, i);
        if (problem.empty()) {
            return {};
        }
        problems.push_back(fmt::format("the drafter {} cannot run: {}", input.drafters[i].label, problem));
    }
    return problems;
}

/// Shapes that no engine of the workload's stacks drafts, each once however it is verified, and why.
std::vector<sweeps::Exclusion> missing_shapes(const sweeps::Workload& workload) {
    std::vector<sweeps::Exclusion> missing;
    for (const sim::Speculation& speculation : workload.speculations) {
        const std::string problem = problem_of_tree(workload.variants, speculation);
        if (!problem.empty() && (missing.empty() || missing.back().label != speculation.label)) {
            missing.push_back({speculation.label, problem, sweeps::Exclusion::no_variant});
        }
    }
    return missing;
}

/// Takes the cuts away in which an engine does not run the target, whatever drafts. Throws InputError where that leaves none.
void leave_out_cuts(sweeps::RecommendInput& input) {
    std::vector<sweeps::Exclusion>& excluded = input.workload.excluded;
    const std::size_t others = excluded.size();
    std::erase_if(input.workload.variants, [&](const sweeps::Variant& variant) {
        const std::optional<Engine> engine = priced_engine(variant.setup.platform);
        std::string problem = engine ? cut_problem(*engine, variant.setup) : "";
        const bool left_out = !problem.empty();
        const std::string label = variant.labels.platform();
        const bool known = std::any_of(excluded.begin() + static_cast<std::ptrdiff_t>(others), excluded.end(),
                                       [&](const sweeps::Exclusion& each) { return each.label == label; });
        if (left_out && !known) {
            excluded.push_back({label, std::move(problem), sweeps::Exclusion::no_variant});
        }
        return left_out;
    });
    if (input.workload.variants.empty() && excluded.size() > others) {
        throw text::InputError({fmt::format("{}: {}", excluded[others].label, excluded[others].reason)});
    }
}

}  // namespace

void keep_what_engines_run(sweeps::RecommendInput& input, MissingShapes shapes) {
    leave_out_cuts(input);
    for (sweeps::Variant& variant : input.workload.variants) {
        const std::optional<Engine> engine = priced_engine(variant.setup.platform);
        if (engine && !variant.plain()) {
            keep_what_runs(variant, *engine);
        }
    }
    std::vector<std::string> problems = problems_of_drafters(input);
    for (sweeps::Exclusion& missing : missing_shapes(input.workload)) {
        if (shapes == MissingShapes::refuse) {
            problems.push_back(fmt::format("the shape {} cannot run: {}", missing.label, missing.reason));
        } else {
            input.workload.excluded.push_back(std::move(missing));
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

sweeps::Answer answer(sweeps::RecommendInput input, unsigned threads, MissingShapes shapes) {
    keep_what_engines_run(input, shapes);
    return sweeps::answer(std::move(input), threads);
}

sweeps::PointEstimate estimate_point(sweeps::PointInput input) {
    const std::optional<Engine> engine = input.rollback ? priced_engine(input.platform) : std::nullopt;
    if (engine) {
        if (const std::string problem = rollback_problem(*engine, sweeps::setup_of(input, *input.rollback)); !problem.empty()) {
            throw text::InputError({"rollback: " + problem});
        }
    }
    return sweeps::estimate_point(std::move(input));
}

}  // namespace treeline::engines

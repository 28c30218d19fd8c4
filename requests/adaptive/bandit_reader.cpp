#include "requests/adaptive/bandit_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "json/wording.h"
#include "requests/adaptive/shapes_reader.h"
#include "requests/keys/adaptive_keys.h"
#include "requests/tree_reader.h"

namespace treeline::requests {
namespace {

using bandit_keys::most_simulated_rounds;

/// A shape of the file, with its tree if the file gives one.
struct Arm {
    std::optional<sim::TreeShape> shape;
    Seconds round;
};

struct TaskInput {
    std::string name;
    std::optional<sim::DraftAcceptance> acceptance;
    std::vector<std::vector<double>> exactly;  ///< by arm; empty if acceptance is given
};

std::vector<std::string> names_of(const sweeps::BanditProblem& problem) {
    std::vector<std::string> names;
    for (const sweeps::BanditArm& arm : problem.arms) {
        names.push_back(arm.name);
    }
    return names;
}

/// The index of a name; a problem and 0 if there is none.
std::size_t index_of(json::Reader& at, std::string_view key, const std::vector<std::string>& names) {
    if (names.empty()) {  // which is a problem of its own
        static_cast<void>(at.has(key));
        return 0;
    }
    const std::string name = at.choice(key, names);
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin());
}

Arm read_arm(json::Reader& at, Descriptions& descriptions, sweeps::BanditProblem& problem) {
    Arm arm;
    sweeps::BanditArm named;
    if (at.has(arm_keys::shape) == at.has(arm_keys::draft_passes)) {
        at.problem({}, at.has(arm_keys::shape) ? "gives shape and draft_passes, but exactly one is needed"
                                               : "needs \"shape\" (a tree) or \"draft_passes\" (its levels)");
    } else if (at.has(arm_keys::shape)) {
        arm.shape = read_shape_under(at, arm_keys::shape, descriptions);
        named.name = sweeps::text_of(*arm.shape);
        if (problems(*arm.shape).empty()) {
            named.draft_passes = sim::build_tree(*arm.shape, sim::RankAcceptance::assumed()).depth();
        }
    } else {
        named.draft_passes = read<double>(at, arm_keys::draft_passes);
        named.name = fmt::format("{:.0f} passes", named.draft_passes);
    }
    named.name = read_or(at, arm_keys::name, named.name);
    static_cast<void>(read(at, arm_keys::source));
    arm.round = Seconds(1e-3 * read(at, arm_keys::round_ms));
    const std::vector<std::string> names = names_of(problem);
    if (std::find(names.begin(), names.end(), named.name) != names.end()) {
        at.problem({}, fmt::format("\"{}\" is also the name of an earlier shape", named.name));
    }
    at.finish();
    problem.arms.push_back(std::move(named));
    return arm;
}

TaskInput read_task(json::Reader& at, Descriptions& descriptions, const sweeps::BanditProblem& problem, bool priced) {
    TaskInput task;
    task.name = read(at, task_keys::name);
    static_cast<void>(read(at, task_keys::source));
    const bool by_rank = at.has(task_keys::acceptance);
    const bool exactly = at.has(task_keys::accepted_exactly);
    if (by_rank && exactly) {
        at.problem({}, "gives acceptance and accepted_exactly, but exactly one is needed");
    }
    if (by_rank) {
        task.acceptance = read_acceptance(at.object(task_keys::acceptance), descriptions).acceptance;
    } else if (exactly && priced) {
        at.problem(task_keys::accepted_exactly, "cannot go with a design_point, which needs the acceptance of its drafter");
    } else if (exactly) {
        json::Reader table = at.object(task_keys::accepted_exactly);
        for (const sweeps::BanditArm& arm : problem.arms) {
            task.exactly.push_back(read_accepted_exactly(table, arm.name));
        }
        table.finish();
    } else if (!priced) {
        at.problem({}, "needs acceptance (of positions or ranks) or accepted_exactly (of each shape)");
    }
    at.finish();
    return task;
}

/// The acceptance of a task becomes distributions of its shapes.
sweeps::BanditTask task_with_table(const TaskInput& task, const std::vector<Arm>& arms, const sweeps::BanditProblem& problem,
                                   json::Reader& root) {
    sweeps::BanditTask made{task.name, {}};
    for (std::size_t k = 0; k < arms.size(); ++k) {
        if (!task.acceptance) {
            made.arms.push_back({arms[k].round, task.exactly[k]});
            continue;
        }
        if (!arms[k].shape) {
            root.problem(bandit_keys::arms, fmt::format("\"{}\" has no shape, which the acceptance of task \"{}\" needs",
                                                        problem.arms[k].name, task.name));
            continue;
        }
        const sim::DraftTree tree = sim::build_tree(*arms[k].shape, task.acceptance->siblings);
        const std::string why_not = sim::acceptance_problem(*task.acceptance, *arms[k].shape, tree);
        if (!why_not.empty()) {
            root.problem(bandit_keys::tasks, fmt::format("{}, {}: {}", task.name, problem.arms[k].name, why_not));
            continue;
        }
        made.arms.push_back({arms[k].round, sim::accepted_tokens(*task.acceptance, *arms[k].shape, tree).exactly});
    }
    return made;
}

/// λ_γ of the first shape that drafts; 0 if none does.
void set_draft_share(const std::vector<sweeps::PricedShape>& shapes, sweeps::BanditInput& input) {
    for (const sweeps::PricedShape& shape : shapes) {
        if (shape.levels > 0.0) {
            input.problem.draft_share = shape.draft.front() / shape.levels / shape.plain.front();
            input.draft_share_meaning = fmt::format("drafting time of {} per level / time of a plain step", shape.label);
            return;
        }
    }
    input.draft_share_meaning = "nothing drafts";
}

void price(const sweeps::ShapesPoint& point, int batch, const std::vector<TaskInput>& tasks, sweeps::BanditInput& input) {
    sweeps::BanditProblem& problem = input.problem;
    for (const TaskInput& task : tasks) {
        std::vector<sweeps::PricedShape> shapes =
            sweeps::price_shapes(point, task.acceptance ? *task.acceptance : point.drafter.acceptance, {batch});
        if (!point.plain_asked_for) {
            shapes.erase(shapes.begin());
        }
        if (problem.tasks.empty()) {
            set_draft_share(shapes, input);
        }
        sweeps::BanditTask made{task.name, {}};
        problem.arms.clear();
        for (const sweeps::PricedShape& shape : shapes) {
            problem.arms.push_back({shape.label, shape.levels});
            made.arms.push_back({shape.round.front(), shape.accepted_exactly});
        }
        problem.tasks.push_back(std::move(made));
    }
}

void read_sequence(json::Reader& root, const std::vector<TaskInput>& tasks, sweeps::BanditInput& input) {
    std::vector<std::string> names;
    for (const TaskInput& task : tasks) {
        if (std::find(names.begin(), names.end(), task.name) != names.end()) {
            root.problem(bandit_keys::tasks, "holds \"" + task.name + "\" twice");
        }
        names.push_back(task.name);
    }
    std::int64_t total = 0;
    for (json::Reader& at : root.objects(bandit_keys::sequence)) {
        const std::size_t task = index_of(at, sequence_keys::task, names);
        const std::int64_t rounds = read(at, sequence_keys::rounds);
        input.problem.sequence.push_back({task, rounds});
        total += rounds;
        at.finish();
    }
    input.repetitions = read(root, bandit_keys::repetitions);
    if (total > most_simulated_rounds / input.repetitions) {
        root.problem(bandit_keys::sequence,
                     fmt::format("has {} rounds; with {} repetitions that is more than the {} that can be simulated", total,
                                 input.repetitions, most_simulated_rounds));
    }
}

std::vector<TaskInput> read_tasks(json::Reader& root, Descriptions& descriptions, const sweeps::BanditProblem& problem,
                                  bool priced) {
    std::vector<TaskInput> tasks;
    for (json::Reader& at : root.objects(bandit_keys::tasks)) {
        tasks.push_back(read_task(at, descriptions, problem, priced));
    }
    return tasks;
}

void read_with_table(json::Document& document, json::Reader& root, Descriptions& descriptions, sweeps::BanditInput& input) {
    std::vector<Arm> arms;
    for (json::Reader& at : root.objects(bandit_keys::arms)) {
        arms.push_back(read_arm(at, descriptions, input.problem));
    }
    input.problem.draft_share = read(root, bandit_keys::draft_share);
    input.draft_share_meaning = "given";
    const std::vector<TaskInput> tasks = read_tasks(root, descriptions, input.problem, false);
    read_sequence(root, tasks, input);
    if (root.has(bandit_keys::default_shape)) {
        input.problem.default_arm = index_of(root, bandit_keys::default_shape, names_of(input.problem));
    }
    root.finish();
    document.throw_if_problems();
    for (const TaskInput& task : tasks) {
        input.problem.tasks.push_back(task_with_table(task, arms, input.problem, root));
    }
    document.throw_if_problems();
}

void read_with_prices(json::Document& document, json::Reader& root, Descriptions& descriptions, sweeps::BanditInput& input) {
    const sweeps::ShapesPoint point = read_shapes_point(root.object(bandit_keys::design_point), descriptions);
    const auto batch = read<int>(root, bandit_keys::batch);
    const double draft_share = read_or(root, bandit_keys::draft_share, -1.0);
    const std::vector<TaskInput> tasks = read_tasks(root, descriptions, input.problem, true);
    read_sequence(root, tasks, input);
    const bool has_default = root.has(bandit_keys::default_shape);
    if (has_default) {
        static_cast<void>(root.text(bandit_keys::default_shape));
    }
    root.finish();
    document.throw_if_problems();
    input.priced = fmt::format("{}, batch {}", text_of(point), batch);
    try {
        price(point, batch, tasks, input);
    } catch (const text::InputError& error) {
        document.add_problems(error.problems());
        document.throw_if_problems();
    }
    if (draft_share >= 0.0) {
        input.problem.draft_share = draft_share;
        input.draft_share_meaning = "given";
    }
    if (has_default) {
        input.problem.default_arm = index_of(root, bandit_keys::default_shape, names_of(input.problem));
    }
    document.throw_if_problems();
}

}  // namespace

sweeps::BanditInput read_bandit(json::Document& document, Descriptions& descriptions) {
    sweeps::BanditInput input;
    json::Reader root = document.root();
    input.title = read(root, bandit_keys::title);
    input.source = read(root, bandit_keys::source);
    input.rule.exploration = read(root, bandit_keys::exploration);
    input.rule.reward = read(root, bandit_keys::reward);
    input.rule.restart_with_task = read(root, bandit_keys::restart_with_task);
    if (root.has(bandit_keys::arms) && root.has(bandit_keys::design_point)) {
        root.problem({}, "gives arms and design_point, but exactly one is needed");
        document.throw_if_problems();
    }
    if (root.has(bandit_keys::design_point)) {
        read_with_prices(document, root, descriptions, input);
    } else {
        read_with_table(document, root, descriptions, input);
    }
    document.add_problems(problems_of(input.problem));
    document.throw_if_problems();
    return input;
}

}  // namespace treeline::requests

#include "requests/adaptive/bandit_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "json/wording.h"
#include "requests/adaptive/shapes_reader.h"
#include "requests/tree_reader.h"

namespace treeline {
namespace {

constexpr std::int64_t default_repetitions = 40;
constexpr double most_round_ms = 1e7;
/// A longer run would take minutes.
constexpr std::int64_t most_simulated_rounds = 200'000'000;

/// A shape of the file, with its tree if the file gives one.
struct Arm {
    std::optional<TreeShape> shape;
    Seconds round;
};

struct TaskInput {
    std::string name;
    std::optional<DraftAcceptance> acceptance;
    std::vector<std::vector<double>> exactly;  ///< by arm; empty if acceptance is given
};

std::vector<std::string> names_of(const BanditProblem& problem) {
    std::vector<std::string> names;
    for (const BanditArm& arm : problem.arms) {
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

Arm read_arm(json::Reader& at, Descriptions& descriptions, BanditProblem& problem) {
    Arm arm;
    BanditArm named;
    if (at.has("shape") == at.has("draft_passes")) {
        at.problem({}, at.has("shape") ? "gives shape and draft_passes, but exactly one is needed"
                                       : "needs \"shape\" (a tree) or \"draft_passes\" (its levels)");
    } else if (at.has("shape")) {
        arm.shape = read_shape_under(at, "shape", descriptions);
        named.name = text_of(*arm.shape);
        if (problems(*arm.shape).empty()) {
            named.draft_passes = build_tree(*arm.shape, RankAcceptance::assumed()).depth();
        }
    } else {
        named.draft_passes = static_cast<double>(at.count("draft_passes", 0, most_draft_tokens));
        named.name = fmt::format("{:.0f} passes", named.draft_passes);
    }
    named.name = at.text_or("name", named.name);
    static_cast<void>(at.text_or("source", ""));
    arm.round = Seconds(1e-3 * at.number("round_ms", 1e-9, most_round_ms));
    const std::vector<std::string> names = names_of(problem);
    if (std::find(names.begin(), names.end(), named.name) != names.end()) {
        at.problem({}, fmt::format("\"{}\" is also the name of an earlier shape", named.name));
    }
    at.finish();
    problem.arms.push_back(std::move(named));
    return arm;
}

TaskInput read_task(json::Reader& at, Descriptions& descriptions, const BanditProblem& problem, bool priced) {
    TaskInput task;
    task.name = at.text("name");
    static_cast<void>(at.text_or("source", ""));
    const bool by_rank = at.has("acceptance");
    const bool exactly = at.has("accepted_exactly");
    if (by_rank && exactly) {
        at.problem({}, "gives acceptance and accepted_exactly, but exactly one is needed");
    }
    if (by_rank) {
        task.acceptance = read_acceptance(at.object("acceptance"), descriptions).acceptance;
    } else if (exactly && priced) {
        at.problem("accepted_exactly", "cannot go with a design_point, which needs the acceptance of its drafter");
    } else if (exactly) {
        json::Reader table = at.object("accepted_exactly");
        for (const BanditArm& arm : problem.arms) {
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
BanditTask task_with_table(const TaskInput& task, const std::vector<Arm>& arms, const BanditProblem& problem,
                           json::Reader& root) {
    BanditTask made{task.name, {}};
    for (std::size_t k = 0; k < arms.size(); ++k) {
        if (!task.acceptance) {
            made.arms.push_back({arms[k].round, task.exactly[k]});
            continue;
        }
        if (!arms[k].shape) {
            root.problem("arms", fmt::format("\"{}\" has no shape, which the acceptance of task \"{}\" needs",
                                             problem.arms[k].name, task.name));
            continue;
        }
        const DraftTree tree = build_tree(*arms[k].shape, task.acceptance->siblings);
        const std::string why_not = acceptance_problem(*task.acceptance, *arms[k].shape, tree);
        if (!why_not.empty()) {
            root.problem("tasks", fmt::format("{}, {}: {}", task.name, problem.arms[k].name, why_not));
            continue;
        }
        made.arms.push_back({arms[k].round, accepted_tokens(*task.acceptance, *arms[k].shape, tree).exactly});
    }
    return made;
}

/// λ_γ of the first shape that drafts; 0 if none does.
void set_draft_share(const std::vector<PricedShape>& shapes, BanditInput& input) {
    for (const PricedShape& shape : shapes) {
        if (shape.levels > 0.0) {
            input.problem.draft_share = shape.draft.front() / shape.levels / shape.plain.front();
            input.draft_share_meaning = fmt::format("drafting time of {} per level / time of a plain step", shape.label);
            return;
        }
    }
    input.draft_share_meaning = "nothing drafts";
}

void price(const ShapesPoint& point, int batch, const std::vector<TaskInput>& tasks, BanditInput& input) {
    BanditProblem& problem = input.problem;
    for (const TaskInput& task : tasks) {
        std::vector<PricedShape> shapes =
            price_shapes(point, task.acceptance ? *task.acceptance : point.drafter.acceptance, {batch});
        if (!point.plain_asked_for) {
            shapes.erase(shapes.begin());
        }
        if (problem.tasks.empty()) {
            set_draft_share(shapes, input);
        }
        BanditTask made{task.name, {}};
        problem.arms.clear();
        for (const PricedShape& shape : shapes) {
            problem.arms.push_back({shape.label, shape.levels});
            made.arms.push_back({shape.round.front(), shape.accepted_exactly});
        }
        problem.tasks.push_back(std::move(made));
    }
}

void read_sequence(json::Reader& root, const std::vector<TaskInput>& tasks, BanditInput& input) {
    std::vector<std::string> names;
    for (const TaskInput& task : tasks) {
        if (std::find(names.begin(), names.end(), task.name) != names.end()) {
            root.problem("tasks", "holds \"" + task.name + "\" twice");
        }
        names.push_back(task.name);
    }
    std::int64_t total = 0;
    for (json::Reader& at : root.objects("sequence")) {
        const std::size_t task = index_of(at, "task", names);
        const std::int64_t rounds = at.count("rounds", 1, most_simulated_rounds);
        input.problem.sequence.push_back({task, rounds});
        total += rounds;
        at.finish();
    }
    input.repetitions = root.count_or("repetitions", default_repetitions, 2, 100'000);
    if (total > most_simulated_rounds / input.repetitions) {
        root.problem("sequence",
                     fmt::format("has {} rounds; with {} repetitions that is more than the {} that can be simulated", total,
                                 input.repetitions, most_simulated_rounds));
    }
}

std::vector<TaskInput> read_tasks(json::Reader& root, Descriptions& descriptions, const BanditProblem& problem, bool priced) {
    std::vector<TaskInput> tasks;
    for (json::Reader& at : root.objects("tasks")) {
        tasks.push_back(read_task(at, descriptions, problem, priced));
    }
    return tasks;
}

void read_with_table(json::Document& document, json::Reader& root, Descriptions& descriptions, BanditInput& input) {
    std::vector<Arm> arms;
    for (json::Reader& at : root.objects("arms")) {
        arms.push_back(read_arm(at, descriptions, input.problem));
    }
    input.problem.draft_share = root.number("draft_share", 0.0, 1e3);
    input.draft_share_meaning = "given";
    const std::vector<TaskInput> tasks = read_tasks(root, descriptions, input.problem, false);
    read_sequence(root, tasks, input);
    if (root.has("default")) {
        input.problem.default_arm = index_of(root, "default", names_of(input.problem));
    }
    root.finish();
    document.throw_if_problems();
    for (const TaskInput& task : tasks) {
        input.problem.tasks.push_back(task_with_table(task, arms, input.problem, root));
    }
    document.throw_if_problems();
}

void read_with_prices(json::Document& document, json::Reader& root, Descriptions& descriptions, BanditInput& input) {
    const ShapesPoint point = read_shapes_point(root.object("design_point"), descriptions);
    const auto batch = static_cast<int>(root.count_or("batch", 1, 1, largest_batch));
    const double draft_share = root.number_or("draft_share", -1.0, 0.0, 1e3);
    const std::vector<TaskInput> tasks = read_tasks(root, descriptions, input.problem, true);
    read_sequence(root, tasks, input);
    const bool has_default = root.has("default");
    if (has_default) {
        static_cast<void>(root.text("default"));
    }
    root.finish();
    document.throw_if_problems();
    input.priced = fmt::format("{}, batch {}", text_of(point), batch);
    try {
        price(point, batch, tasks, input);
    } catch (const InputError& error) {
        document.add_problems(error.problems());
        document.throw_if_problems();
    }
    if (draft_share >= 0.0) {
        input.problem.draft_share = draft_share;
        input.draft_share_meaning = "given";
    }
    if (has_default) {
        input.problem.default_arm = index_of(root, "default", names_of(input.problem));
    }
    document.throw_if_problems();
}

}  // namespace

BanditInput read_bandit(json::Document& document, Descriptions& descriptions) {
    BanditInput input;
    json::Reader root = document.root();
    input.title = root.text_or("title", "");
    input.source = root.text_or("source", "");
    input.rule.exploration = root.number("exploration", 0.0, 1e6);
    input.rule.reward = root.choice_or("reward", BanditReward::published);
    input.rule.restart_with_task = root.flag_or("restart_with_task", false);
    if (root.has("arms") && root.has("design_point")) {
        root.problem({}, "gives arms and design_point, but exactly one is needed");
        document.throw_if_problems();
    }
    if (root.has("design_point")) {
        read_with_prices(document, root, descriptions, input);
    } else {
        read_with_table(document, root, descriptions, input);
    }
    document.add_problems(problems_of(input.problem));
    document.throw_if_problems();
    return input;
}

}  // namespace treeline

#include "reports/recommend/report_studies.h"
#include "reports/objective_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "engines/priced_engine.h"
#include "reports/adaptive/bandit_output.h"
#include "reports/adaptive/traffic_output.h"
#include "reports/fit/break_even_output.h"
#include "reports/recommend/report_load.h"
#include "reports/report_parts.h"
#include "sweeps/adaptive/shape_prices.h"
#include "sweeps/tree_study.h"
#include "text/input_error.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

constexpr std::size_t most_shapes = 5;

/// The recommended configuration with some of the workload's shapes; plain decoding comes first.
sweeps::ShapesPoint point_of(const sweeps::Answer& answer, const std::vector<int>& shapes) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::Variant& variant = sweeps::recommended_variant(answer);
    sweeps::ShapesPoint point;
    point.target = answer.input.target;
    point.platform = variant.setup.platform;
    if (const sweeps::DrafterChoice* drafter = sweeps::drafter_of(answer, variant)) {
        point.drafter = *drafter;
    }
    point.rollback = variant.setup.rollback;
    point.decoding = variant.setup.decoding;
    point.context = sweeps::typical_point(answer.result.recommendation->settled).context;
    point.speculations = sim::chains_up_to(0);
    for (const int shape : shapes) {
        point.speculations.push_back(found.speculations[static_cast<std::size_t>(shape)]);
    }
    return point;
}

/// The candidates' best shapes of the recommended variant, each once.
std::vector<int> best_shapes(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    std::vector<int> shapes;
    std::set<std::string> labels;
    for (const sweeps::Candidate& candidate : found.candidates) {
        if (candidate.variant == found.candidates.front().variant && candidate.draft_tokens > 0 &&
            shapes.size() < most_shapes &&
            labels.insert(found.speculations[static_cast<std::size_t>(candidate.speculation)].label).second) {
            shapes.push_back(candidate.speculation);
        }
    }
    return shapes;
}

/// The shapes that the schedule switches between, each once.
std::vector<int> scheduled_shapes(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    std::vector<int> shapes;
    std::set<std::string> labels;
    for (const sweeps::ScheduleEntry& entry : found.schedule.entries) {
        if (entry.draft_tokens > 0 && shapes.size() < most_shapes &&
            labels.insert(found.speculations[static_cast<std::size_t>(entry.speculation)].label).second) {
            shapes.push_back(entry.speculation);
        }
    }
    return shapes;
}

FigureSection break_even_study(const sweeps::Answer& answer) {
    constexpr int most_nodes = 64, most_depth = 8;
    const sweeps::ShapesPoint point = point_of(answer, {});
    const sweeps::SimulatedRounds rounds{point.target,   point.platform,
                                         point.drafter,  point.rollback,
                                         point.decoding, sweeps::typical_point(answer.result.recommendation->settled).load,
                                         point.context};
    sweeps::BreakEvenInput input;
    input.tree.simulated = rounds;
    input.chain.simulated = rounds;
    for (int depth = 1; depth <= most_depth; ++depth) {
        for (int nodes = depth; nodes <= most_nodes; ++nodes) {
            for (const sim::Verification verification : {sim::Verification::packed, sim::Verification::unrolled}) {
                const sim::OptimalShape shape{nodes, depth, 0};
                input.shapes.push_back({shape, verification, sweeps::text_of(sim::TreeShape(shape))});
            }
        }
    }
    input.chains = sim::chains_up_to(most_depth);
    input.chains.erase(input.chains.begin());
    sweeps::BreakEvenAnswer study{std::move(input), {}};
    const sweeps::PricedRounds priced = sweeps::priced_rounds(study.input, "report");
    study.result = calibrate::break_even(priced.chain, priced.trees);
    FigureSection section = break_even_section(study);
    section.heading = "Where trees stop paying";
    return section;
}

/// Whether the engine of the priced stack changes draft lengths by what is accepted while it decodes.
bool engine_adapts(const sweeps::Answer& answer) {
    const auto engine = engines::priced_engine(sweeps::recommended_variant(answer).setup.platform);
    return engine && engine->schedule == engines::ScheduleForm::slots;
}

/// The study in a line, for engines that have no such rule.
FigureSection in_one_line(FigureSection study, const sweeps::BanditAnswer& answer) {
    study.text = on_a_page(sentence_of(answer)) + " The engine that was priced has no such rule.";
    study.figures.clear();
    return study;
}

/// Two assumed tasks: the acceptance as stated, and drafts that are accepted a third less often.
FigureSection bandit_study(const sweeps::Answer& answer, const std::vector<int>& shapes) {
    constexpr double harder = 2.0 / 3.0;
    constexpr std::int64_t rounds_a_task = 2000;
    const sweeps::ShapesPoint point = point_of(answer, shapes);
    const auto batch = static_cast<int>(sweeps::typical_point(answer.result.recommendation->settled).load);
    sweeps::BanditAnswer study;
    sweeps::BanditProblem& problem = study.input.problem;
    for (const double factor : {1.0, harder}) {
        sweeps::BanditTask task{factor == 1.0 ? "as stated" : "harder", {}};
        std::vector<sweeps::PricedShape> priced = sweeps::price_shapes(point, point.drafter.acceptance.scaled(factor), {batch});
        priced.erase(priced.begin());
        problem.arms.clear();
        for (const sweeps::PricedShape& shape : priced) {
            problem.arms.push_back({shape.label, shape.levels});
            task.arms.push_back({shape.round.front(), shape.accepted_exactly});
        }
        if (factor == 1.0) {
            const sweeps::PricedShape& first = priced.front();
            problem.draft_share = first.draft.front() / first.levels / first.plain.front();
        }
        problem.tasks.push_back(std::move(task));
    }
    problem.sequence = {{0, rounds_a_task}, {1, rounds_a_task}, {0, rounds_a_task}};
    study.input.rule = {0.05, sweeps::BanditReward::time_per_token, true};
    study.runs.repetitions = 16;
    study.outcome = sweeps::simulate_bandit(problem, study.input.rule, study.runs);
    FigureSection section = bandit_section(study);
    if (!engine_adapts(answer)) {
        return in_one_line(std::move(section), study);
    }
    section.text += fmt::format(
        " Assumed: batch {}, {} rounds as stated, as many with a third fewer drafts accepted, and as many as stated again; the "
        "bandit counts time per token and starts afresh with each.",
        batch, rounds_a_task);
    return section;
}

/// Every shape at batches 1 … capacity; the capacity is halved until all of them fit.
std::vector<sweeps::PricedShape> priced_up_to(int& capacity, const sweeps::ShapesPoint& point) {
    while (true) {
        std::vector<int> batches(static_cast<std::size_t>(capacity));
        std::iota(batches.begin(), batches.end(), 1);
        try {
            return sweeps::price_shapes(point, point.drafter.acceptance, batches);
        } catch (const text::InputError&) {
            if (capacity == 1) {
                throw;
            }
            capacity /= 2;
        }
    }
}

/// Answers as long as the workload has them, at up to 95 % of what the schedule can serve.
FigureSection traffic_study(const sweeps::Answer& answer) {
    const sweeps::Recommendation& found = *answer.result.recommendation;
    const sweeps::ShapesPoint point = point_of(answer, scheduled_shapes(answer));
    const sim::RoundSetup& setup = sweeps::recommended_variant(answer).setup;
    constexpr int most_capacity = 128;
    constexpr double assumed_answer = 256.0;  // tokens, of a workload that does not say
    const bool stated = setup.output_tokens > 0.0;
    sweeps::TrafficInput input;
    input.priced = text_of(point);
    input.capacity = std::min(found.schedule.largest_batch, most_capacity);
    const std::vector<sweeps::PricedShape> shapes = priced_up_to(input.capacity, point);
    for (const sweeps::PricedShape& shape : shapes) {
        input.settings.push_back({shape.levels > 0.0 ? shape.label : "plain",
                                  shape.levels > 0.0 ? shape.accepted_exactly : std::vector<double>{1.0}, shape.round});
    }
    input.requests.output_tokens = stated ? setup.output_tokens : assumed_answer;
    input.requests.length = sweeps::OutputLength::geometric;
    input.requests.prefill = found.candidates.front().time_to_first_token;
    input.requests.prefill_apart = setup.platform.stack.serving.prefill == sim::PrefillPolicy::disaggregated;
    input.size.requests = 800;
    input.size.warm_up = 200;
    input.size.repetitions = 6;
    const sweeps::BatchServer server{input.settings, sweeps::best_by_batch(input.settings, input.capacity)};
    const double most = sweeps::most_requests_per_second(server, input.requests);
    for (const double load : {0.1, 0.3, 0.5, 0.7, 0.85, 0.95}) {
        input.loads.push_back(load * most);
    }
    const std::string lengths =
        fmt::format("answers of {} tokens on average (geometric{})",
                    text::number_text(std::round(input.requests.output_tokens)), stated ? ", the mean as stated" : "");
    const int capacity = input.capacity;
    FigureSection section = traffic_section(sweeps::study_traffic(std::move(input)));
    section.text += fmt::format(" Assumed: Poisson arrivals, {}, at most {} at a time.", lengths, capacity);
    return section;
}

/// A study that this configuration does not allow (a shape does not fit at the largest batch, for example) is left out.
template <class Study>
void add(std::vector<FigureSection>& sections, Study study) {
    try {
        sections.push_back(study());
    } catch (const text::InputError&) {}
}

}  // namespace

std::vector<FigureSection> study_sections(const sweeps::Answer& answer) {
    std::vector<FigureSection> sections;
    if (!answer.result.recommendation) {
        return sections;
    }
    if (std::optional<FigureSection> load = load_section(answer)) {
        sections.push_back(std::move(*load));
    }
    if (!answer.result.recommendation->speculate) {
        return sections;
    }
    if (sweeps::recommended_variant(answer).setup.acceptance.siblings.ranks() > 1) {
        add(sections, [&] { return break_even_study(answer); });
    }
    if (const std::vector<int> shapes = best_shapes(answer); shapes.size() > 1) {
        add(sections, [&] { return bandit_study(answer, shapes); });
    }
    add(sections, [&] { return traffic_study(answer); });
    return sections;
}

}  // namespace treeline::reports

#include "requests/adaptive/policies_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/adaptive/measured_rates.h"
#include "requests/adaptive/shapes_reader.h"
#include "requests/keys/adaptive_keys.h"
#include "requests/setup_reader.h"

namespace treeline::requests {
namespace {

/// The design point of the file, with every chain up to the longest.
sweeps::ShapesPoint read_chains(json::Document& document, json::Reader& root, Descriptions& descriptions, int longest) {
    json::Reader at = root.object(policies_keys::design_point);
    for (const std::string_view key : {std::string_view("draft_tokens"), std::string_view("shapes")}) {
        if (at.has(key)) {
            at.problem(key, "is not for a policy: `longest` says how far it may draft");
        }
    }
    document.throw_if_problems();
    nlohmann::ordered_json chains = at.raw();
    chains["draft_tokens"] = {{"from", 0}, {"to", longest}};
    json::Document changed = json::Document::of(chains, "design_point");
    sweeps::ShapesPoint point = read_shapes_point(changed.root(), descriptions);
    changed.throw_if_problems();
    return point;
}

void set_times(const sweeps::ShapesPoint& point, const std::vector<int>& batches, sweeps::PolicyProblem& problem) {
    const std::vector<sweeps::PricedShape> shapes = sweeps::price_shapes(point, point.drafter.acceptance, batches);
    for (std::size_t b = 0; b < batches.size(); ++b) {
        sweeps::PolicyTimes times;
        times.batch = batches[b];
        for (const sweeps::PricedShape& shape : shapes) {
            times.draft.push_back(shape.draft[b]);
            times.rest.push_back(shape.round[b] - shape.draft[b]);
        }
        problem.batches.push_back(std::move(times));
    }
}

std::vector<sweeps::Policy> policies_of(const std::vector<double>& cut_offs, const std::vector<int>& candidates) {
    std::vector<sweeps::Policy> policies;
    for (const double threshold : cut_offs) {
        policies.push_back({sweeps::PolicyKind::cut_off, 0, threshold});
    }
    for (const sweeps::PolicyKind kind :
         {sweeps::PolicyKind::ada_edl, sweeps::PolicyKind::ema_steps, sweeps::PolicyKind::throughput,
          sweeps::PolicyKind::budget, sweeps::PolicyKind::bandit}) {
        policies.push_back({kind, 0, 0.0, candidates});
    }
    return policies;
}

/// Priced: every chain up to `longest`.
void read_priced(json::Document& document, json::Reader& root, Descriptions& descriptions, const std::vector<int>& batches,
                 int longest, sweeps::PoliciesInput& input) {
    sweeps::PolicyProblem& problem = input.problem;
    const sweeps::ShapesPoint point = read_chains(document, root, descriptions, longest);
    root.finish();
    document.throw_if_problems();
    for (int i = 1; i <= longest; ++i) {
        problem.per_position.push_back(point.drafter.acceptance.chain.position(i));
    }
    problem.parallel = plan(point.drafter.drafter, point.target.model, point.target.precision).parallel;
    set_times(point, batches, problem);
    input.priced = text_of(point);
    input.acceptance = point.drafter.acceptance_text;
}

}  // namespace

sweeps::PoliciesInput read_policies(json::Document& document, Descriptions& descriptions) {
    json::Reader root = document.root();
    sweeps::PoliciesInput input;
    input.title = read(root, policies_keys::title);
    input.source = read(root, policies_keys::source);
    const std::vector<int> batches = read(root, policies_keys::batch);
    const bool measured = root.has(policies_keys::measured);
    if (measured == root.has(policies_keys::design_point)) {
        root.problem({}, measured ? "gives design_point and measured, but exactly one is needed"
                                  : "needs \"design_point\", a set-up to price, or \"measured\" rates of fixed lengths");
    }
    document.throw_if_problems();
    std::optional<MeasuredRates> rates;
    if (measured) {
        rates = read_measured_rates(document, root.object(policies_keys::measured), descriptions, batches, input);
        if (root.has(policies_keys::longest)) {
            root.problem(policies_keys::longest, "is that of the longest measured length");
        }
    }
    const int longest = rates ? rates->longest : read<int>(root, policies_keys::longest);
    sweeps::PolicyProblem& problem = input.problem;
    problem.draft_spread = read(root, policies_keys::draft_spread);
    problem.request_spread = read(root, policies_keys::request_spread);
    problem.confidence_error = read(root, policies_keys::confidence_error);
    problem.output_tokens = read<double>(root, policies_keys::output_tokens);
    const std::vector<double> cut_offs =
        root.has(policies_keys::cut_offs) ? read(root, policies_keys::cut_offs) : std::vector<double>{0.3, 0.5, 0.7};
    const std::vector<int> candidates =
        root.has(policies_keys::candidates) ? read(root, policies_keys::candidates) : std::vector<int>{};
    for (const int candidate : candidates) {
        if (candidate > longest) {
            root.problem(policies_keys::candidates, fmt::format("holds {}, but `longest` is {}", candidate, longest));
        }
    }
    input.runs.rounds = read(root, policies_keys::rounds);
    input.runs.repetitions = read(root, policies_keys::repetitions);
    input.policies = policies_of(cut_offs, candidates);
    if (rates) {
        compare_with_measured(*rates, root, input);
        root.finish();
    } else {
        read_priced(document, root, descriptions, batches, longest, input);
    }
    document.throw_if_problems();
    document.add_problems(problems_of(problem));
    document.throw_if_problems();
    return input;
}

}  // namespace treeline::requests

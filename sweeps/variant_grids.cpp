#include "sweeps/variant_grids.h"

#include <algorithm>
#include <span>

namespace treeline::sweeps {

bool applies_to(const ConditionText& condition, const VariantLabels& labels) {
    return std::all_of(condition.when.begin(), condition.when.end(), [&](const auto& match) {
        const std::string* label = labels.find(match.first);
        return label != nullptr && *label == match.second;
    });
}

sim::RoundSetup setup_of(const DesignSpace& space, std::size_t variant) {
    sim::RoundSetup setup = space.variants[variant].setup;
    setup.speculations = space.speculations;
    return setup;
}

VariantGrid::VariantGrid(const DesignSpace& space, std::size_t of_variant, BatchPart of_part, std::size_t most_points)
    : variant(of_variant), part(of_part), round(sim::compile_round(setup_of(space, of_variant))) {
    std::vector<int> choices;
    for (std::size_t i = 0; i < space.speculation.size(); ++i) {
        if (round.runs(space.speculation[i])) {
            shapes.push_back(i);
            choices.push_back(space.speculation[i]);
        }
    }
    const std::span<const double> batches = std::span(space.batch).subspan(part.first, part.count);
    grid = std::make_unique<sim::RoundGrid>(round, choices, batches, most_points);
    std::vector<Condition> conditions;
    for (const ConditionText& condition : space.conditions) {
        if (applies_to(condition, space.variants[variant].labels)) {
            Condition compiled(condition.require);
            if (compiled.names("context")) {
                of_context.push_back(condition.require);
            } else {
                conditions.push_back(std::move(compiled));
            }
        }
    }
    if (conditions.empty() && of_context.empty()) {
        return;
    }
    for (const int choice : choices) {
        const sim::RoundRow& row = round.row(choice);
        for (const double batch : batches) {
            keeps.push_back(std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
                return condition.holds(row.draft_tokens, row.depth, batch, 0.0, round.tensor);
            }));
        }
    }
}

std::vector<Exclusion> visit_variants(const DesignSpace& space,
                                      const std::function<void(std::size_t, const sim::CompiledRound&)>& visit) {
    std::vector<Exclusion> excluded;
    for (std::size_t i = 0; i < space.variants.size(); ++i) {
        if (!space.variants[i].problem.empty()) {
            excluded.push_back({space.variants[i].labels.text(), space.variants[i].problem, i});
            continue;
        }
        const sim::RoundSetup setup = setup_of(space, i);
        if (const std::vector<std::string> problems = problems_of(setup); !problems.empty()) {
            excluded.push_back({space.variants[i].labels.text(), problems.front(), i});
            continue;
        }
        const sim::CompiledRound round = sim::compile_round(setup);
        if (std::none_of(space.speculation.begin(), space.speculation.end(), [&](int choice) { return round.runs(choice); })) {
            excluded.push_back({space.variants[i].labels.text(), round.row(space.speculation.front()).problem, i});
            continue;
        }
        visit(i, round);
    }
    return excluded;
}

std::shared_ptr<const VariantGrid> VariantGrids::of(std::size_t variant, std::size_t part) {
    const std::pair asked(variant, part);
    std::shared_ptr<Entry> entry;
    {
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<Entry>& known = entries_[asked];
        if (!known) {
            known = std::make_shared<Entry>();
        }
        entry = known;
        while (entries_.size() > kept_ && entries_.begin()->first != asked) {
            entries_.erase(entries_.begin());  // tasks come by rising variant, and of each context by rising batch
        }
    }
    const std::size_t first = part * batches_;
    const BatchPart batches = {first, std::min(batches_, space_->batch.size() - first)};
    std::call_once(entry->once, [&] { entry->grid = std::make_shared<VariantGrid>(*space_, variant, batches, most_points_); });
    return entry->grid;
}

}  // namespace treeline::sweeps

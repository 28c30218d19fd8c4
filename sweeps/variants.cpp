#include "sweeps/variants.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/accelerator.h"
#include "sweeps/deadline.h"
#include "sweeps/recommend_inside.h"

namespace treeline::sweeps {
namespace {

VariantLabels labels_of(const TargetChoice& target, const sim::Platform& platform, const DrafterChoice& drafter,
                        sim::Rollback rollback) {
    VariantLabels labels;
    labels.target = target.model.name;
    labels.precision = platform.accelerator ? sim::formats_of(platform.accelerator->design) : target.precision_label;
    labels.device = platform.device.name + sim::power_limit_text(platform.device);
    labels.stack = sweeps::label_of(platform.stack);
    labels.mode = name_of(platform.mode);
    labels.drafter = drafter.label;
    labels.rollback = name_of(rollback);
    labels.tensor_parallel = static_cast<int>(platform.ranks);
    labels.parallel = platform.parallel;
    return labels;
}

sim::RoundSetup setup_of(const TargetChoice& target, const sim::Platform& platform, const DrafterChoice& drafter,
                         sim::Rollback rollback) {
    sim::RoundSetup setup;
    setup.target = target.model;
    setup.precision = target.precision;
    setup.platform = platform;
    setup.drafter = drafter.drafter;
    setup.acceptance = drafter.acceptance;
    setup.rollback = rollback;
    return setup;
}

/// An accelerator computes in its own formats, whatever precision the target has, so it is priced for one of them.
bool is_first_precision(const TargetChoice& target, const std::vector<TargetChoice>& all) {
    return &target == &*std::find_if(all.begin(), all.end(),
                                     [&](const TargetChoice& other) { return other.model.name == target.model.name; });
}

}  // namespace

std::vector<Variant> all_variants(const VariantLists& lists) {
    std::vector<Variant> variants;
    for (std::size_t t = 0; t < lists.targets.size(); ++t) {
        for (std::size_t p = 0; p < lists.platforms.size(); ++p) {
            const TargetChoice& target = lists.targets[t];
            const sim::Platform& platform = lists.platforms[p];
            if (platform.accelerator && !is_first_precision(target, lists.targets)) {
                continue;
            }
            const std::vector<sim::Rollback> of_drafts =
                lists.rollbacks.empty() ? sim::rollbacks_for(target.model, platform.stack, !platform.stack.engine.empty())
                                        : lists.rollbacks;
            for (std::size_t d = 0; d < lists.drafters.size(); ++d) {
                const bool plain = std::holds_alternative<sim::NoDrafter>(lists.drafters[d].drafter);
                // Plain decoding keeps nothing to go back to: any policy that the target knows.
                const std::vector<sim::Rollback> of_plain = {sim::rollbacks_for(target.model, platform.stack).front()};
                for (const sim::Rollback rollback : plain ? of_plain : of_drafts) {
                    check_deadline();
                    variants.push_back({labels_of(target, platform, lists.drafters[d], rollback),
                                        setup_of(target, platform, lists.drafters[d], rollback),
                                        {t, p, d}});
                    variants.back().setup.decoding = lists.decoding;
                    if (plain) {
                        variants.back().labels.rollback.clear();
                        variants.back().origin.drafter.reset();
                    }
                    variants.back().checkpoint = lists.drafters[d].checkpoint;
                    variants.back().untrained = lists.drafters[d].untrained && !lists.drafters[d].named;
                }
            }
        }
    }
    return variants;
}

std::vector<Variant> plain_variants(const VariantLists& lists) {
    VariantLists plain = lists;
    plain.drafters = {{"plain decoding", sim::NoDrafter{}, {}, "", ""}};
    return all_variants(plain);
}

std::vector<std::string> plain_problems(const std::vector<Variant>& variants) {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::vector<std::string> problems;
    for (const Variant& variant : variants) {
        if (seen.emplace(variant.origin.target, variant.origin.platform).second) {
            check_deadline();
            sim::RoundSetup setup = plain_variant(variant).setup;
            setup.rollback = sim::rollbacks_for(setup.target, setup.platform.stack).front();
            for (std::string& problem : problems_of(setup)) {
                if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
                    problems.push_back(std::move(problem));
                }
            }
        }
    }
    return problems;
}

std::string text_of(const Variant& variant, const std::vector<Variant>& among) {
    const auto differs = [&](std::string VariantLabels::*label) {
        return std::any_of(among.begin(), among.end(),
                           [&](const Variant& other) { return other.labels.*label != variant.labels.*label; });
    };
    std::string text = variant.labels.text();
    for (const auto label : {&VariantLabels::target, &VariantLabels::precision, &VariantLabels::stack, &VariantLabels::mode}) {
        if (differs(label)) {
            text += ", " + variant.labels.*label;
        }
    }
    return text;
}

}  // namespace treeline::sweeps

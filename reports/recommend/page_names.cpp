#include "reports/recommend/page_names.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/drafters/drafter.h"

namespace treeline::reports {
namespace {

/// "ngram with chain 1": the drafter is its first word.
void name_first_word(std::string& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    text = drafter_name(text.substr(0, end)) + text.substr(end);
}

/// Titles by name of device, without those that several devices have.
std::map<std::string, std::string> titles_of(const std::vector<sweeps::Variant>& variants) {
    std::map<std::string, std::string> titles, first_with;
    for (const sweeps::Variant& variant : variants) {
        const sim::Device& device = variant.setup.platform.device;
        titles[device.name] = device.title;
    }
    for (auto& [name, title] : titles) {
        const auto [first, is_new] = first_with.try_emplace(title, name);
        if (title.empty() || !is_new) {
            titles[first->second] = first->second;
            title = name;
        }
    }
    return titles;
}

void name_variants(std::vector<sweeps::Variant>& variants) {
    const std::map<std::string, std::string> titles = titles_of(variants);
    for (sweeps::Variant& variant : variants) {
        const sim::Device& device = variant.setup.platform.device;
        variant.labels.device = titles.at(device.name) + sim::power_limit_text(device);
        variant.labels.drafter = drafter_name(variant.labels.drafter);
    }
}

/// Exclusions are labelled by their variants; those of platforms that made none keep their words.
void name_excluded(std::vector<sweeps::Exclusion>& excluded, const std::vector<sweeps::Variant>& before,
                   const std::vector<sweeps::Variant>& after) {
    for (sweeps::Exclusion& exclusion : excluded) {
        if (exclusion.variant < before.size() && exclusion.label == before[exclusion.variant].labels.text()) {
            exclusion.label = after[exclusion.variant].labels.text();
        }
    }
}

}  // namespace

std::string drafter_name(std::string word) {
    for (const auto& [kind, title, meaning] : sim::drafter_words) {
        if (!title.empty() && word.starts_with(kind) && (word.size() == kind.size() || word[kind.size()] == '-')) {
            word.replace(0, kind.size(), title);
            if (word.size() > title.size()) {
                word[title.size()] = ' ';
            }
            break;
        }
    }
    return word;
}

sweeps::Answer with_names(sweeps::Answer answer) {
    const std::vector<sweeps::Variant> before =
        answer.result.recommendation ? answer.result.recommendation->variants : answer.input.workload.variants;
    std::vector<sweeps::Variant> after = before;
    name_variants(after);
    name_excluded(answer.result.excluded, before, after);
    if (answer.result.recommendation) {
        name_excluded(answer.result.recommendation->excluded, before, after);
        answer.result.recommendation->variants = std::move(after);
    }
    name_variants(answer.input.workload.variants);
    for (sweeps::DrafterChoice& drafter : answer.input.drafters) {
        drafter.label = drafter_name(drafter.label);
    }
    if (answer.rejected) {
        name_first_word(answer.rejected->label);
    }
    if (answer.trust && answer.trust->choice) {
        name_first_word(answer.trust->choice->rival);
    }
    return answer;
}

}  // namespace treeline::reports

#include "requests/usual_fall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "json/reader.h"
#include "models/catalogue.h"
#include "sim/measured_acceptance.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

constexpr int short_curve = 3, long_curve = 5, longest_curve = 8;
using Lengths = std::map<int, double>;

/// Accept lengths by draft tokens under each set of conditions, of curves that tell how rates fall.
std::vector<Lengths> curves_of(const PublishedDrafter& drafter) {
    using Conditions = std::tuple<std::string, std::string, std::string, std::string, double, double>;
    std::map<Conditions, std::vector<sim::MeasuredAcceptance>> rows;
    for (const sim::MeasuredAcceptance& row : drafter.measured) {
        if (row.shape.empty() && !row.source.starts_with("derived")) {
            rows[{row.source, row.category, row.dataset, row.thinking, row.temperature.value_or(-1.0),
                  row.context.value_or(-1.0)}]
                .push_back(row);
        }
    }
    std::vector<Lengths> curves;
    for (const auto& [conditions, alike] : rows) {
        Lengths lengths = sim::mean_lengths(alike);
        lengths.erase(lengths.upper_bound(longest_curve), lengths.end());
        if (!lengths.empty() && lengths.begin()->first <= short_curve && lengths.rbegin()->first >= long_curve) {
            curves.push_back(std::move(lengths));
        }
    }
    return curves;
}

double error_with(double fall, const std::vector<Lengths>& curves) {
    double sum = 0.0;
    for (const Lengths& lengths : curves) {
        const auto middle = lengths.lower_bound(4);
        for (const auto& given : {*lengths.begin(), *middle}) {
            const sim::Acceptance curve = sim::Acceptance::mean_length(given.second, given.first, fall);
            for (const auto& [draft_tokens, length] : lengths) {
                sum += std::abs(std::log(curve.accept_length(draft_tokens) / length)) / static_cast<double>(lengths.size());
            }
        }
    }
    return sum;
}

/// Who publishes a model of the catalogue: the owner of its repository; empty where that is not known.
std::string publisher_of(const std::string& repository) { return repository.substr(0, repository.find('/')); }

std::string publisher_of_model(const std::string& name, Descriptions& descriptions) {
    const std::filesystem::path file = descriptions.catalogue().models / (name + ".json");
    if (!text::is_file(file)) {
        return "";
    }
    json::Document document = json::Document::load(file);
    return publisher_of(document.root().text_or("repository", ""));
}

double fall_of_modules(const sim::Model& target, Descriptions& descriptions) {
    const std::string publisher = publisher_of(target.repository);
    std::map<std::string, double> falls;
    for (const std::string& name :
         publisher.empty() ? std::vector<std::string>{} : published_drafters(descriptions.drafters_folder())) {
        if (!name.starts_with("mtp-")) {
            continue;
        }
        try {
            const PublishedDrafter drafter = load_published_drafter(descriptions.drafters_folder(), name);
            const bool beside = drafter.target != target.name && publisher_of_model(drafter.target, descriptions) == publisher;
            if (const std::optional<double> fall = beside ? measured_fall_of(drafter) : std::nullopt) {
                falls[drafter.target] = *fall;
            }
        } catch (const text::InputError&) {  // whoever asks for that one is told
        }
    }
    double sum = 0.0;
    for (const auto& [of, fall] : falls) {
        sum += fall - sim::measured_fall;
    }
    constexpr double hundredths = 100.0;
    return std::round(hundredths * (sim::measured_fall + sum / (static_cast<double>(falls.size()) + 1.0))) / hundredths;
}

}  // namespace

std::optional<double> measured_fall_of(const PublishedDrafter& drafter) {
    const std::vector<Lengths> curves = curves_of(drafter);
    if (curves.empty()) {
        return std::nullopt;
    }
    constexpr int most = 40;
    constexpr double step = 0.02;
    double best = 0.0, least = error_with(0.0, curves);
    for (int i = 1; i <= most; ++i) {
        if (const double error = error_with(step * i, curves); error < least) {
            best = step * i;
            least = error;
        }
    }
    return best;
}

double usual_fall_of(const sim::Drafter& drafter, const sim::Model* target, Descriptions& descriptions) {
    if (std::holds_alternative<sim::NgramDrafter>(drafter)) {
        return sim::fall_of_lookups;
    }
    const auto* layer = std::get_if<sim::OneLayerDrafter>(&drafter);
    const bool is_module = layer != nullptr && layer->kind == sim::OneLayerKind::mtp && target != nullptr;
    return is_module ? fall_of_modules(*target, descriptions) : sim::measured_fall;
}

}  // namespace treeline::requests

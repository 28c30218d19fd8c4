#include "treeline/tree.h"

#include <optional>

#include "json/reader.h"
#include "requests/tree_reader.h"

namespace treeline {
namespace {

sim::RankAcceptance checked(const std::vector<double>& by_rank) {
    sim::RankAcceptance acceptance(by_rank);
    if (std::vector<std::string> problems = acceptance.problems(); !problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return acceptance;
}

}  // namespace

sim::DraftTree find_tree(const std::string& shape, const std::vector<double>& by_rank, const requests::Catalogue& catalogue) {
    const auto acceptance = by_rank.empty() ? std::nullopt : std::optional(checked(by_rank));
    return requests::read_tree(shape, catalogue.trees(), acceptance).tree;
}

double accept_length(const sim::DraftTree& tree, const std::vector<double>& by_rank) {
    return accept_length(tree, checked(by_rank));
}

}  // namespace treeline

#include "sweeps/tree_search_study.h"

#include <stdexcept>
#include <utility>

#include "text/input_error.h"

namespace treeline::sweeps {

TreeSearchAnswer search_trees_for(TreeSearchInput input) {
    if (!input.point.drafter) {
        throw text::InputError({"tree search: the design point needs a drafter"});
    }
    input.search.rollbacks = policies_to_try(input.point);
    try {
        std::vector<BestAtBatch> best = search_trees(setup_of(input.point, sim::Rollback::truncate), input.search);
        return {std::move(input), std::move(best)};
    } catch (const std::invalid_argument& error) {
        throw text::InputError({std::string("tree search: ") + error.what()});
    }
}

}  // namespace treeline::sweeps

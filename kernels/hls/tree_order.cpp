#include "kernels/hls/tree_order.h"

#include <stdexcept>
#include <string>

namespace treeline::kernels::accelerator {
namespace {

void require_breadth_first(const std::vector<int>& parents) {
    for (std::size_t i = 0; i < parents.size(); ++i) {
        if (parents[i] < -1 || parents[i] >= static_cast<int>(i)) {
            throw std::invalid_argument("token " + std::to_string(i) + " has parent " + std::to_string(parents[i]) +
                                        "; a parent must be an earlier token, or -1");
        }
        if (i > 0 && parents[i] < parents[i - 1]) {
            throw std::invalid_argument("token " + std::to_string(i) + " has parent " + std::to_string(parents[i]) +
                                        " after a child of " + std::to_string(parents[i - 1]) +
                                        "; the FIFO needs the tokens in breadth-first order");
        }
    }
}

}  // namespace

std::vector<NodeLink> node_links(const std::vector<int>& parents, int replayed) {
    require_breadth_first(parents);
    std::vector<int> all;
    for (int i = 0; i < replayed; ++i) {
        all.push_back(i - 1);
    }
    for (const int parent : parents) {
        all.push_back(parent + replayed);
    }
    std::vector<NodeLink> links(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        links[i].from_memory = all[i] < 0;
        links[i].takes_next = all[i] >= 0 && (i == 0 || all[i] != all[i - 1]);
        if (all[i] >= 0) {
            links[static_cast<std::size_t>(all[i])].kept = true;
        }
    }
    return links;
}

}  // namespace treeline::kernels::accelerator

#include "sim/trees/engine_tree.h"

#include <algorithm>
#include <optional>

#include "sim/trees/frontier_tree.h"

namespace treeline::sim {
namespace {

constexpr int most_top_k_tried = 64;
constexpr int most_depth = 256;

class Search {
public:
    Search(std::string engine, const DraftTree& wanted, const RankAcceptance& acceptance)
        : engine_(std::move(engine)), wanted_(wanted), acceptance_(acceptance) {}

    void offer(const TreeShape& shape) {
        if (!problems(shape).empty()) {
            return;
        }
        DraftTree tree = build_tree(shape, acceptance_);
        const double length = accept_length(tree, acceptance_);
        const bool same = tree == wanted_;
        const bool can_draft = same || (best_ && best_->can_draft);
        if (!best_ || length > best_->accept_length || (same && !best_->same && length == best_->accept_length)) {
            best_ = EngineTree{engine_, shape, std::move(tree), length, same};
        }
        best_->can_draft = can_draft;
    }

    void add_to(std::vector<EngineTree>& found) const {
        if (best_) {
            found.push_back(*best_);
        }
    }

private:
    std::string engine_;
    const DraftTree& wanted_;
    const RankAcceptance& acceptance_;
    std::optional<EngineTree> best_;
};

}  // namespace

std::vector<EngineTree> best_engine_trees(const DraftTree& tree, const RankAcceptance& acceptance) {
    std::vector<EngineTree> found;
    const int depth = tree.depth();
    if (depth == 0 || depth > most_depth) {
        return found;
    }
    Search chains("vLLM, llama.cpp", tree, acceptance), sglang("SGLang", tree, acceptance),
        tensorrt("TensorRT-LLM", tree, acceptance);
    chains.offer(VllmShape{depth});
    for (int top_k = 1; top_k <= std::min(tree.nodes(), most_top_k_tried); ++top_k) {
        const long long pool = top_k == 1 ? depth : frontier_candidates(depth, top_k);
        sglang.offer(SglangShape{depth, top_k, static_cast<int>(std::min<long long>(tree.nodes(), pool)) + 1});
        tensorrt.offer(TensorRtShape{depth, top_k, std::min(tree.nodes(), top_k * depth)});
    }
    chains.add_to(found);
    sglang.add_to(found);
    tensorrt.add_to(found);
    return found;
}

}  // namespace treeline::sim

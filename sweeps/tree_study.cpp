#include "sweeps/tree_study.h"

#include <variant>

#include <fmt/format.h>

#include "text/wording.h"

namespace treeline::sweeps {
namespace {

std::string list_text(const std::vector<int>& numbers, std::string_view separator = ",") {
    return fmt::format("{}", fmt::join(numbers, separator));
}

}  // namespace

std::string text_of(const sim::TreeShape& shape) {
    struct Text {
        std::string operator()(const sim::ChainShape& s) const { return fmt::format("chain {}", s.draft_tokens); }
        std::string operator()(const sim::WidthsShape& s) const { return "widths " + list_text(s.widths); }
        std::string operator()(const sim::BranchingShape& s) const { return "branching " + list_text(s.children); }
        std::string operator()(const sim::ChildTableShape& s) const {
            std::string text = "children ";
            for (std::size_t level = 0; level < s.children.size(); ++level) {
                text += (level > 0 ? "/" : "") + list_text(s.children[level]);
            }
            return text;
        }
        std::string operator()(const sim::ParentsShape& s) const { return "parents " + list_text(s.parents); }
        std::string operator()(const sim::BinaryShape& s) const { return fmt::format("binary {}", s.levels); }
        std::string operator()(const sim::SequencesShape& s) const {
            return fmt::format("sequences {}x{}", s.drafts, s.draft_tokens);
        }
        std::string operator()(const sim::BeamShape& s) const { return fmt::format("beams {}x{}", s.beams, s.steps); }
        std::string operator()(const sim::SglangShape& s) const {
            return fmt::format("sglang {},{},{}", s.steps, s.top_k, s.draft_tokens);
        }
        std::string operator()(const sim::VllmShape& s) const { return fmt::format("vllm {}", s.num_speculative_tokens); }
        std::string operator()(const sim::TensorRtShape& s) const {
            return fmt::format("tensorrt_llm {},{},{}", s.max_draft_len, s.max_top_k, s.max_total_draft_tokens);
        }
        std::string operator()(const sim::OptimalShape& s) const {
            return fmt::format("optimal {},{}{}", s.nodes, s.depth, s.children > 0 ? fmt::format(",{}", s.children) : "");
        }
    };
    constexpr std::size_t longest = 40;
    return text::shortened(std::visit(Text{}, shape), longest);
}

}  // namespace treeline::sweeps

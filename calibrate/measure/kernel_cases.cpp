#include <iterator>

#include "calibrate/measure/kernel_case.h"

namespace treeline::calibrate {

std::vector<KernelCase> kernel_cases(const CaseOptions& options, std::size_t probe_bytes) {
    std::vector<KernelCase> all = probe_cases(options, probe_bytes);
    for (const auto& family : {linear_cases, attention_cases, scan_cases, step_scan_cases, mixture_cases, all_reduce_cases,
                               pointwise_cases, sampling_cases, layer_cases, host_cases}) {
        std::vector<KernelCase> cases = family(options);
        all.insert(all.end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
    }
    return all;
}

sim::DraftTree chain_tree(int tokens) {
    std::vector<int> parents;
    for (int parent = 0; parent + 1 < tokens; ++parent) {
        parents.push_back(parent);
    }
    return sim::DraftTree::from_parents(parents);
}

sim::DraftTree binary_tree(int levels) {
    return sim::DraftTree::from_child_counts(std::vector<int>((std::size_t{1} << static_cast<unsigned>(levels - 1)) - 1, 2));
}

void cut_context(kernels::Attention& attention, Workspace& workspace) {
    const kernels::AttentionShape& shape = attention.shape;
    attention.splits = kernels::attention_splits(shape.sequences, shape.kv_heads, attention.capacity);
    attention.scratch =
        static_cast<float*>(workspace.scratch(sizeof(float) * kernels::attention_scratch_floats(shape, attention.splits)));
}

kernels::TreeView tree_on(Workspace& workspace, const kernels::PackedTree& tree) {
    kernels::TreeView view = tree.view();
    view.parent = workspace.integers(tree.parent);
    view.level = workspace.integers(tree.level);
    view.ancestors = workspace.words(tree.mask.bits);
    return view;
}

std::vector<MeasuredFormat> measured_formats(const CaseOptions& options) {
    return options.on_gpu ? std::vector{bf16_format} : std::vector{fp32_format, bf16_format};
}

}  // namespace treeline::calibrate

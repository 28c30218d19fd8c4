// Blocks with a state: what they have in common, and what rollback asks of them. What is a kind's own: mamba2_block.cpp and its
// like.
#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

void Network::convolve(const Convolution& convolution, const Cache& cache, const Pass& pass, kernels::ConstRows input,
                       kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    const bool advances = pass.recurrence == Recurrence::advance && !pass.windows_apart;
    const int sequences = pass.sequences * pass.branches;
    kernels::Rows window = from_row(cache.windows, pass.first_window);
    if (pass.window_from) {
        if (!advances) {
            window.data = buffers_->windows_aside;
        }
        const auto width = static_cast<int>(cache.windows.stride);
        backend.gather_rows({sequences, width, cache.windows, pass.window_from.device(), window, nullptr}, queue);
    }
    kernels::ConvolutionUpdate update;
    update.shape = {sequences, pass.tokens / pass.branches, convolution.channels, convolution.width};
    update.input = input;
    update.weight = convolution.weight;
    update.bias = convolution.bias;
    update.window = window.data;
    const bool is_tree = pass.recurrence == Recurrence::tree || pass.recurrence == Recurrence::keep_tree;
    update.tree = is_tree ? pass.tree : kernels::TreeView{};
    update.output = output;
    update.window_after = advances && !pass.row_of ? window.data : nullptr;
    backend.convolution_update(update, queue);
    if (advances && pass.row_of) {
        backend.convolution_advance({update.shape, input, pass.row_of.device(), window.data}, queue);
    }
    if (pass.windows_apart) {
        backend.convolution_advance({{pass.sequences, pass.advanced_tokens, convolution.channels, convolution.width},
                                     input,
                                     pass.advanced.device(),
                                     cache.windows.data},
                                    queue);
    }
}

template <RecurrentWeights Block>
void Network::scan_pass(const Block& block, const Cache& cache, const Pass& pass, const RecurrentRows& rows) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    const bool elsewhere = pass.output_of_row || pass.recurrence == Recurrence::keep_tree;
    const kernels::Rows outputs = elsewhere ? buffers_->scan_outputs : buffers_->mixed;
    const kernels::States states{cache.states.data, cache.states.type};
    if (pass.recurrence == Recurrence::keep_tree) {
        for (const TreeLevel& level : pass.levels) {
            scan(block, rows,
                 {level.tokens,
                  1,
                  level.row_of.device(),
                  {},
                  states,
                  level.parent_state.device(),
                  from_row(outputs, level.first),
                  kernels::StateWrite::final,
                  level.own_state.device()});
        }
    } else {
        ScanPlan plan;
        plan.sequences = pass.sequences * pass.branches;
        plan.tokens = pass.tokens / pass.branches;
        plan.row_of = pass.row_of.device();
        plan.states = states;
        plan.state_of = pass.initial_state.device();
        plan.written_to = pass.written_state.device();
        plan.y = outputs;
        plan.write = pass.recurrence == Recurrence::advance      ? kernels::StateWrite::final
                     : pass.recurrence == Recurrence::keep_every ? kernels::StateWrite::every
                                                                 : kernels::StateWrite::none;
        plan.tree = pass.scan_tree ? pass.scan_tree : pass.recurrence == Recurrence::tree ? pass.tree : kernels::TreeView{};
        if (pass.scan_row_of) {
            plan.tokens = pass.scan_tokens;
            plan.row_of = pass.scan_row_of.device();
        }
        if (plan.tree && plan.write != kernels::StateWrite::none) {
            // Scans of trees write no state: outputs first (rows behind the end of a path change none before), then states.
            ScanPlan outputs_alone = plan;
            outputs_alone.row_of = nullptr;
            outputs_alone.write = kernels::StateWrite::none;
            scan(block, rows, outputs_alone);
            plan.tree = {};
            plan.y = {};
        }
        scan(block, pass.scan_row_of ? cache.kept : rows, plan);
    }
    if (elsewhere) {
        backend.gather_rows({pass.rows(), block.inner(), outputs, pass.output_of_row.device(), buffers_->mixed, nullptr},
                            queue);
    }
}

template <RecurrentWeights Block>
kernels::Rows Network::run(const Block& block, Cache& cache, const Pass& pass, kernels::Rows output) {
    const int count = pass.rows();
    RecurrentRows rows = buffers_->recurrent;
    if (pass.keep_rows) {
        rows = cache.kept;
        for_each_rows(rows, [&](kernels::Rows& member) { member = from_row(member, sizes_.ring_rows); });
    }
    multiply(block.in, count, buffers_->normed, rows.projection);
    convolve(block.conv, cache, pass, slice(rows.projection, block.conv_column()), rows.convolved);
    select(block, count, rows);
    scan_pass(block, cache, pass, rows);
    finish(block, count, rows, output);
    return output;
}

template kernels::Rows Network::run(const Mamba1Weights& block, Cache& cache, const Pass& pass, kernels::Rows output);
template kernels::Rows Network::run(const GatedDeltaWeights& block, Cache& cache, const Pass& pass, kernels::Rows output);
template kernels::Rows Network::run(const Mamba2Weights& block, Cache& cache, const Pass& pass, kernels::Rows output);

namespace {

/// Calls use(recurrent block, number) for each.
template <class Use>
void for_each_recurrent(const std::vector<BlockWeights>& blocks, Use use) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::visit(
            [&](const auto& kind) {
                if constexpr (RecurrentWeights<std::decay_t<decltype(kind)>>) {
                    use(kind, i);
                }
            },
            blocks[i].kind);
    }
}

}  // namespace

void Network::replay_states(const AcceptedRows& accepted) {
    for_each_recurrent(weights_.blocks, [&](const auto& block, std::size_t i) {
        ScanPlan plan;
        plan.sequences = accepted.sequences;
        plan.tokens = accepted.tokens;
        plan.row_of = accepted.row_of.device();
        plan.states = {caches_[i].states.data, caches_[i].states.type};
        plan.state_of = accepted.initial_state.device();
        plan.write = kernels::StateWrite::final;
        plan.written_to = accepted.written_state.device();
        scan(block, caches_[i].kept, plan);
    });
}

void Network::advance_windows(const AcceptedRows& accepted) {
    for_each_recurrent(weights_.blocks, [&](const auto& block, std::size_t i) {
        memory_.backend().convolution_advance({{accepted.sequences, accepted.tokens, block.conv.channels, block.conv.width},
                                               slice(caches_[i].kept.projection, block.conv_column()),
                                               accepted.row_of.device(),
                                               caches_[i].windows.data},
                                              memory_.queue());
    });
}

}  // namespace treeline::decoder

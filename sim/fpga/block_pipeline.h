// Two units in a pipeline of blocks: the Linear unit fills a block while the SSM unit works on the one before.
#pragma once

#include <string_view>

namespace treeline::fpga {

/// Which unit the other waits for.
enum class PipelineBound { linear, ssm };

constexpr std::string_view name_of(PipelineBound bound) { return bound == PipelineBound::linear ? "linear" : "ssm"; }

/// Registers between the last tile of a block and its first use (products, accumulation).
inline constexpr double linear_latency = 2.0;

struct BlockPipeline {
    double cycles = 0.0;
    double linear_stall = 0.0;  ///< cycles in which the Linear unit has nothing to do or must not go on
    double ssm_stall = 0.0;     ///< cycles in which the SSM unit has no block
    PipelineBound bound = PipelineBound::linear;
};

/// `blocks` blocks that take the Linear unit `linear_block` and the SSM unit `ssm_block` cycles each:
///   blocks · linear_block + ssm_block + latencies   where the Linear unit is the slower one,
///   linear_block + blocks · ssm_block + latencies   otherwise.
/// `ssm_latency` is δ, the depth of the SSM pipeline.
inline BlockPipeline block_pipeline(double blocks, double linear_block, double ssm_block, double ssm_latency) {
    BlockPipeline pipeline;
    const bool linear_slower = linear_block >= ssm_block;
    pipeline.bound = linear_slower ? PipelineBound::linear : PipelineBound::ssm;
    const double slower = linear_slower ? linear_block : ssm_block;
    const double faster = linear_slower ? ssm_block : linear_block;
    pipeline.cycles = blocks * slower + faster + linear_latency + ssm_latency;
    pipeline.linear_stall = pipeline.cycles - blocks * linear_block;
    pipeline.ssm_stall = pipeline.cycles - blocks * ssm_block;
    return pipeline;
}

}  // namespace treeline::fpga

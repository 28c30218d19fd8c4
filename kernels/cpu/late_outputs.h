// Heads whose states have been multiplied and whose outputs are completed together. States then stream from memory without a
// pause for every head, and pieces of x and y that are neighbours in memory are read and written one soon after the other.
#pragma once

#include <vector>

#include "kernels/cpu/head_tokens.h"
#include "kernels/cpu/path_outputs.h"

namespace treeline::kernels::cpu {

/// Of one thread; heads of one sequence and group at a time.
class LateOutputs {
public:
    LateOutputs(const ScanShape& shape, HeadTokens& tokens, PathOutputs& outputs);

    /// To be called before tokens.move_to(): completes the heads that wait, if there is no room for this one beside them.
    void make_room_for(int sequence, int head);
    /// Where the products <C, state row> of the head at hand belong, head_dim a token.
    [[nodiscard]] float* products() const;
    /// They are there.
    void add(int sequence, int head);
    void complete();

private:
    const ScanShape& shape_;
    HeadTokens& tokens_;
    PathOutputs& outputs_;
    std::size_t most_;
    Buffer products_;
    int sequence_ = -1;
    std::vector<int> heads_;
    std::vector<float*> rows_of_y_;
};

}  // namespace treeline::kernels::cpu

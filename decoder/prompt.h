// Reading a prompt before the first round.
#pragma once

#include "decoder/network.h"
#include "decoder/round.h"

namespace treeline::decoder {

/// Reads all of the prompts but their last token, which is the first round's root, in passes of a few tokens per sequence.
class PromptReader {
public:
    /// Tokens of a sequence in one pass: enough to use the weights well, few enough to fit the buffers of small models.
    static constexpr int chunk = 32;

    PromptReader(const Batch& batch, IndexTable& table);
    /// Rows of the largest pass for prompts of this length.
    static int most_rows(const Batch& batch, int prompt_tokens);
    /// Leaves recurrent states in these slots.
    void read(Network& network, const std::vector<Text>& texts, Indices state_slots);

private:
    Batch batch_;
    IndexTable& table_;
    Indices ids_, positions_, cache_rows_, context_;
};

}  // namespace treeline::decoder

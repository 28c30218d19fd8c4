#include "decoder/prompt.h"

#include <algorithm>

namespace treeline::decoder {

PromptReader::PromptReader(const Batch& batch, IndexTable& table) : batch_(batch), table_(table) {
    const std::size_t rows = static_cast<std::size_t>(batch.sequences) * chunk;
    ids_ = table.add(rows);
    positions_ = table.add(rows);
    cache_rows_ = table.add(rows);
    context_ = table.add(static_cast<std::size_t>(batch.sequences));
}

int PromptReader::most_rows(const Batch& batch, int prompt_tokens) {
    return batch.sequences * std::max(1, std::min(chunk, prompt_tokens - 1));
}

void PromptReader::read(Network& network, const std::vector<Text>& texts, Indices state_slots) {
    const int length = static_cast<int>(texts.front().tokens.size()) - 1;
    for (int begin = 0; begin < length; begin += chunk) {
        const int tokens = std::min(chunk, length - begin);
        for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
            const Text& text = texts[static_cast<std::size_t>(sequence)];
            context_.host()[static_cast<std::size_t>(sequence)] = text.offset + begin;
            for (int i = 0; i < tokens; ++i) {
                const auto row = static_cast<std::size_t>(sequence * tokens + i);
                const int position = text.offset + begin + i;
                ids_.host()[row] = text.tokens[static_cast<std::size_t>(begin + i)];
                positions_.host()[row] = position;
                cache_rows_.host()[row] = sequence * batch_.positions + position;
            }
        }
        table_.upload();
        Pass pass;
        pass.sequences = batch_.sequences;
        pass.tokens = tokens;
        pass.ids = ids_.device();
        pass.positions = positions_;
        pass.cache_rows = cache_rows_;
        pass.context = context_;
        pass.initial_state = state_slots;
        pass.written_state = state_slots;
        network.forward(pass);
        network.wait();  // the indices are written again
    }
}

}  // namespace treeline::decoder

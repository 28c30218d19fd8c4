#include <algorithm>
#include <vector>

#include "kernels/reference/element_access.h"
#include "kernels/reference/kernels.h"
#include "kernels/reference/silu.h"

namespace treeline::kernels::reference {

void convolution_update(const ConvolutionUpdate& update, Queue /*queue*/) {
    check(update);
    const ConvolutionShape& shape = update.shape;
    const int kept = shape.width - 1;
    for (std::int64_t sequence = 0; sequence < shape.sequences; ++sequence) {
        for (int channel = 0; channel < shape.channels; ++channel) {
            const auto old_input = [&](int place) {
                return load(update.window, update.input.type, (sequence * kept + place) * shape.channels + channel);
            };
            for (int token = 0; token < shape.tokens; ++token) {
                double sum = update.bias != nullptr ? update.bias[channel] : 0.0;
                int at = token;  // walks up to the root, then back through the window
                int window_place = kept - 1;
                for (int k = shape.width - 1; k >= 0; --k) {
                    double input = 0.0;
                    if (at >= 0) {
                        input = load(update.input, sequence * shape.tokens + at, channel);
                        at = update.tree ? update.tree.parent[at] : at - 1;
                    } else {
                        input = old_input(window_place--);
                    }
                    sum += update.weight[std::int64_t{k} * shape.channels + channel] * input;
                }
                store(update.output, sequence * shape.tokens + token, channel, silu(sum));
            }
            if (update.window_after != nullptr) {
                std::vector<double> inputs;
                for (int place = 0; place < kept; ++place) {
                    inputs.push_back(old_input(place));
                }
                for (int token = 0; token < shape.tokens; ++token) {
                    inputs.push_back(load(update.input, sequence * shape.tokens + token, channel));
                }
                for (int place = 0; place < kept; ++place) {
                    store(update.window_after, update.input.type, (sequence * kept + place) * shape.channels + channel,
                          inputs[std::size_t(shape.tokens + place)]);
                }
            }
        }
    }
}

void convolution_advance(const ConvolutionAdvance& advance, Queue /*queue*/) {
    check(advance);
    const ConvolutionShape& shape = advance.shape;
    const int kept = shape.width - 1;
    for (std::int64_t sequence = 0; sequence < shape.sequences; ++sequence) {
        for (int channel = 0; channel < shape.channels; ++channel) {
            const auto at = [&](int place) { return (sequence * kept + place) * shape.channels + channel; };
            std::vector<double> inputs;
            for (int place = 0; place < kept; ++place) {
                inputs.push_back(load(advance.window, advance.input.type, at(place)));
            }
            for (int step = 0; step < shape.tokens; ++step) {
                const int row = advance.row_of[sequence * shape.tokens + step];
                if (row < 0) {
                    break;
                }
                inputs.push_back(load(advance.input, row, channel));
            }
            for (int place = 0; place < kept; ++place) {
                store(advance.window, advance.input.type, at(place), inputs[inputs.size() - std::size_t(kept - place)]);
            }
        }
    }
}

}  // namespace treeline::kernels::reference
